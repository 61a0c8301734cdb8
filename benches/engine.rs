//! The engine's own cost: a workload that does nothing, beside the bare loop of two clock readings and one record.

use openloop::{Histogram, prelude::*};
use openloop_benches::{Target, client, is_client, median, report, say, size};
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// Operations a second of the bare loop.
fn bare(seconds: u64) -> f64 {
    let (mut h, origin, mut n) = (Histogram::new(), Instant::now(), 0u64);
    let end = Duration::from_secs(seconds).as_nanos() as u64;
    loop {
        let start = origin.elapsed().as_nanos() as u64;
        let now = origin.elapsed().as_nanos() as u64;
        h.record(black_box(now - start));
        n += 1;
        if now >= end {
            black_box(&h);
            return n as f64 / seconds as f64;
        }
    }
}

fn no_op(seconds: u64, sessions: usize) -> f64 {
    let load = Load::closed(sessions).workers(1);
    let plan =
        Plan::new().stream("no-op", workload(async |_: &mut Op| Ok(())), load).calibrate(Duration::ZERO);
    plan.measure(Duration::from_secs(seconds)).run().expect("it runs").streams[0].succeeded_per_s
}

/// Open loop of no-ops: lateness P50 and P99 in µs, share of a core.
fn open(rate: f64, seconds: u64) -> Vec<f64> {
    let load = Load::open(Schedule::constant(rate).expect("a rate")).sessions(50);
    let plan = Plan::new().stream("no-op", workload(async |_: &mut Op| Ok(())), load);
    let record =
        plan.warmup(Duration::from_millis(300)).measure(Duration::from_secs(seconds)).run().expect("it runs");
    let s = &record.streams[0];
    assert_eq!(s.accounting.succeeded, s.accounting.scheduled);
    let lateness = s.lateness.as_ref().expect("arrivals");
    let cpu = s.verdict.evidence["generator_cpu"].number().unwrap_or(f64::NAN);
    vec![lateness.p50_ns as f64 / 1e3, lateness.p99_ns as f64 / 1e3, cpu]
}

/// Resident memory in MiB.
fn resident() -> f64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: f64 = statm.split_whitespace().nth(1).and_then(|p| p.parse().ok()).unwrap_or(f64::NAN);
    pages * 4096.0 / 1048576.0
}

fn main() {
    if let Some(arguments) = is_client() {
        let n: u64 = arguments[0].parse().expect("a count");
        let plan =
            Plan::new().stream("no-op", workload(async |_: &mut Op| Ok(())), Load::closed(10).workers(1));
        plan.measure_count(n).calibrate(Duration::ZERO).run().expect("it runs");
        return say(&[resident()]);
    }
    let (rounds, seconds) = size(5, 1);
    println!("engine: {rounds} rounds of {seconds} s, medians [lowest .. highest]");
    for sessions in [1, 50] {
        let (mut bares, mut ours, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            bares.push(1e9 / bare(seconds));
            ours.push(1e9 / no_op(seconds, sessions));
            ratios.push(ours[ours.len() - 1] / bares[bares.len() - 1]);
        }
        report("bare loop: two clock readings and one record", "ns", &bares, Target::None);
        report(&format!("no-op operation, closed loop, {sessions} sessions"), "ns", &ours, Target::None);
        report("  over the bare loop", "times", &ratios, Target::AtMost(4.0));
    }
    for rate in [50_000.0, 200_000.0] {
        let runs: Vec<_> = (0..rounds).map(|_| open(rate, seconds)).collect();
        let column = |i: usize| runs.iter().map(|r| r[i]).collect::<Vec<_>>();
        let target = |t| if rate < 100_000.0 { Target::AtMost(t) } else { Target::None };
        report(&format!("open loop {rate}/s: lateness P50"), "µs", &column(0), target(80.0));
        report("  lateness P99", "µs", &column(1), Target::None);
        report("  share of a core", "", &column(2), target(0.25));
    }
    let memory = |n: u64| client(&[n.to_string()]).map_or(f64::NAN, |(_, m)| median(&m));
    let (small, large) = (memory(1_000_000), memory(100_000_000));
    report("resident memory after 10^6 operations", "MiB", &[small], Target::None);
    report("resident memory after 10^8 operations", "MiB", &[large], Target::AtMost(small * 1.1));
}
