//! Half an hour at full speed: what an operation costs must not depend on how many there have been.

use openloop::{
    prelude::*,
    record::Series,
    redis::{Command, Target},
    sampler::Sampler,
    testbed,
};
use openloop_tests::{check, full, skip};
use std::time::Duration;

/// The values of a series within a part of the phase.
fn values(series: &[Series], name: &str, from: u64, to: u64) -> Vec<f64> {
    let all = series.iter().find(|s| s.name == name).unwrap_or_else(|| panic!("no series {name}"));
    all.points.iter().filter(|(t, _)| (from..to).contains(t)).map(|(_, value)| *value).collect()
}

fn mean(values: &[f64]) -> f64 {
    assert!(!values.is_empty(), "nothing was read");
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn alone_memory_that_grows_and_speed_that_falls_with_time() {
    if !testbed::installed("redis-server") {
        return skip("soak", "redis is not installed");
    }
    let server = testbed::Redis::builder().start_blocking().unwrap();
    // The generator is read once a second.
    let (parts, part) = if full() { (30, Duration::from_secs(60)) } else { (3, Duration::from_secs(2)) };
    // The cheapest answer that a real server gives over a real socket, so that the client is what there is most of.
    let target = Target::url(&server.url_with_password()).unwrap().database(15);
    let space = target.isolate().open_blocking().unwrap();
    let ping = Redis::within(&space).command(Command::ping()).build().unwrap();
    let plan = Plan::new()
        .stream("ping", ping, Load::closed(16).workers(1))
        .measure(part * parts)
        .window(part / 10)
        .calibrate(Duration::ZERO)
        .sample(Sampler::new());
    let record = plan.run().unwrap();
    let cleanup = space.cleanup_blocking();
    assert!(cleanup.passed, "{}", cleanup.detail);
    check(&record);
    let (stream, phase) = (&record.streams[0], &record.phases[0]);
    assert_eq!(stream.accounting.failed, 0, "{:?}", stream.failures);

    let length = part.as_nanos() as u64;
    let parts: Vec<_> = (0..u64::from(parts))
        .map(|i| {
            let (from, to) = (phase.start_ns + i * length, phase.start_ns + (i + 1) * length);
            let ended: u64 = stream
                .windows
                .iter()
                .filter(|w| !w.drain && w.start_ns >= from && w.end_ns <= to)
                .map(|w| w.succeeded)
                .sum();
            let rate = ended as f64 / part.as_secs_f64();
            // Per second that the worker had a processor for: what the machine does beside it does not count.
            let cpu = mean(&values(&record.series, "generator.thread.load-0.cpu", from, to));
            let memory = mean(&values(&record.series, "generator.memory.resident", from, to));
            eprintln!(
                "part {:2}: {rate:8.0}/s, {cpu:.3} of a core, {:8.0} per second of it, {:.2} MiB resident",
                i + 1,
                rate / cpu,
                memory / 1048576.0
            );
            (rate / cpu, memory)
        })
        .collect();
    let (first, last) = (parts[0], parts[parts.len() - 1]);
    let (kept, grown) = (last.0 / first.0, last.1 - parts[1].1);
    eprintln!(
        "{} operations; {kept:.3} of the first part's speed, {grown:.0} bytes more than after it",
        stream.accounting.succeeded
    );
    assert!(
        kept > if full() { 0.95 } else { 0.5 },
        "{} a second of processor time, then {}",
        first.0,
        last.0
    );
    // The series themselves are some hundred kilobytes by then.
    assert!(grown < f64::from(2 << 20), "{grown} bytes more at the end than after the first part");
}
