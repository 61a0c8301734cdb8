//! Ends of runs that something keeps from ending: operations that hang, streams that end before others, panics.

use load_core::{
    Failure, Load, Op, Outcome, Overload, Record, Schedule, Session, SessionId, VirtualTime, Workload,
    with_session, workload,
};
use load_engine::{Plan, RunError};
use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::Duration,
};

/// The result of a run, when it comes within a time that is far above what it needs.
fn within(limit: Duration, plan: Plan, stop_after: Option<Duration>) -> Result<Record, RunError> {
    let running = plan.start();
    let stopper = running.stopper();
    let (to, from) = mpsc::channel();
    thread::spawn(move || {
        let _ = to.send(running.wait());
    });
    if let Some(after) = stop_after {
        thread::sleep(after);
        stopper.stop();
    }
    let result = from.recv_timeout(limit);
    stopper.stop();
    result.expect("the run ends in time")
}

/// Every operation with this remainder by 10 never ends.
fn hangs_at(rest: u64) -> impl Workload {
    workload(async move |op: &mut Op| -> Outcome {
        if rest == op.seq() % 10 {
            pending::<()>().await;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
        Ok(())
    })
}

#[test]
fn a_count_ends_at_the_drain_limit_when_an_operation_hangs() {
    let open = Load::open(Schedule::constant(500.0).unwrap()).sessions(8);
    for load in [Load::closed(4).workers(1), Load::closed(4).workers(2), open] {
        let plan =
            Plan::new().stream("s", hangs_at(9), load).measure_count(20).drain(Duration::from_millis(200));
        let record = within(Duration::from_secs(8), plan, None).unwrap();
        let books = &record.streams[0].accounting;
        assert!(books.balances(), "{books:?}");
        assert_eq!((books.scheduled, books.succeeded, books.unfinished), (20, 18, 2));
    }
}

#[test]
fn a_run_can_be_stopped_when_one_of_its_streams_has_ended() {
    let slow = workload(async |_: &mut Op| -> Outcome {
        tokio::time::sleep(Duration::from_millis(20)).await;
        Ok(())
    });
    let fast = workload(async |_: &mut Op| -> Outcome {
        tokio::time::sleep(Duration::from_millis(1)).await;
        Ok(())
    });
    let plan = Plan::new()
        .stream("fast", fast, Load::closed(4).workers(1))
        .stream("slow", slow, Load::closed(1))
        .measure_count(1_000);
    let record = within(Duration::from_secs(5), plan, Some(Duration::from_millis(1_500))).unwrap();
    assert!(record.interrupted);
    let slow = &record.streams[1];
    assert!(slow.accounting.balances() && slow.accounting.succeeded > 10, "{:?}", slow.accounting);
    for s in &record.streams {
        let kept = s.verdict.evidence["in_flight"].number().unwrap();
        assert!((0.9..=1.0).contains(&kept), "{}: sampled while it ran and no longer: {kept}", s.name);
    }
}

/// Every second connect panics, and every operation asks for a new connection.
struct PanicsInConnect(AtomicU64);

impl Workload for PanicsInConnect {
    type Session = Once;
    async fn connect(&self, _: &SessionId, _: &mut Op) -> Result<Once, Failure> {
        assert!(self.0.fetch_add(1, Relaxed).is_multiple_of(2), "in connect");
        Ok(Once)
    }
}

struct Once;

impl Session for Once {
    async fn call(&mut self, _: &mut Op) -> Outcome {
        tokio::time::sleep(Duration::from_millis(1)).await;
        Err(Failure::check("no").reconnect())
    }
}

#[test]
fn a_panic_in_a_reconnect_is_not_counted_as_busy_for_ever() {
    let plan = Plan::new()
        .stream("s", PanicsInConnect(AtomicU64::new(0)), Load::closed(1))
        .measure(Duration::from_secs(1));
    let record = within(Duration::from_secs(8), plan, None).unwrap();
    let s = &record.streams[0];
    assert!(s.connects.failed > 3, "{:?}", s.connects);
    let kept = s.verdict.evidence["in_flight"].number().unwrap();
    assert!(kept <= 1.0, "one session is busy at most all the time: {kept}");
}

#[test]
fn a_count_below_the_number_of_workers_keeps_every_session_until_measuring_begins() {
    let time = VirtualTime::new();
    let own = time.clone();
    let op = workload(async move |_: &mut Op| -> Outcome {
        own.sleep(Duration::from_millis(1)).await;
        Ok(())
    });
    let record = Plan::new()
        .stream("s", op, Load::closed(4).workers(4))
        .warmup(Duration::from_millis(100))
        .measure_count(2)
        .virtual_time(time)
        .run()
        .unwrap();
    let s = &record.streams[0];
    assert_eq!(s.accounting.succeeded, 2);
    assert_eq!(s.warmup.accounting.succeeded, 400, "all four sessions warmed up");
}

#[test]
fn waiting_within_a_runtime_stops_the_run() {
    let closed = Arc::new(AtomicBool::new(false));
    struct Closes(Arc<AtomicBool>);
    impl Drop for Closes {
        fn drop(&mut self) {
            self.0.store(true, Relaxed);
        }
    }
    let own = closed.clone();
    let load = with_session(
        async move |_: &SessionId| Ok(Closes(own.clone())),
        async |_: &mut Closes, _: &mut Op| -> Outcome {
            tokio::time::sleep(Duration::from_millis(1)).await;
            Ok(())
        },
    );
    let running = Plan::new().stream("s", load, Load::closed(1)).measure(Duration::from_secs(3600)).start();
    let mut progress = running.progress();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let measuring = progress.wait_for(|p| p.stage == load_engine::Stage::Measuring);
        tokio::time::timeout(Duration::from_secs(10), measuring).await.expect("it runs").unwrap();
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| running.wait()));
        assert!(panic.is_err());
        let ended = progress.wait_for(|p| p.stage == load_engine::Stage::Ended);
        tokio::time::timeout(Duration::from_secs(10), ended).await.expect("it was stopped").unwrap();
    });
    assert!(closed.load(Relaxed));
}

