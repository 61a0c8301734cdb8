//! One stream of several shards.

use super::verdict;
use crate::ReportError;
use load_core::{
    Accounting, Histogram,
    record::{Connects, Distribution, FailureCount, Operations, StreamRecord, Window},
};
use std::collections::{BTreeMap, BTreeSet};

type Part<'a> = (usize, &'a StreamRecord);

/// Merges what each shard has of a stream; `offsets` moves each shard's times to the common clock.
pub(super) fn merge(parts: &[Option<&StreamRecord>], offsets: &[u64]) -> Result<StreamRecord, ReportError> {
    let parts: Vec<Part<'_>> = parts.iter().enumerate().filter_map(|(i, p)| Some((i, (*p)?))).collect();
    let mut m = StreamRecord::default();
    if let Some((_, first)) = parts.first() {
        (m.name, m.workload, m.phase) = (first.name.clone(), first.workload.clone(), first.phase.clone());
        (m.level, m.round) = (first.level.clone(), first.round);
        m.load = first.load.clone();
    }
    let sum = |get: fn(&StreamRecord) -> u64| parts.iter().map(|(_, s)| get(s)).fold(0, u64::saturating_add);
    m.load.concurrency = sum(|s| s.load.concurrency);
    m.load.workers = sum(|s| s.load.workers);
    m.load.schedule = texts(parts.iter().filter_map(|(_, s)| s.load.schedule.as_deref()));
    m.load.overload = texts(parts.iter().filter_map(|(_, s)| s.load.overload.as_deref()));
    for (_, s) in &parts {
        add(&mut m.accounting, &s.accounting);
        add(&mut m.warmup.accounting, &s.warmup.accounting);
        m.offered_per_s += s.offered_per_s;
        m.succeeded_per_s += s.succeeded_per_s;
        m.completed_per_s += s.completed_per_s;
        m.elapsed_ns = m.elapsed_ns.max(s.elapsed_ns);
        m.drain_ns = m.drain_ns.max(s.drain_ns);
        for (name, n) in &s.counters {
            let sum = m.counters.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*n);
        }
    }
    (m.bytes_in, m.bytes_out) = (sum(|s| s.bytes_in), sum(|s| s.bytes_out));
    (m.units, m.failed_units) = (sum(|s| s.units), sum(|s| s.failed_units));
    m.carried_in = sum(|s| s.carried_in);
    m.connects = connects(&parts)?;
    let merged =
        |get: fn(&StreamRecord) -> Option<&Distribution>| together(parts.iter().map(|(_, s)| get(s)));
    m.response = merged(|s| s.response.as_ref())?;
    m.service = merged(|s| s.service.as_ref())?;
    m.wait = merged(|s| s.wait.as_ref())?;
    m.lateness = merged(|s| s.lateness.as_ref())?;
    m.dispatch = merged(|s| s.dispatch.as_ref())?;
    m.loop_lag = merged(|s| s.loop_lag.as_ref())?;
    m.failed_service = merged(|s| s.failed_service.as_ref())?;
    m.censored = merged(|s| s.censored.as_ref())?;
    m.steps = steps(&parts, |s| &s.steps)?;
    m.operations = operations(&parts)?;
    m.failures = failures(parts.iter().flat_map(|(_, s)| &s.failures));
    m.facts = facts(&parts);
    m.windows = windows(&parts, offsets);
    m.verdict = verdict::merge(parts.iter().map(|(i, s)| (*i, &s.verdict)));
    Ok(m)
}

fn add(to: &mut Accounting, a: &Accounting) {
    for (to, a) in [
        (&mut to.scheduled, a.scheduled),
        (&mut to.started, a.started),
        (&mut to.succeeded, a.succeeded),
        (&mut to.failed, a.failed),
        (&mut to.dropped, a.dropped),
        (&mut to.skipped, a.skipped),
        (&mut to.unfinished, a.unfinished),
        (&mut to.unknown, a.unknown),
    ] {
        *to = to.saturating_add(a);
    }
}

/// One text when all are the same, else all.
fn texts<'a>(texts: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut seen: Vec<&str> = Vec::new();
    texts.for_each(|t| {
        if !seen.contains(&t) {
            seen.push(t)
        }
    });
    (!seen.is_empty()).then(|| seen.join("; "))
}

/// Steps by name, each in one.
fn steps(
    parts: &[Part<'_>],
    of: fn(&StreamRecord) -> &BTreeMap<String, Distribution>,
) -> Result<BTreeMap<String, Distribution>, ReportError> {
    let names: BTreeSet<&String> = parts.iter().flat_map(|(_, s)| of(s).keys()).collect();
    let mut steps = BTreeMap::new();
    for name in names {
        let step = together(parts.iter().map(|(_, s)| of(s).get(name)))?;
        steps.extend(step.map(|d| (name.clone(), d)));
    }
    Ok(steps)
}

/// The histograms in one.
fn together<'a>(
    parts: impl Iterator<Item = Option<&'a Distribution>>,
) -> Result<Option<Distribution>, ReportError> {
    let mut all: Option<Histogram> = None;
    let mut count = 0u64;
    for d in parts.flatten() {
        let h = d.histogram()?;
        count = sound(d, &h, count).map_err(|why| ReportError::Damaged { why })?;
        match &mut all {
            Some(all) => all.add(&h),
            None => all = Some(h),
        }
    }
    Ok(all.as_ref().and_then(Distribution::of))
}

