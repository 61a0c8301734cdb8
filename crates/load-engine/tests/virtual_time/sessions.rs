//! Sessions that are lost, and streams that get none.

use crate::{MS, one};
use load_core::{Class, Failure, Load, Op, Schedule, SessionId, VirtualTime, with_session, workload};
use load_engine::Plan;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

#[test]
fn a_panic_is_a_failure_and_the_session_is_replaced() {
    let time = VirtualTime::new();
    let clock = time.clone();
    let panics = workload(async move |op: &mut Op| {
        clock.sleep(Duration::from_millis(10)).await;
        assert!(op.seq() % 10 != 3, "a bad one");
        Ok(())
    });
    let record = Plan::new()
        .stream("s", panics, Load::open(Schedule::constant(100.0).unwrap()).sessions(8))
        .measure(Duration::from_secs(1))
        .virtual_time(time)
        .run()
        .unwrap();
    let s = one(&record);
    assert_eq!((s.accounting.scheduled, s.accounting.succeeded, s.accounting.failed), (100, 90, 10));
    assert_eq!(
        (s.failures[0].class, s.failures[0].code.as_str(), s.failures[0].count),
        (Class::Panic, "in an operation", 10)
    );
    assert_eq!(s.failures[0].example, "panic (in an operation): a bad one");
    assert_eq!(s.connects.ok, 18, "eight, and one for each that was lost");
}

#[test]
fn connections_that_are_lost_are_opened_again_with_a_back_off() {
    let time = VirtualTime::new();
    let (clock, attempts) = (time.clone(), Arc::new(AtomicU64::new(0)));
    let tries = attempts.clone();
    // The server is gone from 1 s on.
    let (c2, second) = (time.clone(), 1_000 * MS);
    let flaky = with_session(
        async move |_: &SessionId| {
            tries.fetch_add(1, Relaxed);
            if clock.now() >= second {
                Err(std::io::Error::from(std::io::ErrorKind::ConnectionRefused))?
            }
            Ok(())
        },
        async move |(), _op: &mut Op| {
            c2.sleep(Duration::from_millis(10)).await;
            if c2.now() >= second {
                Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset))?
            }
            Ok(())
        },
    );
    let record = Plan::new()
        .stream("s", flaky, Load::closed(5))
        .measure(Duration::from_secs(20))
        .virtual_time(time)
        .run()
        .unwrap();
    let s = one(&record);
    assert_eq!((s.accounting.failed, s.accounting.unknown), (5, 5));
    assert_eq!(s.failures[0].class, Class::Reset);
    assert_eq!(s.connects.failures[0].class, Class::Connect);
    assert_eq!(s.connects.failures[0].code, "refused");
    assert_eq!(s.connects.failed + s.connects.ok, attempts.load(Relaxed));
    // Doubling from 1 ms to 1 s: about 10 attempts, then at least one a second and a half each.
    assert!((5 * 15..5 * 35).contains(&s.connects.failed), "{}", s.connects.failed);
    assert_eq!(s.elapsed_ns, 20_000 * MS);
    assert!(
        s.verdict.evidence["in_flight"].number().unwrap() > 0.95,
        "sessions that reconnect count as busy"
    );
}

#[test]
fn a_stream_that_cannot_connect_is_named() {
    let refused = with_session(
        async |_: &SessionId| {
            Err::<(), Failure>(std::io::Error::from(std::io::ErrorKind::ConnectionRefused).into())
        },
        async |(), _op: &mut Op| Ok(()),
    );
    let error = Plan::new()
        .stream("nginx", refused, Load::closed(3))
        .virtual_time(VirtualTime::new())
        .run()
        .unwrap_err();
    let text = error.to_string();
    assert!(text.contains("nginx") && text.contains("0 of 3") && text.contains("refused"), "{text}");
}
