//! One figure of a stream.

use load_core::record::{Distribution, StreamRecord};

/// What a figure is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Nanoseconds.
    Time,
    /// A ratio; 1 is all.
    Share,
    /// A number of things.
    Count,
    /// Per second.
    Rate,
    /// Bytes.
    Bytes,
}

/// A figure that a stream's record has, or has not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Metric {
    /// Of a distribution: `response.p95`, `steps.body.mean`, `operations.hit.service.p99`, `connects.steps.tls.p95`.
    Of(Source, Stat),
    /// A plain number: `succeeded_per_s`, `accounting.failed`.
    Plain(&'static str),
    /// `counters.NAME`.
    Counter(String),
    /// `operations.KIND.count` and `operations.KIND.failed`.
    Kind(String, &'static str),
    /// `evidence.RULE`.
    Evidence(String),
}

/// Where a distribution is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Time(&'static str),
    Step(String),
    Kind(String),
    Connecting,
    ConnectStep(String),
}

/// What is taken from a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stat {
    Count,
    Min,
    Mean,
    Stddev,
    Max,
    P50,
    P75,
    P90,
    P95,
    P99,
    P999,
    P9999,
}

const TIMES: [&str; 8] =
    ["response", "service", "wait", "lateness", "dispatch", "loop_lag", "failed_service", "censored"];

const STATS: [(&str, Stat); 12] = [
    ("count", Stat::Count),
    ("min", Stat::Min),
    ("mean", Stat::Mean),
    ("stddev", Stat::Stddev),
    ("max", Stat::Max),
    ("p50", Stat::P50),
    ("p75", Stat::P75),
    ("p90", Stat::P90),
    ("p95", Stat::P95),
    ("p99", Stat::P99),
    ("p999", Stat::P999),
    ("p9999", Stat::P9999),
];

type Get = fn(&StreamRecord) -> Option<f64>;

/// Rates, and shares of what ended, exist only when something was measured.
const PLAIN: [(&str, Unit, Get); 22] = [
    ("offered_per_s", Unit::Rate, |s| (s.elapsed_ns > 0).then_some(s.offered_per_s)),
    ("succeeded_per_s", Unit::Rate, |s| (s.elapsed_ns > 0).then_some(s.succeeded_per_s)),
    ("completed_per_s", Unit::Rate, |s| (s.elapsed_ns > 0).then_some(s.completed_per_s)),
    ("elapsed", Unit::Time, |s| Some(s.elapsed_ns as f64)),
    ("drain", Unit::Time, |s| Some(s.drain_ns as f64)),
    ("bytes_in", Unit::Bytes, |s| Some(s.bytes_in as f64)),
    ("bytes_out", Unit::Bytes, |s| Some(s.bytes_out as f64)),
    ("units", Unit::Count, |s| Some(s.units as f64)),
    ("failed_units", Unit::Count, |s| Some(s.failed_units as f64)),
    ("accounting.scheduled", Unit::Count, |s| Some(s.accounting.scheduled as f64)),
    ("accounting.started", Unit::Count, |s| Some(s.accounting.started as f64)),
    ("accounting.succeeded", Unit::Count, |s| Some(s.accounting.succeeded as f64)),
    ("accounting.failed", Unit::Count, |s| Some(s.accounting.failed as f64)),
    ("accounting.dropped", Unit::Count, |s| Some(s.accounting.dropped as f64)),
    ("accounting.skipped", Unit::Count, |s| Some(s.accounting.skipped as f64)),
    ("accounting.unfinished", Unit::Count, |s| Some(s.accounting.unfinished as f64)),
    ("accounting.unknown", Unit::Count, |s| Some(s.accounting.unknown as f64)),
    ("failed_share", Unit::Share, |s| {
        let (good, bad) = (s.accounting.succeeded as f64, s.accounting.failed as f64);
        (good + bad > 0.0).then(|| bad / (good + bad))
    }),
    ("sent_share", Unit::Share, |s| {
        let (sent, all) = (s.accounting.started as f64, s.accounting.scheduled as f64);
        (all > 0.0).then(|| sent / all)
    }),
    ("connects.ok", Unit::Count, |s| Some(s.connects.ok as f64)),
    ("connects.failed", Unit::Count, |s| Some(s.connects.failed as f64)),
    ("connects.open_at_start", Unit::Count, |s| Some(s.connects.open_at_start as f64)),
];

