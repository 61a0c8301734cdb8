//! The published mistake: a synchronous client on a few threads. The verdict must find it by the figures, and must not
//! find it where there is none.

use openloop::{Status, prelude::*, testbed::Known};
use openloop_examples::blocking::BlockingGet;
use openloop_tests::check;
use std::time::Duration;

fn run(load: Load, delay: Duration) -> Record {
    let server = Known::http().delay(delay).body("x".repeat(612)).start().unwrap();
    let record = Plan::new()
        .stream("nginx", BlockingGet::new(server.addr(), "/"), load)
        .warmup(Duration::from_millis(200))
        .measure(Duration::from_secs(2))
        .run()
        .unwrap();
    check(&record);
    record
}

#[test]
fn a_blocking_client_on_few_threads_is_rejected_for_requests_not_in_flight() {
    for sessions in [10, 50] {
        let record = run(Load::closed(sessions).workers(4), Duration::from_millis(1));
        assert_eq!(record.verdict.status, Status::Rejected, "{:?}", record.verdict);
        assert!(
            record.verdict.reasons.iter().any(|r| r.contains("in flight:")),
            "{:?}",
            record.verdict.reasons
        );
        let kept = record.streams[0].verdict.evidence["in_flight"].number().unwrap();
        assert!((kept - 4.0 / sessions as f64).abs() < 0.1, "{kept}");
    }
}

#[test]
fn the_same_client_with_a_worker_for_each_session_is_not_rejected() {
    let record = run(Load::closed(20).workers(20), Duration::from_millis(20));
    assert!(!record.verdict.reasons.iter().any(|r| r.contains("in flight")), "{:?}", record.verdict.reasons);
    let kept = record.streams[0].verdict.evidence["in_flight"].number().unwrap();
    assert!(kept > 0.9, "{kept}");
    assert_ne!(record.verdict.status, Status::Rejected, "{:?}", record.verdict);
}
