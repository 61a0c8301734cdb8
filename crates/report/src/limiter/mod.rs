//! Which resource was full while streams were measured, or that none was.

use crate::{
    format::{clean, list, percent},
    stats::median,
};
use load_core::{
    Record,
    record::{Phase, Series},
};
use std::{collections::BTreeMap, fmt};

/// From this mean share of a phase on, a resource of the machine or of a server counts as full. Below 1, as readings of a
/// second and a phase that does not begin with one give up a few percent.
pub const FULL: f64 = 0.90;
/// The same of the load generator's busiest thread: where the verdict's rule begins to doubt it.
pub const GENERATOR_FULL: f64 = 0.80;

/// What the readings say of one phase; `Display` writes it as a line.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Limiter {
    /// The phase.
    pub phase: String,
    /// What could be full, the fullest first, of each kind the fullest one.
    pub used: Vec<Used>,
    /// Kinds of which nothing was read in this phase.
    pub not_measured: Vec<&'static str>,
}

/// How full one resource was.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Used {
    /// The kind: `"host CPU"`, `"one core of a server"`, ...
    pub kind: &'static str,
    /// Which one, when there are several: the process, the disk, the stream.
    pub name: String,
    /// Mean share over the phase, the median of the rounds.
    pub share: f64,
    /// Whether that is full.
    pub full: bool,
}

const HOST: &str = "host CPU";
const LIMIT: &str = "CPU limit";
const CORE: &str = "one core of a server";
const DISK: &str = "disk";
const GENERATOR: &str = "load generator";

/// For each phase of the record which resource was full. Means are by time over the phase, of its rounds the median; a
/// reading counts for the time since the one before it, and not at all when there was a gap between them.
pub fn limiter(record: &Record) -> Vec<Limiter> {
    let mut names: Vec<&str> = Vec::new();
    for phase in &record.phases {
        if !names.contains(&phase.name.as_str()) {
            names.push(&phase.name);
        }
    }
    names.into_iter().map(|name| of_phase(record, name)).collect()
}

fn of_phase(record: &Record, name: &str) -> Limiter {
    let phases: Vec<&Phase> = record.phases.iter().filter(|p| p.name == name).collect();
    let mut all: Vec<Used> = Vec::new();
    for series in &record.series {
        let Some((kind, which)) = kind(&series.name) else { continue };
        if let Some(share) = median(phases.iter().filter_map(|p| mean_within(series, p))) {
            all.push(Used { kind, name: which.into(), share, full: share >= FULL });
        }
    }
    // The engine's own threads are in the evidence of its streams, whatever was sampled.
    let mut streams: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for s in record.streams.iter().filter(|s| s.phase == name) {
        let figure = s.verdict.evidence.get("generator_cpu").and_then(|f| f.number());
        streams.entry(&s.name).or_default().extend(figure);
    }
    for (stream, shares) in &streams {
        if let Some(share) = median(shares.iter().copied()) {
            all.push(Used { kind: GENERATOR, name: (*stream).into(), share, full: share >= GENERATOR_FULL });
        }
    }
    all.sort_by(|a, b| b.share.total_cmp(&a.share));
    let mut used: Vec<Used> = Vec::new();
    for one in all {
        // All that are full are named, of the others the fullest of its kind.
        if one.full || !used.iter().any(|u| u.kind == one.kind) {
            used.push(one);
        }
    }
    // A phase without streams has no generator to be read.
    let expected = [HOST, CORE, DISK].into_iter().chain((!streams.is_empty()).then_some(GENERATOR));
    let not_measured = expected.filter(|kind| !used.iter().any(|u| u.kind == *kind)).collect();
    Limiter { phase: name.into(), used, not_measured }
}

/// What a series is about: a kind of resource and which one.
fn kind(series: &str) -> Option<(&'static str, &str)> {
    if series == "host.cpu.busy" {
        return Some((HOST, ""));
    }
    let between = |prefix: &str, suffix: &str| series.strip_prefix(prefix)?.strip_suffix(suffix);
    None.or_else(|| Some((CORE, between("process.", ".cpu.busiest_thread")?)))
        .or_else(|| Some((DISK, between("host.disk.", ".busy")?)))
        .or_else(|| Some((LIMIT, between("cgroup.", ".cpu.of_limit")?)))
        .or_else(|| Some((LIMIT, between("container.", ".cpu.of_limit")?)))
}

/// The mean by time of what a series says of a phase; `None` when nothing was read of it.
pub fn mean_within(series: &Series, phase: &Phase) -> Option<f64> {
    let (mut sum, mut time) = (0.0, 0.0);
    for two in series.points.windows(2) {
        let [(before, _), (at, value)] = *two else { continue };
        let from = before.max(phase.start_ns);
        let to = at.min(phase.end_ns);
        let gap = series.gaps.iter().any(|(t, _)| (before..=at).contains(t));
        if to > from && !gap && value.is_finite() {
            sum += value * (to - from) as f64;
            time += (to - from) as f64;
        }
    }
    (time > 0.0).then(|| sum / time)
}

impl Limiter {
    /// What was full.
    pub fn full(&self) -> impl Iterator<Item = &Used> {
        self.used.iter().filter(|u| u.full)
    }
}

impl fmt::Display for Used {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)?;
        if !self.name.is_empty() {
            write!(f, " ({})", clean(&self.name))?;
        }
        write!(f, " {}", percent(self.share))
    }
}

impl fmt::Display for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "limiter, {}: ", clean(&self.phase))?;
        let words = |used: Vec<&Used>| list(&used.iter().map(|u| u.to_string()).collect::<Vec<_>>());
        let (full, rest): (Vec<&Used>, Vec<&Used>) = self.used.iter().partition(|u| u.full);
        match (full.is_empty(), rest.is_empty()) {
            (true, true) => f.write_str("not known, nothing was read")?,
            (true, false) => write!(f, "none of what was read was full: {}", words(rest))?,
            (false, true) => write!(f, "{} full", words(full))?,
            (false, false) => write!(f, "{} full; not full: {}", words(full), words(rest))?,
        }
        if !self.not_measured.is_empty() && !self.used.is_empty() {
            let names: Vec<String> = self.not_measured.iter().map(|n| n.to_string()).collect();
            write!(f, "; not measured: {}", list(&names))?;
        }
        Ok(())
    }
}
