//! What a client can do is measured for the workload that runs, not for another one.

use load_core::{Load, NullTargetError, Nulled, Op, Outcome, Workload, calibrated, workload};
use load_engine::Plan;
use std::time::{Duration, Instant};

/// Of one type and one description, whatever the work.
fn busy(work: Duration) -> impl Workload {
    let make = move |()| {
        workload(async move |_: &mut Op| -> Outcome {
            let start = Instant::now();
            while start.elapsed() < work {
                std::hint::spin_loop();
            }
            tokio::task::yield_now().await;
            Ok(())
        })
    };
    let null = |_: Duration| -> Result<Nulled<()>, NullTargetError> { Ok(Nulled::new((), ())) };
    calibrated((), make, null)
}

#[test]
fn the_ceiling_of_another_workload_of_the_same_type_is_not_taken() {
    let ceiling = |work: Duration| {
        let plan = Plan::new().stream("s", busy(work), Load::closed(1)).measure(Duration::from_millis(50));
        let record = plan.calibrate(Duration::from_millis(100)).run().unwrap();
        record.streams[0].verdict.evidence["ceiling_per_s"].number().expect("calibrated")
    };
    let light = ceiling(Duration::from_micros(1));
    let heavy = ceiling(Duration::from_millis(5));
    assert!(heavy <= 200.0 && light > heavy, "5 ms of work are at most 200/s: {light}, {heavy}");
}
