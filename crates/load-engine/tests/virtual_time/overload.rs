//! What becomes of arrivals that find no session free.

use crate::{MS, books, one, server};
use load_core::{
    ArrivalProcess, ArrivalStream, Load, Op, Outcome, Overload, Schedule, VirtualTime, workload,
};
use load_engine::Plan;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

#[test]
fn every_overload_policy_keeps_its_limit_and_its_books() {
    // Capacity 5/s (one session of 200 ms), offered 10/s for 10 s: 100 arrivals. (A session that comes free at the very
    // instant of an arrival may be seen or not; 199 ms is no such tie.)
    let run = |overload: Overload, sessions: usize| {
        let service = Duration::from_millis(if overload == Overload::Drop { 199 } else { 200 });
        let time = VirtualTime::new();
        let load = Load::open(Schedule::constant(10.0).unwrap()).sessions(sessions).overload(overload);
        Plan::new()
            .stream("s", server(&time, service, 0..0), load)
            .measure(Duration::from_secs(10))
            .virtual_time(time)
            .run()
            .unwrap()
    };
    let dropped = run(Overload::Drop, 1);
    assert_eq!(one(&dropped).accounting, books(100, 50, 50, 0, 0));
    // Queue without a limit: 50 start within the phase, the rest wait when it ends.
    let queued = run(Overload::queue(1000), 1);
    assert_eq!(one(&queued).accounting, books(100, 50, 0, 0, 50));
    assert_eq!(one(&queued).censored.as_ref().unwrap().count, 50);
    // A queue of 10: one in service and ten waiting; then every second arrival is dropped.
    let limited = run(Overload::queue(10), 1);
    let a = one(&limited).accounting;
    assert_eq!((a.succeeded, a.unfinished), (50, 10));
    assert_eq!(a.dropped, 40);
    assert!(one(&limited).wait.as_ref().unwrap().max_ns <= 11 * 200 * MS);
    // Skipped when more than 300 ms late.
    let skipped = run(Overload::skip_late(Duration::from_millis(300)), 1);
    let a = one(&skipped).accounting;
    assert!(a.skipped > 40 && a.succeeded >= 49, "{a:?}");
    assert!(one(&skipped).wait.as_ref().unwrap().max_ns <= 300 * MS);
    // Two sessions are enough, and two are what Expand opens.
    let expanded = run(Overload::expand(4), 1);
    assert_eq!(one(&expanded).accounting.succeeded, 100);
    assert!((2..=4).contains(&one(&expanded).connects.ok));
    let aborted = run(Overload::Abort, 1);
    assert!(aborted.interrupted);
    let a = one(&aborted).accounting;
    assert!(a.dropped >= 1 && a.balances());
    for record in [&dropped, &queued, &limited, &skipped] {
        let finding = &record.verdict.findings[0];
        assert!(
            finding.contains("of 100 operations") && finding.contains("1 sessions were the limit"),
            "{finding}"
        );
    }
}

#[test]
fn a_capped_catch_up_is_kept() {
    let time = VirtualTime::new();
    // 1000/s, the server stalls for 5 s of 15; no second may have more than 1500 starts.
    let load = Load::open(Schedule::constant(1000.0).unwrap())
        .sessions(50)
        .overload(Overload::queue_capped(100_000, 1.5));
    let starts: Arc<[AtomicU64; 30]> = Arc::default();
    let (own, clock, second) = (starts.clone(), time.clone(), 1_000 * MS);
    let counted = workload(async move |_op: &mut Op| {
        let now = clock.now();
        own[(now / second) as usize].fetch_add(1, Relaxed);
        let end = if (2 * second..7 * second).contains(&now) { 7 * second } else { now + MS };
        clock.sleep_until(end).await;
        Ok(())
    });
    let record = Plan::new()
        .stream("s", counted, load)
        .measure(Duration::from_secs(20))
        .virtual_time(time)
        .run()
        .unwrap();
    let s = one(&record);
    let per_second: Vec<_> = starts.iter().map(|n| n.load(Relaxed)).collect();
    assert!(per_second.iter().all(|n| *n <= 1510), "{per_second:?}");
    assert!(per_second[8] >= 1450, "it does catch up: {per_second:?}");
    assert_eq!(s.accounting.succeeded, 20_000);
    assert!(s.load.overload.as_ref().unwrap().contains("1.5"));
}