impl Metric {
    /// The figure of this name.
    pub(crate) fn named(name: &str) -> Option<Metric> {
        if let Some((known, ..)) = PLAIN.iter().find(|(known, ..)| *known == name) {
            return Some(Metric::Plain(known));
        }
        let stat = |name: &str| STATS.iter().find(|(known, _)| *known == name).map(|(_, stat)| *stat);
        let (first, rest) = name.split_once('.')?;
        if let Some(known) = TIMES.iter().find(|known| **known == first) {
            return Some(Metric::Of(Source::Time(known), stat(rest)?));
        }
        // The name within may have dots of its own, so the end is what tells.
        let (inner, last) = rest.rsplit_once('.').unwrap_or((rest, ""));
        match first {
            "counters" if !rest.is_empty() => Some(Metric::Counter(rest.into())),
            "evidence" if !rest.is_empty() => Some(Metric::Evidence(rest.into())),
            "connects" if inner == "time" => Some(Metric::Of(Source::Connecting, stat(last)?)),
            "connects" => {
                Some(Metric::Of(Source::ConnectStep(inner.strip_prefix("steps.")?.into()), stat(last)?))
            }
            "steps" => Some(Metric::Of(Source::Step(inner.into()), stat(last)?)),
            "operations" => match (last, inner.strip_suffix(".service")) {
                ("count", None) => Some(Metric::Kind(inner.into(), "count")),
                ("failed", None) => Some(Metric::Kind(inner.into(), "failed")),
                (_, Some(kind)) => Some(Metric::Of(Source::Kind(kind.into()), stat(last)?)),
                _ => None,
            },
            _ => None,
        }
    }

    pub(crate) fn unit(&self) -> Unit {
        match self {
            Metric::Of(_, Stat::Count) | Metric::Counter(_) | Metric::Kind(..) => Unit::Count,
            Metric::Of(..) => Unit::Time,
            Metric::Plain(name) => {
                PLAIN.iter().find(|(known, ..)| known == name).map_or(Unit::Count, |(_, unit, _)| *unit)
            }
            Metric::Evidence(_) => Unit::Share,
        }
    }

    /// The figure, when the stream has it.
    pub(crate) fn of(&self, s: &StreamRecord) -> Option<f64> {
        let x = match self {
            Metric::Of(source, stat) => stat.of(source.of(s).filter(|d| d.count > 0)?),
            Metric::Plain(name) => PLAIN.iter().find(|(known, ..)| known == name)?.2(s)?,
            Metric::Counter(name) => *s.counters.get(name)? as f64,
            Metric::Kind(kind, "failed") => s.operations.get(kind)?.failed as f64,
            Metric::Kind(kind, _) => s.operations.get(kind)?.count as f64,
            Metric::Evidence(rule) => s.verdict.evidence.get(rule)?.number()?,
        };
        x.is_finite().then_some(x)
    }
}

impl Source {
    fn of<'a>(&self, s: &'a StreamRecord) -> Option<&'a Distribution> {
        match self {
            Source::Step(name) => s.steps.get(name),
            Source::Connecting => s.connects.time.as_ref(),
            Source::ConnectStep(name) => s.connects.steps.get(name),
            Source::Kind(name) => s.operations.get(name)?.service.as_ref(),
            Source::Time(name) => match *name {
                "response" => s.response.as_ref(),
                "service" => s.service.as_ref(),
                "wait" => s.wait.as_ref(),
                "lateness" => s.lateness.as_ref(),
                "dispatch" => s.dispatch.as_ref(),
                "loop_lag" => s.loop_lag.as_ref(),
                "failed_service" => s.failed_service.as_ref(),
                "censored" => s.censored.as_ref(),
                _ => None,
            },
        }
    }
}

impl Stat {
    fn of(self, d: &Distribution) -> f64 {
        match self {
            Stat::Count => d.count as f64,
            Stat::Min => d.min_ns as f64,
            Stat::Mean => d.mean_ns,
            Stat::Stddev => d.stddev_ns,
            Stat::Max => d.max_ns as f64,
            Stat::P50 => d.p50_ns as f64,
            Stat::P75 => d.p75_ns as f64,
            Stat::P90 => d.p90_ns as f64,
            Stat::P95 => d.p95_ns as f64,
            Stat::P99 => d.p99_ns as f64,
            Stat::P999 => d.p999_ns as f64,
            Stat::P9999 => d.p9999_ns as f64,
        }
    }
}
