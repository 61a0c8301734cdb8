//! Which resource was full while streams were measured, or that none was.

mod kinds;

pub use kinds::{FULL, GENERATOR_FULL};

use crate::{
    format::{clean, list, percent},
    stats::median,
};
use kinds::{GENERATOR, KINDS, Kind, share};
use load_core::{
    Record,
    record::{Phase, Series},
};
use std::{collections::BTreeMap, fmt};

/// What the readings say of one phase; `Display` writes it as a line.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Limiter {
    /// The phase.
    pub phase: String,
    /// What could be full, the nearest to its limit first, of each kind the fullest one.
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

/// For each phase of the record which resource was full. Means are by time over the phase, of its rounds the median; a
/// reading counts for the time since the one before it, and not at all when there was a gap between them.
///
/// | kind | from | full at |
/// |---|---|---|
/// | host CPU | `host.cpu.busy` and `.steal` | 90 % |
/// | CPU limit | `cgroup.NAME.cpu.of_limit`, `container.NAME.cpu.of_limit` | 90 % |
/// | periods held back by a CPU limit | `cgroup.NAME.throttled_periods` | 50 % |
/// | one core of a server | `process.NAME.cpu.busiest_thread` | 90 % |
/// | memory | `host.memory.available` of `.total` | 95 % used |
/// | memory limit | `cgroup.NAME.memory.of_limit`, `container.NAME.memory.of_limit` | 95 % |
/// | time waiting for memory | `host.pressure.memory.some` | 10 % |
/// | disk | `host.disk.NAME.busy`; one that serves many requests at once can be busy all the time and do more | 90 % |
/// | network | `host.net.NAME.of_link` | 90 % |
/// | load generator | `generator_cpu` in the evidence of the streams | 80 % |
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
    let mut all: Vec<(&Kind, Used)> = Vec::new();
    for series in &record.series {
        let said: Vec<_> = phases.iter().filter_map(|phase| share(record, series, phase)).collect();
        if let (Some((kind, which, _)), Some(mean)) = (said.last(), median(said.iter().map(|s| s.2))) {
            all.push((kind, Used::of(kind, which, mean)));
        }
    }
    let mut streams: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for s in record.streams.iter().filter(|s| s.phase == name) {
        let figure = s.verdict.evidence.get("generator_cpu").and_then(|f| f.number());
        streams.entry(&s.name).or_default().extend(figure);
    }
    for (stream, shares) in &streams {
        if let Some(share) = median(shares.iter().copied()) {
            all.push((&GENERATOR, Used::of(&GENERATOR, stream, share)));
        }
    }
    // A phase without streams has no generator to be read.
    let expected = KINDS.iter().chain((!streams.is_empty()).then_some(&GENERATOR)).filter(|k| k.expected);
    let not_measured = expected.map(|k| k.name).filter(|k| all.iter().all(|(_, u)| u.kind != *k)).collect();
    // The nearest to its limit first.
    all.sort_by(|(ka, a), (kb, b)| (b.share / kb.full).total_cmp(&(a.share / ka.full)));
    let mut used: Vec<Used> = Vec::new();
    for (kind, one) in all {
        // All that are full are named, of the others the fullest of its kind.
        let worth = !kind.quiet || one.share >= 0.01;
        if one.full || worth && !used.iter().any(|u| u.kind == one.kind) {
            used.push(one);
        }
    }
    Limiter { phase: name.into(), used, not_measured }
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

impl Used {
    fn of(kind: &Kind, name: &str, share: f64) -> Used {
        Used { kind: kind.name, name: name.into(), share, full: share >= kind.full }
    }
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