/// Starts in each second of a stream that is offered 1000/s for 5 s and answered nothing from 2 s to 7 s, when nothing is
/// scheduled any more.
fn starts_after_the_schedule(schedule: Schedule) -> Vec<u64> {
    let time = VirtualTime::new();
    let load = Load::open(schedule).sessions(50).overload(Overload::queue_capped(100_000, 1.5));
    let starts: Arc<[AtomicU64; 30]> = Arc::default();
    let (own, clock, second) = (starts.clone(), time.clone(), 1_000 * MS);
    let counted = workload(async move |_op: &mut Op| {
        let now = clock.now();
        own[(now / second) as usize].fetch_add(1, Relaxed);
        let end = if (2 * second..7 * second).contains(&now) { 7 * second } else { now + MS };
        clock.sleep_until(end).await;
        Ok(())
    });
    let plan = Plan::new().stream("s", counted, load).measure(Duration::from_secs(20));
    let record = plan.virtual_time(time).run().unwrap();
    assert_eq!(one(&record).accounting.succeeded, 5_000);
    starts.iter().map(|n| n.load(Relaxed)).collect()
}

/// Arrivals of a process that does not say what its rate is.
struct Unrated;

impl ArrivalProcess for Unrated {
    fn start(&self, _: u64) -> Box<dyn ArrivalStream> {
        struct Stream(u64);
        impl ArrivalStream for Stream {
            fn next(&mut self) -> Option<u64> {
                self.0 += 1;
                (self.0 <= 5_000).then_some((self.0 - 1) * MS)
            }
        }
        Box::new(Stream(0))
    }

    fn describe(&self) -> String {
        "5000 arrivals".into()
    }
}

#[test]
fn a_capped_catch_up_is_kept_where_the_schedule_has_no_rate() {
    let five = || Schedule::constant(1000.0).unwrap().lasting(Duration::from_secs(5)).unwrap();
    let paused = five().then(Schedule::pause(Duration::from_secs(60)).unwrap()).unwrap();
    for (what, schedule) in
        [("a pause", paused), ("its end", five()), ("a process", Schedule::process(Unrated))]
    {
        let starts = starts_after_the_schedule(schedule);
        assert!(starts.iter().all(|n| *n <= 1_510), "{what}: {starts:?}");
        // 3,000 less the 50 in flight waited, and 1,500 of them start in a second.
        assert!(
            starts[7] > 1_400 && starts[8] > 1_400 && starts[9..].iter().all(|n| *n == 0),
            "{what}: {starts:?}"
        );
    }
}

#[test]
fn what_waits_for_a_server_that_is_stuck_is_bounded_whatever_the_policy() {
    // 60,000 at 1 s and 60,000 at 2 s.
    let twice = || (0..120_000).map(|i| Duration::from_secs(1 + i / 60_000));
    let run = |overload: Overload| {
        let time = VirtualTime::new();
        let stuck = workload(async |_: &mut Op| std::future::pending::<Outcome>().await);
        let load = Load::open(Schedule::replay(twice()).unwrap()).sessions(1).overload(overload);
        let plan = Plan::new().stream("s", stuck, load).measure(Duration::from_secs(3));
        let record = plan.drain(Duration::ZERO).virtual_time(time).run().unwrap();
        let a = one(&record).accounting;
        assert_eq!((a.scheduled, a.succeeded), (120_000, 0));
        (a.dropped, a.skipped, a.unfinished)
    };
    let most = load_core::MAX_WAITING as u64;
    // What is in flight, and all that wait.
    let (single, four) = (most + 1, most + 4);
    assert_eq!(run(Overload::queue(500)), (120_000 - 501, 0, 501));
    assert_eq!(run(Overload::skip_late(Duration::from_millis(10))), (0, 120_000 - single, single));
    assert_eq!(run(Overload::skip_late(Duration::from_secs(3600))), (120_000 - single, 0, single));
    assert_eq!(run(Overload::expand(4)), (120_000 - four, 0, four));
}
