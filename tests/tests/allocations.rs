//! What a run costs in memory must not depend on how many operations it has. One test, since the counting allocator is
//! the program's.

use openloop::{
    core::{mix, then, think},
    prelude::*,
};
use openloop_tests::{check, full};
use std::time::Duration;

#[global_allocator]
static HEAP: dhat::Alloc = dhat::Alloc;

/// A run of exactly so many operations, and what the heap saw of it.
fn run(workload: impl Workload, load: &Load, count: u64, window: Duration) -> (Record, dhat::HeapStats) {
    let _profiler = dhat::Profiler::builder().testing().build();
    let plan = Plan::new().stream("s", workload, load.clone()).measure_count(count).window(window);
    let record = plan.run().unwrap();
    let heap = dhat::HeapStats::get();
    check(&record);
    assert_eq!(record.streams[0].accounting.succeeded, count);
    (record, heap)
}

fn nothing() -> impl Workload {
    workload(async |_: &mut Op| Ok(()))
}

/// Everything that an operation can say.
fn talkative() -> impl Workload {
    let part = || {
        workload(async |op: &mut Op| {
            op.mark("one");
            op.timed("two", async {}).await;
            op.count("tries", 2);
            op.kind("hit");
            op.bytes_in(9);
            Ok(())
        })
    };
    let both = then(part(), part()).named("first", "second");
    mix().arm("a", 3, part()).arm("b", 1, think(both, Duration::ZERO))
}

#[test]
fn alone_memory_that_grows_with_every_operation() {
    const FEW: u64 = 10_000;
    const MORE: u64 = 40_000;
    let long = Duration::from_secs(3600);
    let open = Load::open(Schedule::constant(50_000.0).unwrap()).sessions(16);
    let closed = Load::closed(16).workers(1);
    for (what, load) in [("closed", closed.clone()), ("open", open)] {
        let measured = |count| [run(nothing(), &load, count, long).1, run(talkative(), &load, count, long).1];
        // The first run makes what lives as long as the process.
        measured(FEW);
        let (few, more) = (measured(FEW), measured(FEW + MORE));
        for (few, more, workload) in [(&few[0], &more[0], "nothing"), (&few[1], &more[1], "much")] {
            let allocations = more.total_blocks.saturating_sub(few.total_blocks);
            let peak = more.max_bytes.saturating_sub(few.max_bytes);
            eprintln!(
                "{what} loop, {workload}: {allocations} more allocations, {peak} bytes more at the peak"
            );
            // The coordinator's, which go with time.
            assert!(allocations < MORE / 100, "{what} loop, {workload}: {allocations}");
            // Arrivals that wait when the machine is busy.
            assert!(peak < 8 << 20, "{what} loop, {workload}: {peak} bytes");
        }
    }
    let (many, window) = if full() { (100_000_000, 1_000) } else { (1_000_000, 50) };
    let (_, few) = run(nothing(), &closed, FEW, long);
    let (record, heap) = run(nothing(), &closed, many, Duration::from_millis(window));
    let grown = heap.max_bytes.saturating_sub(few.max_bytes);
    let rates: Vec<f64> = record.streams[0].windows.iter().map(|w| w.per_s).collect();
    let median = |part: &[f64]| {
        let mut part = part.to_vec();
        part.sort_by(f64::total_cmp);
        part[part.len() / 2]
    };
    let fifth = rates.len() / 5;
    let (first, last) = (median(&rates[..fifth]), median(&rates[rates.len() - 1 - fifth..rates.len() - 1]));
    eprintln!("{many} operations: {grown} bytes more at the peak; {first:.0}/s, then {last:.0}/s");
    assert!(grown < 8 << 20, "{grown} bytes");
    assert!(last > first * if full() { 0.9 } else { 0.5 }, "{first}/s, then {last}/s");
}
