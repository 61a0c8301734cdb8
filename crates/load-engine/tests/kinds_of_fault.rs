//! Kinds of fault that load generators have had, without a server: each test is named for what went wrong.

use load_core::{
    Failure, Load, Op, Outcome, Overload, Record, Schedule, Status, VirtualTime, record::StreamRecord,
    workload,
};
use load_engine::Plan;
use rand::RngExt;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;

/// The stream of a record that has one, its books checked.
fn one(record: &Record) -> &StreamRecord {
    assert_eq!(record.streams.len(), 1);
    let stream = &record.streams[0];
    assert!(stream.accounting.balances(), "{:?}", stream.accounting);
    stream
}

/// Runs one stream in virtual time.
fn run(
    load: Load,
    seconds: u64,
    call: impl AsyncFnMut(&mut Op) -> Outcome + Clone + Send + Sync + 'static,
    time: VirtualTime,
) -> Record {
    let plan = Plan::new().stream("s", workload(call), load).measure(Duration::from_secs(seconds));
    plan.virtual_time(time).run().unwrap()
}

fn constant(rate: f64) -> Schedule {
    Schedule::constant(rate).unwrap()
}

/// Many sessions and a rate below one a tick for each: when operations start, and not only how many.
#[test]
fn bursts_that_the_mean_hides() {
    for (rate, sessions, workers, seconds) in
        [(100.0, 200, 1, 20), (100.0, 200, 8, 20), (10.0, 64, 64, 5), (0.5, 1, 1, 10), (2.5, 1, 1, 8)]
    {
        let (time, starts) = (VirtualTime::new(), Arc::new(Mutex::new(Vec::new())));
        let (clock, own) = (time.clone(), starts.clone());
        let load = Load::open(constant(rate)).sessions(sessions).workers(workers);
        let call = async move |_: &mut Op| {
            own.lock().unwrap().push(clock.now());
            clock.sleep(Duration::from_millis(1)).await;
            Ok(())
        };
        let record = run(load, seconds, call, time);
        let spacing = (1e9 / rate) as u64;
        let expected: Vec<u64> = (0..(rate * seconds as f64) as u64).map(|n| n * spacing).collect();
        assert_eq!(*starts.lock().unwrap(), expected, "{rate}/s over {sessions} sessions");
        assert_eq!(one(&record).accounting.succeeded, expected.len() as u64);
    }
}

#[test]
fn a_period_that_drifts_with_the_work() {
    // Ten seconds' worth of work at random in a hundred: the n-th is due at n / rate all the same.
    let (time, starts) = (VirtualTime::new(), Arc::new(Mutex::new(Vec::new())));
    let (clock, own) = (time.clone(), starts.clone());
    let call = async move |op: &mut Op| {
        own.lock().unwrap().push((op.seq(), clock.now()));
        let work = op.rng().random_range(0..10 * MS);
        clock.sleep(Duration::from_nanos(work)).await;
        Ok(())
    };
    let record = run(Load::open(constant(100.0)).sessions(1), 100, call, time);
    let s = one(&record);
    assert_eq!(s.accounting.succeeded, 10_000);
    let starts = starts.lock().unwrap();
    assert!(starts.iter().enumerate().all(|(n, s)| *s == (n as u64, n as u64 * 10 * MS)));
    assert_eq!((s.wait.as_ref().unwrap().max_ns, s.lateness.as_ref().unwrap().max_ns), (0, 0));
}

#[test]
fn a_rare_slow_answer_smeared_over_those_it_did_not_block() {
    // An open loop with sessions to spare: nothing is blocked, so nothing is to be corrected.
    let time = VirtualTime::new();
    let clock = time.clone();
    let call = async move |op: &mut Op| {
        let service = if op.seq() % 10_000 == 5_000 { SECOND } else { MS };
        clock.sleep(Duration::from_nanos(service)).await;
        Ok(())
    };
    let record = run(Load::open(constant(1000.0)).sessions(64), 60, call, time);
    let s = one(&record);
    let response = s.response.as_ref().unwrap();
    assert_eq!((response.count, response.max_ns, response.min_ns), (60_000, SECOND, MS));
    assert_eq!(response.histogram().unwrap().hdr().count_between(2 * MS, u64::MAX), 6);
    assert!(response.p999_ns <= MS + MS / 1000, "{}", response.p999_ns);
    assert_eq!(s.wait.as_ref().unwrap().max_ns, 0);
    assert_eq!(s.verdict.status, Status::Valid, "{:?}", s.verdict);
}

