//! Holding a record against a threshold.

use super::{Subject, Summary, Threshold};
use crate::{
    Rounds,
    format::{bytes, count, duration, fixed, percent, short},
    metric::Unit,
    stats::Spread,
};
use load_core::{Record, Status};
use std::fmt;

/// What came of a threshold.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Judged {
    /// The threshold.
    pub threshold: Threshold,
    /// Whether it holds everywhere.
    pub holds: bool,
    /// What was found at each stream that it speaks of; empty when there is none.
    pub found: Vec<Found>,
}

/// What was found at one stream.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Found {
    /// Stream, level and round, or stream and level, or `record`.
    pub at: String,
    /// What was found, with its unit; or why nothing can be said.
    pub figure: String,
    /// Whether the threshold holds here.
    pub holds: bool,
}

impl fmt::Display for Judged {
    /// `holds: nginx@50.response.p95 < 20ms`, or `does not hold:` with the places where it does not.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.holds {
            return write!(f, "holds: {}", self.threshold);
        }
        write!(f, "does not hold: {}", self.threshold)?;
        if self.found.is_empty() {
            write!(f, ": no stream of the record is meant by it")?;
        }
        for (i, found) in self.found.iter().filter(|f| !f.holds).enumerate() {
            write!(f, "{} {}: {}", if i == 0 { ":" } else { ";" }, found.at, found.figure)?;
        }
        Ok(())
    }
}

impl Threshold {
    /// Holds a record against it.
    pub fn judge(&self, record: &Record) -> Judged {
        let found = match &self.subject {
            Subject::Record(wanted) => {
                let status =
                    record.streams.iter().map(|s| s.verdict.status).fold(record.verdict.status, Status::max);
                vec![self.verdict("record".into(), status, *wanted)]
            }
            Subject::Verdict(streams, wanted) => record
                .streams
                .iter()
                .filter(|s| streams.matches(&s.name, &s.level))
                .map(|s| self.verdict(s.title(), s.verdict.status, *wanted))
                .collect(),
            Subject::Each(streams, metric, bound) => record
                .streams
                .iter()
                .filter(|s| streams.matches(&s.name, &s.level))
                .map(|s| match metric.of(s) {
                    _ if s.verdict.status == Status::Rejected => nothing(s.title(), "the round was rejected"),
                    None => nothing(s.title(), "not measured"),
                    Some(x) => self.figure(s.title(), x, *bound, metric.unit()),
                })
                .collect(),
            Subject::Over(summary, streams, metric, bound) => Rounds::of(record)
                .iter()
                .filter(|g| streams.matches(g.name, g.level))
                .map(|g| match Spread::of(g.averaged().filter_map(|s| metric.of(s))) {
                    None if g.averaged().next().is_none() => nothing(g.title(), "every round was rejected"),
                    None => nothing(g.title(), "not measured"),
                    Some(spread) => {
                        let x = match summary {
                            Summary::Median => spread.median,
                            Summary::Min => spread.min,
                            Summary::Max => spread.max,
                        };
                        self.figure(g.title(), x, *bound, metric.unit())
                    }
                })
                .collect(),
        };
        let holds = !found.is_empty() && found.iter().all(|f| f.holds);
        Judged { threshold: self.clone(), holds, found }
    }

    fn verdict(&self, at: String, status: Status, wanted: Status) -> Found {
        Found { at, figure: status.to_string(), holds: self.relation.holds(status, wanted) }
    }

    fn figure(&self, at: String, x: f64, bound: f64, unit: Unit) -> Found {
        Found { at, figure: write(x, unit), holds: self.relation.holds(x, bound) }
    }
}

fn nothing(at: String, why: &str) -> Found {
    Found { at, figure: why.into(), holds: false }
}

fn write(x: f64, unit: Unit) -> String {
    match unit {
        Unit::Time if x >= 0.0 => duration(x.round() as u64),
        Unit::Share => format!("{} ({})", short(x), percent(x)),
        Unit::Rate => format!("{}/s", fixed(x, 2)),
        Unit::Bytes if x >= 0.0 => bytes(x as u64),
        Unit::Count if x >= 0.0 && x.fract() == 0.0 && x < 1e15 => count(x as u64),
        _ => short(x),
    }
}
