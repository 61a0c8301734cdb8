//! How late operations start: this engine beside tokio's own sleep, at the same instants.

use openloop::Histogram;
use openloop::prelude::*;
use openloop_benches::{Target, median, report, size};
use std::time::{Duration, Instant};

/// Lateness P50 and P99, µs, of this engine.
fn ours(rate: f64, seconds: u64) -> [f64; 2] {
    let load = Load::open(Schedule::constant(rate).expect("a rate")).sessions(10);
    let plan = Plan::new().stream("no-op", workload(async |_: &mut Op| Ok(())), load);
    let record = plan.measure(Duration::from_secs(seconds)).run().expect("it runs");
    let lateness = record.streams[0].lateness.as_ref().expect("arrivals");
    [lateness.p50_ns as f64 / 1e3, lateness.p99_ns as f64 / 1e3]
}

/// The same of `tokio::time::sleep_until` on a current-thread runtime.
fn tokio_sleep(rate: f64, seconds: u64) -> [f64; 2] {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let h = runtime.block_on(async {
        let (mut h, origin) = (Histogram::new(), Instant::now());
        for n in 0..(rate * seconds as f64) as u64 {
            let due = origin + Duration::from_secs_f64(n as f64 / rate);
            tokio::time::sleep_until(due.into()).await;
            h.record(due.elapsed().as_nanos() as u64);
        }
        h
    });
    [0.5, 0.99].map(|q| h.quantile(q).map_or(f64::NAN, |ns| ns as f64 / 1e3))
}

fn main() {
    let (rounds, seconds) = size(5, 2);
    println!("pacer: {rounds} rounds of {seconds} s, medians [lowest .. highest]; lateness in µs");
    for rate in [1_000.0, 10_000.0, 50_000.0] {
        let (mut own, mut other) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            own.push(ours(rate, seconds));
            other.push(tokio_sleep(rate, seconds));
        }
        for (i, name) in ["P50", "P99"].into_iter().enumerate() {
            let column = |all: &[[f64; 2]]| all.iter().map(|r| r[i]).collect::<Vec<_>>();
            let (a, b) = (column(&own), column(&other));
            report(&format!("{rate}/s: openloop, lateness {name}"), "µs", &a, Target::None);
            report("  tokio's sleep", "µs", &b, Target::None);
            let share: Vec<_> = a.iter().zip(&b).map(|(a, b)| a / b).collect();
            let judged = i == 1 || rate < 20_000.0;
            report("  share", "", &[median(&share)], if judged { Target::AtMost(0.2) } else { Target::None });
        }
    }
}
