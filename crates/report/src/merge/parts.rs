//! What is beside the streams: clocks, phases, readings, events, checks, labels, environments.

use crate::format::duration;
use load_core::{
    Record,
    record::{Check, Event, Phase, StreamRecord},
};
use serde_json::json;
use std::time::{Duration, SystemTime};

/// How far each shard's clock starts after the earliest one's, in ns, by their wall clocks; the merged record takes the
/// earliest start. All 0 when one of them cannot be read.
pub(super) fn offsets(shards: &[Record], merged: &mut Record) -> Vec<u64> {
    let starts: Option<Vec<SystemTime>> =
        shards.iter().map(|r| humantime::parse_rfc3339_weak(&r.started_at).ok()).collect();
    let none = vec![0; shards.len()];
    let Some((starts, earliest)) = starts.and_then(|s| Some((s.clone(), *s.iter().min()?))) else {
        return none;
    };
    if let Some(first) = starts.iter().position(|s| *s == earliest) {
        merged.started_at = shards[first].started_at.clone();
    }
    let after = |s: &SystemTime| s.duration_since(earliest).unwrap_or(Duration::ZERO).as_nanos();
    starts.iter().map(|s| u64::try_from(after(s)).unwrap_or(u64::MAX)).collect()
}

pub(super) fn beside_the_load(shards: &[Record], offsets: &[u64], merged: &mut Record) {
    for (i, (r, offset)) in shards.iter().zip(offsets).enumerate() {
        let at = |ns: u64| ns.saturating_add(*offset);
        for (label, text) in &r.labels {
            let known = merged.labels.entry(label.clone()).or_insert_with(|| text.clone());
            if known != text {
                *known = format!("{known}; {text}");
            }
        }
        for p in &r.phases {
            let same = |m: &&mut Phase| (&m.name, m.round) == (&p.name, p.round);
            match merged.phases.iter_mut().find(same) {
                Some(m) => {
                    m.start_ns = m.start_ns.min(at(p.start_ns));
                    m.end_ns = m.end_ns.max(at(p.end_ns));
                }
                None => merged.phases.push(Phase::new(p.name.clone(), p.round, at(p.start_ns), at(p.end_ns))),
            }
        }
        let number = i + 1;
        for s in &r.series {
            let mut s = s.clone();
            s.name = format!("shard{number}.{}", s.name);
            s.points.iter_mut().for_each(|(t, _)| *t = at(*t));
            s.gaps.iter_mut().for_each(|(t, _)| *t = at(*t));
            merged.series.push(s);
        }
        let events = r.events.iter();
        merged.events.extend(
            events.map(|e| Event::new(at(e.t_ns), format!("shard{number}.{}", e.what), e.detail.clone())),
        );
        // Programs look for checks by their names, so these stay.
        let checks = r.checks.iter();
        merged.checks.extend(checks.map(|c| {
            Check::new(c.name.clone(), c.passed, c.elapsed_ns, format!("shard {number}: {}", c.detail))
        }));
    }
    merged.events.sort_by_key(|e| e.t_ns);
    if let Some(first) = shards.first() {
        merged.environment = first.environment.clone();
        if shards.iter().any(|r| r.environment != first.environment) {
            let all: Vec<_> = shards.iter().map(|r| json!(r.environment)).collect();
            merged.environment.more.insert("shards".into(), json!(all));
        }
    }
}

/// Says so when the shards did not measure a stream at the same time: their phases began more than a tenth of the phase, and
/// more than 100 ms, apart.
pub(super) fn apart(shards: &[Record], offsets: &[u64], s: &StreamRecord) -> Option<String> {
    let phases = shards.iter().zip(offsets).filter_map(|(r, offset)| {
        let phase = r.phases.iter().find(|p| p.name == s.phase && p.round == s.round)?;
        // Where each level has a phase of its own under one name, their starts say nothing.
        let alone = r.phases.iter().filter(|p| p.name == s.phase && p.round == s.round).count() == 1;
        alone.then(|| phase.start_ns.saturating_add(*offset))
    });
    let starts: Vec<u64> = phases.collect();
    let apart = starts.iter().max()? - starts.iter().min()?;
    (apart > 100_000_000 && apart > s.elapsed_ns / 10).then(|| {
        format!("the shards began {} apart, so their rates are not of the same time", duration(apart))
    })
}
