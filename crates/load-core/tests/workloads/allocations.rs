//! Nothing here allocates once it has begun: neither an operation nor an arrival.

use crate::by_hand::ByHand;
use allocation_counter::measure;
use load_core::{
    Arrivals, BoxWorkload, Histogram, Op, Outcome, Schedule, Session, Shard, VirtualTime, Workload, mix,
    then, think, workload,
};
use std::time::Duration;

async fn says_much(op: &mut Op) -> Outcome {
    op.mark("one");
    op.mark("two");
    op.count("tries", 2);
    op.kind("hit");
    op.bytes_in(9);
    op.timed("three", async {}).await;
    Ok(())
}

#[test]
fn an_allocation_for_each_operation() {
    let part = || workload(async |op: &mut Op| says_much(op).await);
    let own = workload(async |op: &mut Op| op.scoped("own", async |op| says_much(op).await).await);
    let sequence = think(then(part(), own).named("first", "second"), Duration::from_millis(1));
    let mixed =
        mix().arm("a", 3, part()).arm("b", 1, sequence).arm("c", 1, mix().arm("d", 1, part()).in_turn());
    assert_eq!(allocations(&mixed), 0);
    assert_eq!(allocations(&BoxWorkload::new(mixed)), 1000, "the future of each call is boxed");
}

/// How often 1,000 operations allocate, after as many to warm up.
fn allocations(workload: &impl Workload) -> u64 {
    let time = VirtualTime::new();
    let mut hand = ByHand::connect(workload, 0, 1, &time).unwrap();
    let mut histogram = Histogram::new();
    let mut run = || {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        for seq in 0..1000 {
            hand.session.prepare(&mut hand.op);
            hand.op.begin(time.now(), seq);
            {
                let call = std::pin::pin!(hand.session.call(&mut hand.op));
                assert!(matches!(call.poll(&mut context), std::task::Poll::Ready(Ok(()))));
            }
            hand.op.said().steps.iter().for_each(|(_, ns)| histogram.record(*ns));
            hand.think();
        }
    };
    run();
    let count = measure(&mut run).count_total;
    assert!(histogram.count() > 6000);
    count
}

#[test]
fn an_allocation_for_each_arrival() {
    let secs = Duration::from_secs;
    let varied = Schedule::ramp(0, 10_000, secs(1))
        .and_then(|s| s.then(Schedule::sine(1000, 900, secs(1))?.lasting(secs(2))?))
        .and_then(|s| s.then(Schedule::replay([secs(0), secs(1)])?))
        .and_then(|s| s.repeat(10))
        .unwrap();
    let adjustable = Schedule::adjustable("1k/s").unwrap().0;
    for schedule in [varied.clone(), varied.poisson(), adjustable] {
        let begin = || {
            let mut arrivals = schedule.arrivals(Shard::new(1, 3).unwrap()).seeded(1);
            arrivals.next();
            arrivals
        };
        let walk = |arrivals: &mut Arrivals| arrivals.take(20_000).map(|a| a.index).max();
        let mut arrivals = begin();
        let allocations = measure(|| assert!(walk(&mut arrivals) > Some(50_000)));
        assert_eq!(allocations.count_total, 0, "{schedule:?}");
    }
}