#[test]
fn a_burst_after_a_stall_that_pushes_the_server_over() {
    // 1,000/s for 30 s; from 10 s to 15 s nothing is answered.
    let starts_by_second = |overload: Overload| {
        let (time, starts) = (VirtualTime::new(), Arc::new([const { AtomicU64::new(0) }; 31]));
        let (clock, own) = (time.clone(), starts.clone());
        let load = Load::open(constant(1000.0)).sessions(50).overload(overload);
        let call = async move |_: &mut Op| {
            let now = clock.now();
            own[(now / SECOND) as usize].fetch_add(1, Relaxed);
            let stalled = (10 * SECOND..15 * SECOND).contains(&now);
            clock.sleep_until(if stalled { 15 * SECOND } else { now + MS }).await;
            Ok(())
        };
        let record = run(load, 30, call, time);
        assert_eq!(one(&record).accounting.scheduled, 30_000);
        (record, starts.iter().map(|n| n.load(Relaxed)).collect::<Vec<_>>())
    };
    // What came in the stall is missed, but for those that were waiting for their answer.
    let missed = |record: &Record| one(record).accounting.dropped + one(record).accounting.skipped;
    let (record, starts) = starts_by_second(Overload::Drop);
    assert!(starts.iter().all(|n| *n <= 1_001), "{starts:?}");
    assert!((4_940..=4_960).contains(&missed(&record)), "{:?}", one(&record).accounting);
    assert_eq!(one(&record).load.overload.as_deref(), Some("drop"));
    let (record, starts) = starts_by_second(Overload::skip_late(Duration::from_millis(5)));
    assert!(starts.iter().all(|n| *n <= 1_010), "{starts:?}");
    assert!((4_930..=4_960).contains(&missed(&record)), "{:?}", one(&record).accounting);
    assert_eq!(one(&record).load.overload.as_deref(), Some("skip when 5ms late"));
    // Capped at half as much again: nothing is missed, and no second has more than 1,500.
    let (record, starts) = starts_by_second(Overload::queue_capped(100_000, 1.5));
    assert!(starts.iter().all(|n| *n <= 1_510) && starts[20] > 1_450, "{starts:?}");
    assert_eq!((one(&record).accounting.succeeded, missed(&record)), (30_000, 0));
    assert!(one(&record).load.overload.as_ref().unwrap().contains("catch up at 1.5x"));
    // Without a cap it does catch up at once, and the record says which it was.
    let (record, starts) = starts_by_second(Overload::queue(100_000));
    assert!(starts[15] > 5_500, "{starts:?}");
    assert_eq!(one(&record).load.overload.as_deref(), Some("queue(100000)"));
}

#[test]
fn stop_time_in_the_denominator() {
    for rate in [5.0, 20.0] {
        let time = VirtualTime::new();
        let clock = time.clone();
        let call = async move |_: &mut Op| {
            clock.sleep(Duration::from_secs(1)).await;
            Ok(())
        };
        let record = run(Load::open(constant(rate)), 60, call, time);
        let s = one(&record);
        assert_eq!(s.accounting.succeeded, (rate * 60.0) as u64);
        assert_eq!((s.offered_per_s, s.elapsed_ns), (rate, 60 * SECOND), "neither truncated nor diluted");
        // The last one starts one period before the end; it is waited for, and that is no part of the phase.
        assert_eq!(s.drain_ns, SECOND - (1e9 / rate) as u64);
        assert_eq!(s.succeeded_per_s, rate * 59.0 / 60.0, "what ended within the phase, over the phase");
        let drained: u64 = s.windows.iter().filter(|w| w.drain).map(|w| w.succeeded).sum();
        assert!(drained.abs_diff(rate as u64) <= 1, "{drained} in the drain");
    }
}

#[test]
fn rate_time_and_concurrency_that_contradict_each_other() {
    for sessions in [1, 8] {
        let time = VirtualTime::new();
        let clock = time.clone();
        let call = async move |op: &mut Op| {
            let work = op.rng().random_range(MS..9 * MS);
            clock.sleep(Duration::from_nanos(work)).await;
            Ok(())
        };
        let record = run(Load::closed(sessions), 5, call, time);
        let s = one(&record);
        let busy = s.succeeded_per_s * s.service.as_ref().unwrap().mean_ns / 1e9 / sessions as f64;
        assert!((0.99..=1.001).contains(&busy), "{busy}");
        assert!(s.verdict.evidence["little"].number().unwrap() < 0.01);
    }
}

#[test]
fn alone_a_timer_that_is_too_coarse() {
    // One dispatcher, more starts than milliseconds.
    for rate in [3000.0, 7500.0] {
        let starts = Arc::new(Mutex::new(Vec::with_capacity(16_384)));
        let (own, origin) = (starts.clone(), Instant::now());
        let call = async move |_: &mut Op| {
            own.lock().unwrap().push(origin.elapsed().as_nanos() as u64);
            Ok::<_, Failure>(())
        };
        let record = Plan::new()
            .stream("s", workload(call), Load::open(constant(rate)).sessions(16))
            .measure(Duration::from_secs(1))
            .run()
            .unwrap();
        let s = one(&record);
        assert_eq!(s.accounting.scheduled, rate as u64);
        // On an idle machine within 0.5 %: what was late at the very end has not started.
        assert!((0.97..=1.005).contains(&(s.succeeded_per_s / rate)), "{}", s.succeeded_per_s);
        let late = s.lateness.as_ref().unwrap();
        assert!(late.p50_ns < 400_000, "late at the median: {late:?}");
        // Of a timer with ticks of a millisecond most starts would have none between them.
        let starts = starts.lock().unwrap();
        let mut gaps: Vec<u64> = starts.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        gaps.sort_unstable();
        let (median, period) = (gaps[gaps.len() / 2] as f64, 1e9 / rate);
        assert!((0.5..1.5).contains(&(median / period)), "{median} ns between starts, {period} asked");
        // No growing offset: the last starts are no later than the first.
        let offset = |n: usize| (starts[n] as f64 - n as f64 * period) / 1e6;
        let middle = |part: std::ops::Range<usize>| {
            let mut all: Vec<f64> = part.map(offset).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let n = starts.len();
        let drift = middle(n - n / 5..n) - middle(0..n / 5);
        assert!(drift.abs() < 5.0, "{drift} ms later at the end");
    }
}
