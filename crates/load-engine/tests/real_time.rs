//! What needs the machine's own clock.

use load_core::{Failure, Load, Op, Status, workload};
use load_engine::{Plan, RunError, Stage};
use sampler::Sampler;
use std::time::{Duration, Instant};

#[test]
fn sources_are_read_beside_the_load_also_in_an_idle_phase() {
    let record = Plan::new()
        .stream(
            "s",
            workload(async |_: &mut Op| {
                tokio::time::sleep(Duration::from_millis(1)).await;
                Ok(())
            }),
            Load::closed(2),
        )
        .phase("idle", [])
        .phase("busy", ["s"])
        .measure(Duration::from_millis(2200))
        .sample(Sampler::new().host())
        .run()
        .unwrap();
    assert_eq!((record.phases.len(), record.streams.len()), (2, 1));
    assert!(record.phases[0].end_ns - record.phases[0].start_ns == 2_200_000_000);
    let busy = record.series.iter().find(|s| s.name == "host.cpu.busy").expect("the host's CPU");
    assert!(
        record.series.iter().any(|s| s.name == "generator.cpu" && !s.points.is_empty()),
        "the engine's own threads"
    );
    assert!(!busy.points.is_empty() && busy.points.iter().all(|(_, x)| (0.0..=1.0).contains(x)), "{busy:?}");
}

#[test]
fn a_limit_on_failures_stops_the_run() {
    let fails = workload(async |_: &mut Op| {
        tokio::time::sleep(Duration::from_millis(1)).await;
        Err(Failure::check("never right"))
    });
    let started = Instant::now();
    let plan = Plan::new()
        .stream("s", fails, Load::closed(2))
        .measure(Duration::from_secs(60))
        .stop_after_failures(20);
    let record = plan.run().unwrap();
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(record.interrupted && record.checks[0].name == "abort.s" && !record.checks[0].passed);
    assert!(record.streams[0].accounting.failed >= 20 && record.streams[0].accounting.balances());
}

#[test]
fn progress_is_seen_and_the_handle_is_a_future() {
    let plan = Plan::new()
        .stream(
            "s",
            workload(async |_: &mut Op| {
                tokio::time::sleep(Duration::from_millis(2)).await;
                Ok(())
            }),
            Load::closed(2),
        )
        .window(Duration::from_millis(100))
        .measure(Duration::from_millis(600));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (record, seen) = runtime.block_on(async {
        let running = plan.start();
        let mut progress = running.progress();
        let watcher = tokio::spawn(async move {
            let mut seen = Vec::new();
            while progress.changed().await.is_ok() {
                let now = progress.borrow_and_update().clone();
                if now.stage == Stage::Measuring && !now.streams.is_empty() {
                    seen.push(now.streams[0].clone());
                }
            }
            seen
        });
        let record = tokio::spawn(running).await.unwrap().unwrap();
        (record, watcher.await.unwrap())
    });
    assert!(!seen.is_empty() && seen.iter().any(|s| s.succeeded_per_s > 0.0 && s.p95.is_some()), "{seen:?}");
    assert!(record.streams[0].windows.len() >= 6);
}

#[test]
fn nothing_connects_when_the_configuration_is_bad() {
    let plan = || {
        Plan::new().stream(
            "s",
            workload(async |_: &mut Op| -> load_core::Outcome { panic!("connected") }),
            Load::closed(1),
        )
    };
    for (plan, text) in [
        (Plan::new(), "streams: none "),
        (plan().measure(Duration::ZERO), "measure: 0ns "),
        (plan().measure(Duration::from_secs(u64::MAX)), "measure: "),
        (plan().rounds(0), "rounds: 0 "),
        (plan().measure_count(0), "measure_count: 0 "),
        (plan().window(Duration::ZERO), "window: 0ns "),
        (plan().levels([1, 1], |c| Load::closed(*c)), "levels: 1 "),
        (plan().levels([0], |c| Load::closed(*c)), "concurrency: 0 "),
        (plan().phase("x", ["y"]), "phase.streams: y "),
        (plan().rounds_until(f64::NAN, 9), "rounds_until.width: NaN "),
        (plan().stream("s", workload(async |_: &mut Op| Ok(())), Load::closed(1)), "stream.name: s "),
    ] {
        match plan.run() {
            Err(RunError::Config(error)) => {
                assert!(error.to_string().starts_with(text), "{error} instead of {text}")
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn one_nanosecond_is_a_duration() {
    let plan = Plan::new()
        .stream("s", workload(async |_: &mut Op| Ok(())), Load::closed(1))
        .measure(Duration::from_nanos(1));
    let record = plan.run().unwrap();
    assert!(record.streams[0].accounting.balances());
    assert_ne!(record.verdict.status, Status::Valid, "nothing can be said from a nanosecond");
}

#[test]
fn the_last_arrivals_of_a_phase_are_not_lost_between_two_ticks() {
    // 20,000/s: the last of them is due 50 µs before the end, and wake-ups are coalesced to 100 µs.
    let load = Load::open(load_core::Schedule::constant(20_000.0).unwrap()).sessions(50);
    let no_op = workload(async |_: &mut Op| Ok(()));
    let plan = Plan::new().stream("s", no_op, load).measure(Duration::from_millis(200)).rounds(5);
    let record = plan.run().unwrap();
    // On a busy machine the worker itself may be late at one of the ends, but not at each.
    let lost: Vec<_> = record.streams.iter().map(|s| s.accounting.unfinished).collect();
    assert!(lost.contains(&0), "{lost:?}");
}
