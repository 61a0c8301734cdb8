//! One record of the shards of a run that several processes made together.

mod parts;
mod stream;
mod verdict;

use crate::{Difference, ReportError, Rounds};
use load_core::{Record, record::StreamRecord};
use std::collections::{BTreeMap, BTreeSet};

/// Makes one record of the records of shards: counts and rates are added, histograms are merged (percentiles are those of all
/// operations together, never means of percentiles), readings and events are kept by shard under `shard1.` and so on, times
/// are moved to the clock of the earliest by the wall-clock times at which they started.
///
/// Nothing is scaled up: a stream that one of the shards lacks is merged from the others, and the record is labelled
/// `incomplete` and that stream at best suspect. The same holds for shards that did not measure at the same time. Percentiles of
/// windows cannot be merged and are left out. Hold thresholds against the merged record, not against its parts.
///
/// # Errors
/// [`ReportError::NotComparable`] when the shards are not of the same plan and method, [`ReportError::Setting`] when there is
/// none or one is given twice, [`ReportError::Record`] when a histogram cannot be read.
pub fn merge(shards: &[Record]) -> Result<Record, ReportError> {
    let Some(first) = shards.first() else {
        return Err(ReportError::Setting {
            field: "shards",
            value: "none".into(),
            why: "at least one record",
        });
    };
    same_run(shards)?;
    given_once(shards)?;
    let mut merged = Record::new(first.experiment.clone(), first.started_at.clone());
    merged.seed = first.seed;
    merged.plan_hash = first.plan_hash.clone();
    merged.method = first.method.clone();
    merged.method.settings.remove(SHARD);
    merged.interrupted = shards.iter().any(|r| r.interrupted);
    let offsets = parts::offsets(shards, &mut merged);
    parts::beside_the_load(shards, &offsets, &mut merged);

    let mut missing = Vec::new();
    let mut keys = BTreeSet::new();
    for s in shards.iter().flat_map(|r| &r.streams) {
        if !keys.insert(key(s)) {
            continue;
        }
        let parts: Vec<Option<&StreamRecord>> =
            shards.iter().map(|r| r.streams.iter().find(|other| key(other) == key(s))).collect();
        let mut stream = stream::merge(&parts, &offsets)?;
        let lacking: Vec<String> =
            (1..).zip(&parts).filter(|(_, p)| p.is_none()).map(|(i, _)| format!("shard {i}")).collect();
        if !lacking.is_empty() {
            let said = format!("incomplete: {} did not measure it", lacking.join(" and "));
            missing.push(format!("{}: {said}", stream.title()));
            verdict::at_least_suspect(&mut stream.verdict, said);
        }
        if let Some(apart) = parts::apart(shards, &offsets, s) {
            verdict::at_least_suspect(&mut stream.verdict, apart);
        }
        merged.streams.push(stream);
    }
    if !missing.is_empty() {
        merged.labels.insert("incomplete".into(), missing.join("; "));
    }
    if let Some(total) = total(first).filter(|total| *total != shards.len() as u64) {
        let said = format!("{} of {total} shards", shards.len());
        merged.labels.insert("incomplete".into(), said.clone());
        for s in &mut merged.streams {
            verdict::at_least_suspect(&mut s.verdict, format!("incomplete: {said}"));
        }
    }
    merged.judge();
    Ok(merged)
}

/// The setting of the method in which a shard names itself: `"2/3"`.
const SHARD: &str = "shard";

fn key(s: &StreamRecord) -> (&str, &str, &str, u32) {
    (&s.name, &s.phase, &s.level, s.round)
}

fn shard(r: &Record) -> Option<&str> {
    r.method.settings.get(SHARD)?.as_str()
}

fn total(r: &Record) -> Option<u64> {
    shard(r)?.split_once('/')?.1.trim().parse().ok()
}

fn given_once(shards: &[Record]) -> Result<(), ReportError> {
    let mut seen = BTreeSet::new();
    match shards.iter().filter_map(shard).find(|s| !seen.insert(*s)) {
        None => Ok(()),
        Some(twice) => Err(ReportError::Setting {
            field: "shard",
            value: twice.into(),
            why: "given once: two records say that they are this shard",
        }),
    }
}

/// Plan, method and the kinds of load must be the same; how many sessions each has may differ.
fn same_run(shards: &[Record]) -> Result<(), ReportError> {
    let fields = |r: &Record| {
        let mut fields = BTreeMap::from([
            ("experiment".to_string(), r.experiment.clone()),
            ("plan_hash".into(), r.plan_hash.clone()),
        ]);
        let mut method = r.method.clone();
        method.settings.remove(SHARD);
        if let Ok(serde_json::Value::Object(method)) = serde_json::to_value(&method) {
            fields.extend(method.into_iter().map(|(k, v)| (format!("method.{k}"), v.to_string())));
        }
        for g in Rounds::of(r) {
            let load = g.all.first().map(|s| &s.load);
            fields.extend(load.map(|l| (format!("{}.load.kind", g.title()), l.kind.clone())));
        }
        fields
    };
    let first = shards.first().map(fields).unwrap_or_default();
    let mut differences = Vec::new();
    for other in &shards[1..] {
        let other = fields(other);
        for (field, before) in &first {
            if let Some(after) = other.get(field).filter(|after| *after != before) {
                let (field, before, after) = (field.clone(), before.clone(), after.clone());
                differences.push(Difference { field, before, after });
            }
        }
    }
    if differences.is_empty() { Ok(()) } else { Err(ReportError::NotComparable { differences }) }
}
