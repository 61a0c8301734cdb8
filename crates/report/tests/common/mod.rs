//! Records made by hand, with figures that are easy to check.
#![allow(dead_code, unreachable_pub, missing_docs)]

use load_core::{
    Accounting, Class, Figure, Histogram, Record, Verdict,
    record::{Check, Distribution, FailureCount, Phase, Series, Server, StreamRecord},
};

pub const MS: u64 = 1_000_000;
pub const S: u64 = 1_000_000_000;

/// The durations as a distribution.
pub fn distribution(ns: impl IntoIterator<Item = u64>) -> Option<Distribution> {
    let mut h = Histogram::new();
    ns.into_iter().for_each(|x| h.record(x));
    Distribution::of(&h)
}

/// `n` durations from `low` on, one `step` apart.
pub fn ladder(n: u64, low: u64, step: u64) -> Option<Distribution> {
    distribution((0..n).map(|i| low + i * step))
}

pub fn evidence(figures: &[(&str, f64)]) -> Verdict {
    Verdict::judge(figures.iter().map(|(k, v)| (k.to_string(), Figure::from(Some(*v)))).collect())
}

/// A closed loop of `n` successes between 1 ms and about 2 ms in 1 s.
pub fn closed(name: &str, level: u64, round: u32, n: u64) -> StreamRecord {
    let mut s = StreamRecord::default();
    s.name = name.into();
    s.workload = "GET /".into();
    s.phase = "measure".into();
    s.level = level.to_string();
    s.round = round;
    s.load.kind = "closed".into();
    s.load.concurrency = level;
    s.load.workers = 1;
    s.elapsed_ns = S;
    books(&mut s, n, 0);
    s.response = ladder(n, MS, MS / n.max(1));
    s.service = s.response.clone();
    s.wait = distribution((0..n).map(|_| 0));
    s.connects.ok = level;
    s.connects.open_at_start = level;
    s.connects.time = ladder(level, 100_000, 1_000);
    s.verdict = evidence(&[("in_flight", 0.99), ("generator_cpu", 0.34), ("samples", n as f64)]);
    s
}

/// Successes and failures, all sent, all ended.
pub fn books(s: &mut StreamRecord, succeeded: u64, failed: u64) {
    let mut a = Accounting::default();
    (a.scheduled, a.started) = (succeeded + failed, succeeded + failed);
    (a.succeeded, a.failed) = (succeeded, failed);
    s.accounting = a;
    s.failures.clear();
    if failed > 0 {
        s.failures.push(FailureCount::new(Class::Timeout, "5s", failed, "no answer within 5 s"));
    }
    let seconds = s.elapsed_ns as f64 / 1e9;
    (s.offered_per_s, s.succeeded_per_s) = (a.scheduled as f64 / seconds, succeeded as f64 / seconds);
    s.completed_per_s = a.scheduled as f64 / seconds;
}

/// A server that does 5/s is offered 10/s for 30 s with 10 sessions.
pub fn overloaded(round: u32) -> StreamRecord {
    let mut s = StreamRecord::default();
    (s.name, s.phase, s.level, s.round) = ("api".into(), "measure".into(), "10/s".into(), round);
    s.load.kind = "open".into();
    (s.load.concurrency, s.load.workers) = (10, 1);
    s.load.schedule = Some("constant 10/s".into());
    s.load.overload = Some("queue(100000)".into());
    s.elapsed_ns = 30 * S;
    s.drain_ns = 2 * S;
    let mut a = Accounting::default();
    (a.scheduled, a.started, a.succeeded, a.unfinished) = (300, 150, 150, 150);
    s.accounting = a;
    (s.offered_per_s, s.succeeded_per_s, s.completed_per_s) = (10.0, 5.0, 5.0);
    s.service = ladder(150, 2 * S, 0);
    s.wait = ladder(150, 0, 100 * MS);
    s.response = ladder(150, 2 * S, 100 * MS);
    s.lateness = ladder(300, 20_000, 10);
    s.loop_lag = ladder(300, 5_000, 10);
    s.censored = ladder(150, MS, 100 * MS);
    (s.connects.ok, s.connects.open_at_start) = (10, 10);
    s.verdict = evidence(&[("generator_cpu", 0.02), ("lateness", 0.00001)]);
    s.verdict.findings.push("server saturated".into());
    s
}

pub fn record(experiment: &str, streams: Vec<StreamRecord>) -> Record {
    let mut r = Record::new(experiment, "2026-01-01T00:00:00Z");
    r.seed = 42;
    r.plan_hash = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a".into();
    let m = &mut r.method;
    (m.warmup_ns, m.measure_ns, m.drain_limit_ns, m.window_ns) = (S, Some(S), 5 * S, S);
    m.rounds = streams.iter().map(|s| s.round).max().unwrap_or(0);
    m.percentile_rule = "nearest rank".into();
    r.phases.push(Phase::new("measure", 1, S, 2 * S));
    r.streams = streams;
    r.judge();
    r
}

/// Three levels, three rounds.
pub fn nginx() -> Record {
    let mut streams = Vec::new();
    for round in 1..=3 {
        for level in [10, 50, 100] {
            streams.push(closed("nginx", level, round, 1000 + level * 10 + u64::from(round)));
        }
    }
    let mut r = record("nginx_static", streams);
    r.method.levels = vec!["10".into(), "50".into(), "100".into()];
    r.method.level_order = "rotated".into();
    let e = &mut r.environment;
    (e.host, e.os, e.kernel) = (Some("box".into()), Some("Debian 13".into()), Some("6.12".into()));
    (e.cores, e.memory_bytes) = (Some(2), Some(8 << 30));
    e.servers.insert("nginx".into(), Server::new("1.26.3").setting("worker_processes", "1"));
    let mut cpu = Series::new("host.cpu.busy", "1", "/proc/stat");
    cpu.points = vec![(0, 0.5), (S, 0.7)];
    r.series.push(cpu);
    r.checks.push(Check::new("nginx.reload", true, 660 * MS, "answered all the while"));
    r
}
