//! Known answers over a real socket.

use openloop::{prelude::*, testbed::Known};
use openloop_tests::{check, full};
use std::time::Duration;

fn run(plan: Plan) -> Record {
    let record = plan.run().expect("it runs");
    check(&record);
    record
}

#[test]
fn alone_coordinated_omission_a_stalled_server_shows_in_every_response() {
    // 10/s for 5 s on one session, 1 ms each, a stall from 0.95 s to 2.45 s: the arrival at 1 s is the first in it. Few
    // operations wait behind it, so that what each takes beyond its millisecond on a busy machine does not add up.
    let stall = Duration::from_millis(950)..Duration::from_millis(2450);
    let server = Known::http().delay(Duration::from_millis(1)).stall(stall).start().unwrap();
    let load = Load::open(Schedule::constant(10.0).unwrap()).sessions(1);
    let record =
        run(Plan::new().stream("s", Http::get(&server.url()).unwrap(), load).measure(Duration::from_secs(5)));
    let s = &record.streams[0];
    assert_eq!((s.accounting.scheduled, s.accounting.succeeded), (50, 50));
    let service = s.service.as_ref().unwrap();
    // The k-th arrival after the stall began waited 100 k ms less, and 1 ms for each before it.
    let behind = |k: f64| (1451.0 - 99.0 * k).max(1.0);
    let mut analytic: Vec<f64> =
        (0..50).map(|i| if i < 10 { 1.0 } else { behind(f64::from(i - 10)) }).collect();
    // The same as the server saw it, on its own clock: when each request came, when it was answered, when it was due.
    let seen = server.arrivals();
    let ms = |i: usize| seen[i].duration_since(seen[0]).as_secs_f64() * 1e3;
    let answered = |i: usize| if (950.0..2450.0).contains(&ms(i)) { 2451.0 } else { ms(i) + 1.0 };
    let mut by_server: Vec<f64> = (0..50).map(|i| answered(i) - 100.0 * i as f64).collect();
    analytic.sort_by(f64::total_cmp);
    by_server.sort_by(f64::total_cmp);
    let response = s.response.as_ref().unwrap().histogram().unwrap();
    for decile in 1..=10usize {
        let got = response.quantile(decile as f64 / 10.0).unwrap() as f64 / 1e6;
        let (right, served) = (analytic[decile * 5 - 1], by_server[decile * 5 - 1]);
        assert!((got - served).abs() < 10.0, "decile {decile}: {got} ms, {served} by the server's clock");
        // What a busy machine adds is the server's to see too, so that this bound is 10 ms on an idle one.
        let slack = 10.0 + (served - right).abs();
        assert!((got - right).abs() < slack, "decile {decile}: {got} ms, {right} expected");
        assert!(
            slack < 100.0,
            "decile {decile}: the machine is too busy to tell: {served} instead of {right} ms"
        );
    }
    assert!(service.max_ns > 900_000_000 && service.p95_ns < 100_000_000, "one slow operation: {service:?}");
}

#[test]
fn a_server_slower_than_the_offer_is_a_finding_and_named() {
    // 190 ms each, at most 2 in flight: some 10/s; offered 20/s.
    let server = Known::http().delay(Duration::from_millis(190)).start().unwrap();
    let offer = |overload| Load::open(Schedule::constant(20.0).unwrap()).sessions(2).overload(overload);
    for overload in [
        Overload::Drop,
        Overload::queue(1000),
        Overload::skip_late(Duration::from_millis(500)),
        Overload::expand(3),
    ] {
        let text = overload.describe();
        let load = offer(overload);
        let record = run(Plan::new()
            .stream("s", Http::get(&server.url()).unwrap(), load)
            .measure(Duration::from_secs(3)));
        let s = &record.streams[0];
        assert_eq!(s.accounting.scheduled, 60, "{text}");
        let capacity = if text.starts_with("expand") { 45 } else { 30 };
        assert!((capacity - 5..=capacity + 3).contains(&s.accounting.started), "{text}: {:?}", s.accounting);
        let finding = &s.verdict.findings[0];
        assert!(finding.contains("rate not reached") && finding.contains("of 60"), "{text}: {finding}");
        let report = report::text(&record);
        assert!(report.contains("rate not reached"), "{report}");
    }
}

