//! A line for each stream.

use super::{KEYS, Out, keys, number, text};
use crate::metric::Metric;
use load_core::Record;

const PLAIN: [&str; 19] = [
    "elapsed",
    "accounting.scheduled",
    "accounting.started",
    "accounting.succeeded",
    "accounting.failed",
    "accounting.dropped",
    "accounting.skipped",
    "accounting.unfinished",
    "accounting.unknown",
    "offered_per_s",
    "succeeded_per_s",
    "completed_per_s",
    "bytes_in",
    "bytes_out",
    "units",
    "failed_units",
    "connects.ok",
    "connects.failed",
    "connects.open_at_start",
];
const TIMES: [&str; 8] =
    ["response", "service", "wait", "lateness", "dispatch", "loop_lag", "failed_service", "censored"];
const STATS: [&str; 12] =
    ["count", "min", "mean", "stddev", "p50", "p75", "p90", "p95", "p99", "p999", "p9999", "max"];

pub(super) fn write(record: &Record, out: &mut Out) -> Result<(), ::csv::Error> {
    let plain = PLAIN.iter().map(|name| name.to_string());
    let times = TIMES.iter().flat_map(|time| STATS.iter().map(move |stat| format!("{time}.{stat}")));
    let metrics: Vec<(String, Metric)> =
        plain.chain(times).filter_map(|name| Some((name.clone(), Metric::named(&name)?))).collect();
    let mut head: Vec<String> = KEYS.map(Into::into).into();
    head.extend(["verdict", "load", "concurrency", "workers", "schedule", "overload"].map(Into::into));
    head.extend(metrics.iter().map(|(name, metric)| match metric.unit() {
        crate::metric::Unit::Time => format!("{}_ns", name.replace("accounting.", "").replace('.', "_")),
        _ => name.replace("accounting.", "").replace('.', "_"),
    }));
    out.write_record(&head)?;
    for s in &record.streams {
        let mut line = keys(s);
        let load = &s.load;
        line.extend([s.verdict.status.to_string(), text(&load.kind)]);
        line.extend([load.concurrency.to_string(), load.workers.to_string()]);
        line.extend([&load.schedule, &load.overload].map(|t| text(t.as_deref().unwrap_or(""))));
        line.extend(metrics.iter().map(|(_, metric)| number(metric.of(s))));
        out.write_record(&line)?;
    }
    Ok(())
}
