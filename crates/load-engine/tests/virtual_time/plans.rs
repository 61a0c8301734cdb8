//! Levels, rounds, phases, limits, and changes on the way.

use crate::{MS, one, server};
use load_core::{
    Failure, Load, Op, Overload, Record, Schedule, SessionId, VirtualTime, with_session, workload,
};
use load_engine::{AbortWhen, Plan};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

#[test]
fn settings_that_would_be_ignored_are_refused_before_anything_connects() {
    let connected = Arc::new(AtomicU64::new(0));
    let plan = || {
        let own = connected.clone();
        let connect = async move |_: &SessionId| {
            own.fetch_add(1, Relaxed);
            Ok(())
        };
        Plan::new().stream("s", with_session(connect, async |(), _: &mut Op| Ok(())), Load::closed(1))
    };
    let closed = Load::closed(2).overload(Overload::skip_late(Duration::from_secs(1)));
    let none: [u64; 0] = [];
    for (plan, said) in [
        (plan().levels(none, |_| Load::closed(1)), "levels: [] "),
        (plan().levels([1], |_| closed.clone()), "overload: skip when 1s late "),
        (
            plan().stream("t", workload(async |_: &mut Op| Ok(())), closed.clone()),
            "overload: skip when 1s late ",
        ),
    ] {
        let error = plan.run().unwrap_err().to_string();
        assert!(error.starts_with(said), "{error}");
    }
    assert_eq!(connected.load(Relaxed), 0);
}

#[test]
fn levels_rotate_and_rounds_repeat() {
    let time = VirtualTime::new();
    let record = Plan::new()
        .stream("s", server(&time, Duration::from_millis(5), 0..0), Load::closed(1))
        .levels([1, 2, 4], |c| Load::closed(*c))
        .measure(Duration::from_secs(1))
        .rounds(3)
        .virtual_time(time)
        .run()
        .unwrap();
    let order: Vec<_> = record.streams.iter().map(|s| (s.round, s.level.as_str())).collect();
    let expected = [(1, "1"), (1, "2"), (1, "4"), (2, "2"), (2, "4"), (2, "1"), (3, "4"), (3, "1"), (3, "2")];
    assert_eq!(order, expected);
    for s in &record.streams {
        assert!(
            (s.succeeded_per_s - 200.0 * s.level.parse::<f64>().unwrap()).abs() <= 4.0 * 1.0,
            "{}",
            s.succeeded_per_s
        );
    }
}

#[test]
fn a_rate_can_be_changed_during_the_run() {
    let time = VirtualTime::new();
    let (schedule, rate) = Schedule::adjustable(100.0).unwrap();
    let clock = time.clone();
    let turns_it_up = workload(async move |_op: &mut Op| {
        clock.sleep(Duration::from_millis(1)).await;
        if clock.now() >= 2_000 * MS {
            rate.set(1000.0)?;
        }
        Ok(())
    });
    let record = Plan::new()
        .stream("s", turns_it_up, Load::open(schedule).sessions(10))
        .measure(Duration::from_secs(4))
        .virtual_time(time)
        .run()
        .unwrap();
    let s = one(&record);
    // 200 in the first two seconds and 2000 in the last two.
    assert!((2_190..=2_210).contains(&s.accounting.succeeded), "{:?}", s.accounting);
}

#[test]
fn poisson_arrivals_repeat_with_the_seed_and_differ_by_round() {
    let run = |seed: u64| {
        let time = VirtualTime::new();
        Plan::new()
            .stream(
                "s",
                server(&time, Duration::from_micros(50), 0..0),
                Load::open(Schedule::constant(1000.0).unwrap().poisson()).sessions(16).workers(3),
            )
            .measure(Duration::from_secs(3))
            .rounds(2)
            .seed(seed)
            .virtual_time(time)
            .run()
            .unwrap()
    };
    let counts = |r: &Record| r.streams.iter().map(|s| s.accounting.scheduled).collect::<Vec<_>>();
    let (first, again, other) = (run(7), run(7), run(8));
    assert_eq!(counts(&first), counts(&again));
    assert_ne!(counts(&first), counts(&other));
    for n in counts(&first) {
        assert!(n.abs_diff(3000) < 5 * 55, "{n}");
    }
}