#[test]
fn fractional_and_absurd_rates_give_right_counts_or_a_plain_shortfall() {
    let server = Known::http().start().unwrap();
    let page = || Http::get(&server.url()).unwrap();
    let scale = if full() { 1 } else { 4 };
    for (rate, sessions, workers, seconds, count) in
        [(0.5, 1, 1, 10, 5), (2.5, 1, 1, 8, 20), (10.0, 64, 64, 4, 40), (10.0, 10, 10, 4, 40)]
    {
        // Faster by `scale`, so that the same counts take less time.
        let load = Load::open(Schedule::constant(rate * f64::from(scale)).unwrap())
            .sessions(sessions)
            .workers(workers);
        let duration = Duration::from_secs(seconds) / scale;
        let record = run(Plan::new().stream("s", page(), load).measure(duration));
        let s = &record.streams[0];
        assert_eq!((s.accounting.scheduled, s.accounting.succeeded), (count, count), "{rate}/s");
        assert_eq!(s.elapsed_ns, duration.as_nanos() as u64);
    }
    let seconds = if full() { 5 } else { 1 };
    let load = Load::open(Schedule::constant(10_000_000.0).unwrap()).sessions(100);
    let started = std::time::Instant::now();
    let record = run(Plan::new().stream("s", page(), load).measure(Duration::from_secs(seconds)));
    let s = &record.streams[0];
    assert_eq!(s.accounting.scheduled, 10_000_000 * seconds);
    assert_eq!(s.elapsed_ns, seconds * 1_000_000_000);
    assert!(
        (s.succeeded_per_s
            - s.windows.iter().filter(|w| !w.drain).map(|w| w.succeeded).sum::<u64>() as f64
                / seconds as f64)
            .abs()
            < 1.0
    );
    assert!(s.verdict.findings[0].contains("rate not reached"), "{:?}", s.verdict);
    assert!(started.elapsed() < Duration::from_secs(60), "it ends");
}

#[test]
fn a_rate_per_worker_has_no_cliff() {
    let server = Known::http().start().unwrap();
    let steps: &[u32] = if full() {
        &[60, 63, 66, 69, 72, 75, 78, 81, 84, 87, 90, 93, 96, 99, 102, 105, 108, 111, 114, 117, 120]
    } else {
        &[70, 78, 90]
    };
    for per_worker in steps {
        let load =
            Load::open(Schedule::constant(f64::from(per_worker * 50)).unwrap()).sessions(50).workers(50);
        let record = run(Plan::new()
            .stream("s", Http::get(&server.url()).unwrap(), load)
            .measure(Duration::from_secs(1)));
        assert_eq!(record.streams[0].accounting.scheduled, u64::from(per_worker * 50));
    }
}

#[test]
fn waiting_for_the_pace_is_not_latency() {
    // 100 connections, 10/s, 1 ms each: no backlog, so both views are small.
    let server = Known::http().delay(Duration::from_millis(1)).start().unwrap();
    let load = Load::open(Schedule::constant(40.0).unwrap()).sessions(100);
    let record = run(Plan::new().stream("s", Http::get(&server.url()).unwrap(), load).measure_count(100));
    let s = &record.streams[0];
    assert_eq!(s.accounting.succeeded, 100);
    assert!(s.response.as_ref().unwrap().p50_ns < 100_000_000, "{:?}", s.response);
    assert!((2_400..3_000).contains(&(s.elapsed_ns / 1_000_000)), "{} ms", s.elapsed_ns / 1_000_000);
}

#[test]
fn counts_are_exact_at_the_server() {
    let server = Known::http().start().unwrap();
    for (count, sessions) in [(401, 400), (1, 200), (10, 3)] {
        server.forget();
        let plan = Plan::new()
            .stream("s", Http::get(&server.url()).unwrap(), Load::closed(sessions))
            .measure_count(count);
        let record = run(plan);
        assert_eq!(record.streams[0].accounting.succeeded, count);
        assert_eq!(server.stats().requests, count, "{count} over {sessions}");
    }
}
