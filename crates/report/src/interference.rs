//! What streams do to each other: each together with others, over alone.

use crate::{
    doc::{Section, Table, Tone},
    format::{NONE, clean, plural, short},
    stats::Spread,
    text::Text,
};
use load_core::{Record, Status, record::StreamRecord};
use std::fmt;

/// The interference matrix of a record; `Display` writes it as text.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Interference {
    /// One for each stream, level and phase in which it ran beside others, in the order of the record.
    pub rows: Vec<Interfered>,
}

/// One stream at one level, in one phase beside others.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Interfered {
    /// The stream.
    pub stream: String,
    /// The level; may be empty.
    pub level: String,
    /// The phase in which it ran alone.
    pub alone: String,
    /// The phase in which it ran beside others.
    pub together: String,
    /// Successes per second, together over alone, over the rounds; below 1 it got less done.
    pub rate: Option<Spread>,
    /// P95 of the response time, together over alone, over the rounds; above 1 it was slower.
    pub p95: Option<Spread>,
    /// Rounds of which one side was rejected. They are kept for audit and are in neither spread.
    pub rejected: Vec<RejectedRatio>,
}

/// What a round says of which one side was rejected.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RejectedRatio {
    /// The round.
    pub round: u32,
    /// Rate, together over alone.
    pub rate: Option<f64>,
    /// P95, together over alone.
    pub p95: Option<f64>,
}

/// For each stream its rate and P95 beside others over those alone. Rounds are paired: what is alone in a round stands
/// against what is together in the same round, so that a drift of the machine is in neither.
///
/// Alone is the first phase in which no other stream ran; a stream without one has no row, and so has one that never ran
/// beside others.
pub fn interference(record: &Record) -> Interference {
    let mut rows: Vec<Interfered> = Vec::new();
    for together in record.streams.iter().filter(|s| beside(record, s) > 0) {
        let Some(alone) = record.streams.iter().find(|s| pair(s, together) && beside(record, s) == 0) else {
            continue;
        };
        let same = |r: &Interfered| {
            (r.stream.as_str(), r.level.as_str(), r.together.as_str(), r.alone.as_str())
                == (&together.name, &together.level, &together.phase, &alone.phase)
        };
        if rows.iter().any(same) {
            continue;
        }
        rows.push(row(record, alone, together));
    }
    Interference { rows }
}

/// The same stream at the same level in the same round.
fn pair(a: &StreamRecord, b: &StreamRecord) -> bool {
    (&a.name, &a.level, a.round) == (&b.name, &b.level, b.round)
}

/// How many other streams ran in the phase of this one. Their levels may be others: without levels in the plan each stream
/// has that of its own load.
fn beside(record: &Record, s: &StreamRecord) -> usize {
    let same = |o: &&StreamRecord| (&o.phase, o.round) == (&s.phase, s.round);
    record.streams.iter().filter(same).filter(|o| o.name != s.name).count()
}

fn row(record: &Record, alone: &StreamRecord, together: &StreamRecord) -> Interfered {
    let of = |phase: &str| {
        let phase = phase.to_string();
        let is = move |s: &&StreamRecord| {
            (&s.name, &s.level, &s.phase) == (&together.name, &together.level, &phase)
        };
        record.streams.iter().filter(is)
    };
    let (mut rates, mut p95s, mut rejected) = (Vec::new(), Vec::new(), Vec::new());
    for t in of(&together.phase) {
        let Some(a) = of(&alone.phase).find(|a| a.round == t.round) else { continue };
        let rate = ratio(Some(t.succeeded_per_s), Some(a.succeeded_per_s));
        let p95 = ratio(p95(t), p95(a));
        if [t, a].iter().any(|s| s.verdict.status == Status::Rejected) {
            rejected.push(RejectedRatio { round: t.round, rate, p95 });
        } else {
            rates.extend(rate);
            p95s.extend(p95);
        }
    }
    Interfered {
        stream: together.name.clone(),
        level: together.level.clone(),
        alone: alone.phase.clone(),
        together: together.phase.clone(),
        rate: Spread::of(rates),
        p95: Spread::of(p95s),
        rejected,
    }
}

fn p95(s: &StreamRecord) -> Option<f64> {
    s.response.as_ref().map(|d| d.p95_ns as f64)
}

fn ratio(together: Option<f64>, alone: Option<f64>) -> Option<f64> {
    let ratio = together? / alone?;
    ratio.is_finite().then_some(ratio)
}

impl fmt::Display for Interference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows.is_empty() {
            return f.write_str("Interference: no stream ran both alone and beside others\n");
        }
        let mut table = Table::new(&[
            "stream", "phase", "round", ">rate", ">lowest", ">highest", ">P95", ">lowest", ">highest",
        ]);
        for row in &self.rows {
            let title = if row.level.is_empty() || row.level == row.stream {
                clean(&row.stream)
            } else {
                clean(&format!("{}@{}", row.stream, row.level))
            };
            let mut first = vec![title, clean(&row.together)];
            let n = row.rate.or(row.p95).map_or(0, |s| s.n);
            if n > 0 || row.rejected.is_empty() {
                let rounds = if n == 1 { "one".into() } else { format!("median of {n}") };
                first.push(if n == 0 { NONE.into() } else { rounds });
                first.extend(spread(row.rate));
                first.extend(spread(row.p95));
                table.row(first, Tone::Plain);
            }
            for r in &row.rejected {
                let write = |x: Option<f64>| x.map_or(NONE.into(), short);
                let mut cells = vec![clean(&row.stream), clean(&row.together)];
                cells.push(format!("round {} REJECTED", r.round));
                cells.extend([write(r.rate), String::new(), String::new()]);
                cells.extend([write(r.p95), String::new(), String::new()]);
                table.row(cells, Tone::Bad);
            }
        }
        let mut section = Section::new("Interference: beside the others / alone, 1 is no difference");
        section.table(table);
        let rejected: usize = self.rows.iter().map(|r| r.rejected.len()).sum();
        if rejected > 0 {
            let pairs = plural(rejected as u64, "pair");
            section.line(format!("{pairs} with a rejected side: shown for audit, in no median"));
        }
        f.write_str(&Text::new().sections(&[section]))
    }
}

/// Median, lowest, highest; of one round there is no spread.
fn spread(spread: Option<Spread>) -> [String; 3] {
    match spread {
        None => [NONE.into(), NONE.into(), NONE.into()],
        Some(s) if s.n == 1 => [short(s.median), NONE.into(), NONE.into()],
        Some(s) => [short(s.median), short(s.min), short(s.max)],
    }
}