#[test]
fn phases_run_some_of_the_streams_and_an_idle_one_none() {
    let time = VirtualTime::new();
    let load = || Load::open(Schedule::constant(100.0).unwrap()).sessions(4);
    let record = Plan::new()
        .stream("a", server(&time, Duration::from_millis(1), 0..0), load())
        .stream("b", server(&time, Duration::from_millis(2), 0..0), load())
        .phase("a alone", ["a"])
        .phase("b alone", ["b"])
        .phase("together", ["a", "b"])
        .measure(Duration::from_secs(1))
        .rounds(2)
        .virtual_time(time)
        .run()
        .unwrap();
    let ran: Vec<_> = record.streams.iter().map(|s| (s.round, s.phase.as_str(), s.name.as_str())).collect();
    let once = |r| [(r, "a alone", "a"), (r, "b alone", "b"), (r, "together", "a"), (r, "together", "b")];
    assert_eq!(ran, [once(1), once(2)].concat());
    assert_eq!(record.phases.len(), 6);
    assert!(record.streams.iter().all(|s| s.accounting.succeeded == 100));
    assert!(record.phases.windows(2).all(|p| p[0].end_ns <= p[1].start_ns), "one clock: {:?}", record.phases);
}

#[test]
fn rounds_end_when_the_median_is_known_or_are_used_up() {
    let run = |width: f64, spread: u64| {
        let time = VirtualTime::new();
        let (clock, round) = (time.clone(), Arc::new(AtomicU64::new(0)));
        let uneven = with_session(
            async move |_: &SessionId| Ok(round.fetch_add(1, Relaxed)),
            async move |round, _op: &mut Op| {
                clock.sleep(Duration::from_micros(1000 + *round % 5 * spread)).await;
                Ok(())
            },
        );
        let plan = Plan::new().stream("s", uneven, Load::closed(1)).measure(Duration::from_secs(1));
        plan.rounds_until(width, 9).virtual_time(time).run().unwrap()
    };
    assert_eq!(run(0.05, 1).streams.len(), 6, "nearly the same each time: six are enough");
    let used_up = run(0.05, 100);
    assert_eq!(used_up.streams.len(), 9);
    assert_eq!(used_up.events[0].what, "rounds used up");
}

#[test]
fn limits_stop_the_run_after_their_grace_and_say_why() {
    // From 3 s on every second operation fails.
    let failing = |time: &VirtualTime| {
        let clock = time.clone();
        workload(async move |op: &mut Op| {
            clock.sleep(Duration::from_millis(1)).await;
            if clock.now() > 3_000 * MS && op.seq().is_multiple_of(2) {
                Err(Failure::check("odd"))
            } else {
                Ok(())
            }
        })
    };
    let plan = |time: &VirtualTime| {
        let load = Load::open(Schedule::constant(100.0).unwrap());
        Plan::new()
            .stream("s", failing(time), load)
            .measure(Duration::from_secs(3600))
            .virtual_time(time.clone())
    };
    let time = VirtualTime::new();
    let limit = AbortWhen::failures_above("s", 0.1).for_longer_than(Duration::from_secs(4));
    let record = plan(&time).abort_when(limit).run().unwrap();
    let s = one(&record);
    assert!(record.interrupted && !record.checks[0].passed, "{:?}", record.checks);
    assert!(s.verdict.findings.iter().any(|f| f.contains("10 % failed")), "{:?}", s.verdict.findings);
    assert!(s.windows.len() >= 8, "three good seconds, and more than four bad ones");
    let time = VirtualTime::new();
    let record = plan(&time).abort_when(AbortWhen::rate_below("s", 60.0)).run().unwrap();
    assert!(record.checks[0].detail.contains("fewer than 60/s"), "{:?}", record.checks);
    let nonsense = plan(&VirtualTime::new()).abort_when(AbortWhen::rate_below("t", 1.0)).run().unwrap_err();
    assert!(nonsense.to_string().starts_with("abort_when.stream: t "), "{nonsense}");
}