#[test]
fn an_idle_phase_ends_in_virtual_time_too() {
    let time = VirtualTime::new();
    let own = time.clone();
    let op = workload(async move |_: &mut Op| -> Outcome {
        own.sleep(Duration::from_millis(1)).await;
        Ok(())
    });
    let plan = Plan::new()
        .stream("s", op, Load::closed(1))
        .phase("idle", [])
        .phase("busy", ["s"])
        .measure(Duration::from_secs(1))
        .virtual_time(time);
    let record = within(Duration::from_secs(10), plan, None).unwrap();
    let lengths: Vec<_> = record.phases.iter().map(|p| (p.name.as_str(), p.end_ns - p.start_ns)).collect();
    assert_eq!(lengths, [("idle", 1_000_000_000), ("busy", 1_000_000_000)]);
    assert_eq!(record.streams[0].accounting.succeeded, 1_000);
}

/// Answers in 1 ms until the stall begins, then never.
fn stalls_at(time: &VirtualTime, at: Duration) -> impl Workload + use<> {
    let time = time.clone();
    workload(async move |_: &mut Op| -> Outcome {
        if time.now() >= at.as_nanos() as u64 {
            pending::<()>().await;
        }
        time.sleep(Duration::from_millis(1)).await;
        Ok(())
    })
}

#[test]
fn a_count_that_is_not_reached_has_the_rate_of_the_whole_time() {
    let time = VirtualTime::new();
    let record = Plan::new()
        .stream("s", stalls_at(&time, Duration::from_millis(500)), Load::closed(2))
        .measure_count(1_000_000)
        .measure(Duration::from_secs(5))
        .drain(Duration::from_millis(10))
        .virtual_time(time)
        .run()
        .unwrap();
    let s = &record.streams[0];
    assert_eq!((s.accounting.succeeded, s.accounting.unfinished), (1_000, 2));
    assert_eq!(
        (s.elapsed_ns, s.succeeded_per_s),
        (5_000_000_000, 200.0),
        "not the 2,000 of its first half second"
    );
    assert!(s.verdict.findings.iter().any(|f| f.contains("1002 of 1000000")), "{:?}", s.verdict);
}

#[test]
fn operations_that_never_end_contradict_nothing() {
    let time = VirtualTime::new();
    let record = Plan::new()
        .stream("s", stalls_at(&time, Duration::from_secs(2)), Load::closed(10))
        .measure(Duration::from_secs(5))
        .drain(Duration::from_millis(10))
        .virtual_time(time)
        .run()
        .unwrap();
    let s = &record.streams[0];
    assert_eq!((s.accounting.succeeded, s.accounting.unfinished), (20_000, 10));
    let little = s.verdict.evidence["little"].number().unwrap();
    assert!(little < 0.01, "ten were in flight all the time, as their times say: {little}");
}

#[test]
fn a_limit_stops_a_warm_up_and_says_why() {
    let fails = workload(async |_: &mut Op| -> Outcome {
        tokio::time::sleep(Duration::from_millis(1)).await;
        Err(Failure::check("no"))
    });
    let slow = workload(async |_: &mut Op| -> Outcome {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(())
    });
    let rate = Load::open(Schedule::constant(500.0).unwrap()).sessions(2).overload(Overload::Abort);
    let hour = Duration::from_secs(3600);
    for plan in [
        Plan::new().stream("s", fails, Load::closed(1)).stop_after_failures(10),
        Plan::new().stream("s", slow, rate),
    ] {
        match within(Duration::from_secs(10), plan.warmup(hour).drain(Duration::from_millis(50)), None) {
            Err(RunError::Aborted { stream, why }) => {
                assert!(
                    stream == "s" && why.contains("limit") || why.contains("overload policy"),
                    "{stream}: {why}"
                );
            }
            other => panic!("{other:?}"),
        }
    }
}