/// Whether figures and histogram fit together, so that adding them makes sense; the number of samples so far.
fn sound(d: &Distribution, h: &Histogram, before: u64) -> Result<u64, String> {
    let within = d.mean_ns >= 0.0 && d.mean_ns <= 1.0 + d.max_ns as f64 * (1.0 + 1e-9);
    match before.checked_add(d.count) {
        _ if h.count() != d.count => Err(format!("{} samples, but {} in the histogram", d.count, h.count())),
        _ if !within => Err(format!("a mean of {} with a maximum of {}", d.mean_ns, d.max_ns)),
        _ if d.out_of_range > d.count => {
            Err(format!("{} of {} samples out of range", d.out_of_range, d.count))
        }
        None => Err("more samples than can be counted".into()),
        Some(count) => Ok(count),
    }
}

fn failures<'a>(failures: impl Iterator<Item = &'a FailureCount>) -> Vec<FailureCount> {
    let mut all: Vec<FailureCount> = Vec::new();
    for f in failures {
        match all.iter_mut().find(|a| a.class == f.class && a.code == f.code) {
            Some(known) => known.count = known.count.saturating_add(f.count),
            None => all.push(f.clone()),
        }
    }
    all
}

fn connects(parts: &[Part<'_>]) -> Result<Connects, ReportError> {
    let sum =
        |get: fn(&Connects) -> u64| parts.iter().map(|(_, s)| get(&s.connects)).fold(0, u64::saturating_add);
    let mut c = Connects::default();
    (c.ok, c.failed, c.open_at_start) = (sum(|c| c.ok), sum(|c| c.failed), sum(|c| c.open_at_start));
    c.failures = failures(parts.iter().flat_map(|(_, s)| &s.connects.failures));
    c.time = together(parts.iter().map(|(_, s)| s.connects.time.as_ref()))?;
    c.steps = steps(parts, |s| &s.connects.steps)?;
    Ok(c)
}

fn operations(parts: &[Part<'_>]) -> Result<BTreeMap<String, Operations>, ReportError> {
    let names: BTreeSet<&String> = parts.iter().flat_map(|(_, s)| s.operations.keys()).collect();
    let mut all = BTreeMap::new();
    for name in names {
        let of: Vec<&Operations> = parts.iter().filter_map(|(_, s)| s.operations.get(name)).collect();
        let mut o = Operations::default();
        o.count = of.iter().map(|o| o.count).fold(0, u64::saturating_add);
        o.failed = of.iter().map(|o| o.failed).fold(0, u64::saturating_add);
        o.service = together(of.iter().map(|o| o.service.as_ref()))?;
        all.insert(name.clone(), o);
    }
    Ok(all)
}

/// A fact that all share stands once, others by shard.
fn facts(parts: &[Part<'_>]) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (i, s) in parts {
        for (name, text) in &s.facts {
            let shared = parts.iter().all(|(_, other)| other.facts.get(name) == Some(text));
            let name = if shared { name.clone() } else { format!("{name} (shard {})", i + 1) };
            all.insert(name, text.clone());
        }
    }
    all
}

/// Windows by their number in the phase; they last from the earliest start to the latest end.
fn windows(parts: &[Part<'_>], offsets: &[u64]) -> Vec<Window> {
    let longest = parts.iter().map(|(_, s)| s.windows.len()).max().unwrap_or(0);
    (0..longest)
        .map(|n| {
            let mut merged = Window::default();
            merged.start_ns = u64::MAX;
            let of: Vec<(usize, &Window)> =
                parts.iter().filter_map(|(i, s)| Some((*i, s.windows.get(n)?))).collect();
            for (i, w) in &of {
                let at = |ns: u64| ns.saturating_add(offsets.get(*i).copied().unwrap_or(0));
                merged.start_ns = merged.start_ns.min(at(w.start_ns));
                merged.end_ns = merged.end_ns.max(at(w.end_ns));
                merged.drain |= w.drain;
                merged.succeeded = merged.succeeded.saturating_add(w.succeeded);
                merged.failed = merged.failed.saturating_add(w.failed);
                merged.per_s += w.per_s;
            }
            if let [(_, only)] = of.as_slice() {
                (merged.p50_ns, merged.p95_ns, merged.p99_ns) = (only.p50_ns, only.p95_ns, only.p99_ns);
            }
            merged
        })
        .collect()
}
