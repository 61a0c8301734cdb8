//! What is timed, and from when.

use crate::{MS, books, one, server};
use load_core::{
    Failure, Load, Op, Outcome, Schedule, SessionId, VirtualTime, Workload, with_session, workload,
};
use load_engine::Plan;
use std::{sync::Arc, time::Duration};

#[test]
fn coordinated_omission_a_stall_shows_in_every_response_and_in_one_service_time() {
    let time = VirtualTime::new();
    // 100/s, 1 ms each, one session; the server stalls from 2 s to 3 s.
    let record = Plan::new()
        .stream(
            "s",
            server(&time, Duration::from_millis(1), 2_000 * MS..3_000 * MS),
            Load::open(Schedule::constant(100.0).unwrap()).sessions(1),
        )
        .measure(Duration::from_secs(5))
        .virtual_time(time)
        .run()
        .unwrap();
    let s = one(&record);
    assert_eq!(s.accounting, books(500, 500, 0, 0, 0));
    let (response, service) = (s.response.as_ref().unwrap(), s.service.as_ref().unwrap());
    // The arrival at 2.000 s is served at 3.001 s; those behind it one ms apart: the k-th after it waited 10 k ms less and
    // k ms more, so response is 1001 − 9 k ms until it is 1 ms again.
    let mut expected: Vec<u64> = vec![MS; 500];
    for (k, e) in expected.iter_mut().enumerate().skip(200) {
        let k = (k - 200) as u64;
        if 9 * k < 1000 {
            *e = (1001 - 9 * k) * MS
        }
    }
    expected.sort_unstable();
    for decile in 1..=10 {
        let rank = expected[decile * 50 - 1];
        let h = response.histogram().unwrap();
        let got = h.quantile(decile as f64 / 10.0).unwrap();
        assert!(got.abs_diff(rank) <= rank / 500, "decile {decile}: {got} instead of {rank}");
    }
    assert_eq!(response.max_ns, 1001 * MS);
    let mean = expected.iter().sum::<u64>() as f64 / 500.0;
    assert!((response.mean_ns - mean).abs() < 1.0, "{} {mean}", response.mean_ns);
    assert_eq!((service.max_ns, service.min_ns), (1001 * MS, MS));
    assert!(service.p99_ns <= MS + MS / 1000, "one slow operation");
    assert_eq!(s.lateness.as_ref().unwrap().max_ns, 0, "the pacer was punctual");
}

/// What each operation was told of its instants: number, intended, started, present.
type Told = std::sync::Mutex<Vec<(u64, u64, u64, u64)>>;

#[test]
fn an_operation_knows_when_it_was_due_and_when_it_started() {
    let run = |load: Load| {
        let (time, told) = (VirtualTime::new(), Arc::new(Told::default()));
        let (own, ops) = (time.clone(), told.clone());
        let work = workload(async move |op: &mut Op| -> Outcome {
            let (seq, now) = (op.seq(), own.now());
            ops.lock().unwrap().push((seq, op.intended(), op.started_at(), now));
            own.sleep(Duration::from_millis(15)).await;
            op.mark("sleep");
            assert_eq!((op.started_at(), op.marked_at()), (now, own.now()), "the start stays, marks go on");
            Ok(())
        });
        let plan = Plan::new().stream("s", work, load).warmup(Duration::from_millis(100));
        let record = plan.measure(Duration::from_millis(200)).virtual_time(time).run().unwrap();
        (record, std::mem::take(&mut *told.lock().unwrap()))
    };
    // 100/s to one session of 15 ms: the k-th operation is due at 10 k ms and starts at 15 k ms, in the warm-up too.
    let (record, told) = run(Load::open(Schedule::constant(100.0).unwrap()).sessions(1));
    let base = told[0].1;
    for (k, (_, intended, started, now)) in told.iter().enumerate() {
        assert_eq!((intended - base, started - base, now), (k as u64 * 10 * MS, k as u64 * 15 * MS, started));
    }
    let wait = one(&record).wait.as_ref().unwrap();
    let last = told.last().unwrap();
    assert_eq!(wait.max_ns, last.2 - last.1, "what it is told is what is recorded");
    // A closed loop is never late.
    let (_, told) = run(Load::closed(2));
    assert_eq!(told.len(), 2 * 300usize.div_ceil(15));
    assert!(told.iter().all(|(_, intended, started, now)| intended == started && started == now), "{told:?}");
}

#[test]
fn steps_of_connecting_are_kept_apart_from_those_of_operations() {
    let time = VirtualTime::new();
    let (clock, c2) = (time.clone(), time.clone());
    let same_names = with_session(
        async move |_: &SessionId| {
            clock.sleep(Duration::from_millis(40)).await;
            Ok(())
        },
        async move |(), op: &mut Op| {
            c2.sleep(Duration::from_millis(10)).await;
            op.mark("open");
            Ok(())
        },
    );
    // A session that says the same names as its operations do.
    struct Says<W>(W);
    impl<W: Workload> Workload for Says<W> {
        type Session = W::Session;
        async fn connect(&self, id: &SessionId, op: &mut Op) -> Result<W::Session, Failure> {
            let session = self.0.connect(id, op).await?;
            op.mark("open");
            Ok(session)
        }
    }
    let plan = Plan::new().stream("s", Says(same_names), Load::closed(2));
    let record = plan.measure(Duration::from_secs(1)).virtual_time(time).run().unwrap();
    let s = one(&record);
    let (own, connecting) = (&s.steps["open"], &s.connects.steps["open"]);
    assert_eq!((own.count, own.min_ns, own.max_ns), (s.accounting.succeeded, 10 * MS, 10 * MS));
    assert_eq!((connecting.count, connecting.min_ns, connecting.max_ns), (2, 40 * MS, 40 * MS));
}

#[test]
fn set_up_is_outside_of_the_measured_time() {
    let time = VirtualTime::new();
    let (clock, c2) = (time.clone(), time.clone());
    let slow = with_session(
        async move |id: &SessionId| {
            clock.sleep(Duration::from_secs(1 + id.index() as u64 % 3)).await;
            Ok(())
        },
        async move |(), _op: &mut Op| {
            c2.sleep(Duration::from_millis(10)).await;
            Ok(())
        },
    );
    let record = Plan::new()
        .stream("s", slow, Load::closed(6))
        .measure(Duration::from_secs(5))
        .virtual_time(time)
        .run()
        .unwrap();
    let s = one(&record);
    assert!((s.succeeded_per_s - 600.0).abs() <= 2.0, "{}", s.succeeded_per_s);
    assert_eq!(s.connects.time.as_ref().unwrap().max_ns, 3_000 * MS);
}

#[test]
fn think_time_is_in_no_time_of_an_operation_and_not_in_flight() {
    let time = VirtualTime::new();
    let inner = server(&time, Duration::from_millis(10), 0..0);
    let record = Plan::new()
        .stream("s", load_core::think(inner, Duration::from_millis(90)), Load::closed(10))
        .measure(Duration::from_secs(10))
        .virtual_time(time)
        .run()
        .unwrap();
    let s = one(&record);
    assert!((s.succeeded_per_s - 100.0).abs() <= 1.0, "{}", s.succeeded_per_s);
    assert_eq!(s.response.as_ref().unwrap().max_ns, 10 * MS);
    let mean = s.verdict.evidence["in_flight_mean"].number().unwrap();
    assert!((mean - 1.0).abs() < 0.2, "{mean}");
    assert_eq!(s.verdict.status, load_core::Status::Valid, "{:?}", s.verdict);
}
