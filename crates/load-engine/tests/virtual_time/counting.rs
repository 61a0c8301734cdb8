//! What is counted, where, and how many.

use crate::{MS, books, one, server};
use load_core::{Load, Op, Outcome, Schedule, VirtualTime, workload};
use load_engine::Plan;
use std::time::Duration;

#[test]
fn counts_are_exact_for_any_rate_and_split() {
    for (rate, seconds, sessions, workers, expected) in [
        (0.5, 10, 1, 1, 5),
        (2.5, 8, 4, 2, 20),
        (10.0, 5, 64, 64, 50),
        (10.0, 5, 10, 10, 50),
        (78.0 * 50.0, 5, 50, 50, 19_500),
        (30.0, 30, 7, 3, 900),
    ] {
        let time = VirtualTime::new();
        let load = Load::open(Schedule::constant(rate).unwrap()).sessions(sessions).workers(workers);
        let record = Plan::new()
            .stream("s", server(&time, Duration::from_micros(100), 0..0), load)
            .measure(Duration::from_secs(seconds))
            .virtual_time(time)
            .run()
            .unwrap();
        let s = one(&record);
        assert_eq!(s.accounting, books(expected, expected, 0, 0, 0), "{rate}/s over {workers} workers");
        assert_eq!(s.elapsed_ns, seconds * 1_000 * MS);
        assert!((s.succeeded_per_s - expected as f64 / seconds as f64).abs() < 1e-9);
        assert_eq!(s.wait.as_ref().unwrap().max_ns, 0, "evenly spaced, no backlog");
    }
}

#[test]
fn closed_loop_by_count_is_exact() {
    for (count, sessions, workers) in [(401, 400, 1), (1, 200, 3), (10, 3, 2), (1000, 7, 7)] {
        let time = VirtualTime::new();
        let record = Plan::new()
            .stream(
                "s",
                server(&time, Duration::from_millis(10), 0..0),
                Load::closed(sessions).workers(workers),
            )
            .measure_count(count)
            .virtual_time(time)
            .run()
            .unwrap();
        assert_eq!(one(&record).accounting, books(count, count, 0, 0, 0), "{count} over {sessions}");
        assert!(one(&record).elapsed_ns >= 10 * MS);
    }
}

#[test]
fn open_loop_by_count_is_exact_and_spares_the_rest_of_the_time() {
    let time = VirtualTime::new();
    let record = Plan::new()
        .stream(
            "s",
            server(&time, Duration::from_millis(1), 0..0),
            Load::open(Schedule::constant(10.0).unwrap()).sessions(3),
        )
        .measure_count(201)
        .virtual_time(time)
        .run()
        .unwrap();
    let s = one(&record);
    assert_eq!(s.accounting, books(201, 201, 0, 0, 0));
    assert_eq!(s.elapsed_ns, 20_001 * MS, "from the first start to the last end");
}

#[test]
fn the_warm_up_is_counted_apart_and_nothing_is_lost_between() {
    let time = VirtualTime::new();
    let record = Plan::new()
        .stream(
            "s",
            server(&time, Duration::from_millis(300), 0..0),
            Load::open(Schedule::constant(10.0).unwrap()).sessions(10),
        )
        .warmup(Duration::from_secs(2))
        .measure(Duration::from_secs(3))
        .virtual_time(time)
        .run()
        .unwrap();
    let s = one(&record);
    assert_eq!(s.accounting, books(30, 30, 0, 0, 0));
    assert_eq!(s.warmup.accounting, books(20, 20, 0, 0, 0));
    assert_eq!(s.carried_in, 3, "those of the last 300 ms");
    // Three of the phase's own ended in the drain; three windows and the drain's hold all of them.
    let windows: Vec<_> = s.windows.iter().map(|w| (w.drain, w.succeeded)).collect();
    assert_eq!(windows, [(false, 7), (false, 10), (false, 10), (true, 3)]);
    assert_eq!(s.succeeded_per_s, 9.0, "ended within the phase, over the phase");
    assert_eq!(s.drain_ns, 200 * MS);
}

#[test]
fn a_server_that_never_answers_is_censored_at_the_drain_limit_and_carried_in() {
    let time = VirtualTime::new();
    let record = Plan::new()
        .stream("s", workload(async |_op: &mut Op| std::future::pending::<Outcome>().await), Load::closed(20))
        .warmup(Duration::from_secs(1))
        .measure(Duration::from_secs(2))
        .drain(Duration::from_secs(3))
        .virtual_time(time.clone())
        .run()
        .unwrap();
    let s = one(&record);
    assert_eq!((s.accounting.scheduled, s.carried_in, s.warmup.accounting.unfinished), (0, 20, 20));
    assert_eq!(record.verdict.status, load_core::Status::Rejected, "an empty phase is no measurement");
    let record = Plan::new()
        .stream("s", workload(async |_op: &mut Op| std::future::pending::<Outcome>().await), Load::closed(20))
        .measure(Duration::from_secs(2))
        .drain(Duration::from_secs(3))
        .virtual_time(time)
        .run()
        .unwrap();
    let s = one(&record);
    let mut expected = books(20, 0, 0, 0, 20);
    expected.started = 20;
    assert_eq!(s.accounting, expected);
    assert_eq!(s.censored.as_ref().unwrap().min_ns, 5_000 * MS);
    assert_eq!((s.response.as_ref(), s.drain_ns), (None, 3_000 * MS));
}

#[test]
fn two_streams_share_one_clock_and_are_never_merged() {
    let time = VirtualTime::new();
    let record = Plan::new()
        .stream(
            "poll",
            server(&time, Duration::from_millis(2), 0..0),
            Load::open(Schedule::constant(1.0).unwrap()).sessions(1),
        )
        .stream(
            "main",
            server(&time, Duration::from_micros(500), 0..0),
            Load::open(Schedule::constant(10_000.0).unwrap()).sessions(50),
        )
        .measure(Duration::from_secs(6))
        .virtual_time(time)
        .run()
        .unwrap();
    let scheduled: Vec<_> =
        record.streams.iter().map(|s| (s.name.as_str(), s.accounting.scheduled)).collect();
    assert_eq!(scheduled, [("poll", 6), ("main", 60_000)]);
    assert_eq!(record.streams[0].response.as_ref().unwrap().max_ns, 2 * MS);
    assert_eq!(record.streams[0].verdict.status, load_core::Status::Suspect, "n = 6");
}
