//! What was read beside the load, and what happened meanwhile.

use super::Subject;
use crate::{
    doc::{Section, Table, Tone},
    format::{NONE, bytes, clean, count, duration, percent, plural, short},
};

pub(super) fn series(subject: &Subject<'_>) -> Section {
    let mut table = Table::new(&["series", "unit", ">mean", ">lowest", ">highest", ">points", ">gaps"]);
    for series in &subject.record.series {
        let values: Vec<f64> = series.points.iter().map(|(_, x)| *x).filter(|x| x.is_finite()).collect();
        let n = values.len() as f64;
        // Divided first, so that huge readings do not overflow.
        let mean = values.iter().map(|x| x / n).sum::<f64>();
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let unit = Unit::of(&series.unit, highest);
        let write = |x: f64| if values.is_empty() { NONE.into() } else { unit.write(x) };
        let gaps = series.gaps.len() as u64;
        table.row(
            vec![
                clean(&series.name),
                unit.beside().into(),
                write(mean),
                write(lowest),
                write(highest),
                count(series.points.len() as u64),
                count(gaps),
            ],
            if gaps > 0 { Tone::Warning } else { Tone::Plain },
        );
    }
    table.drop_column_if(1, str::is_empty);
    let mut section = Section::new("Readings over the whole run");
    section.table(table);
    section
}

/// For each phase what was full; nothing when nothing was read beside the load.
pub(super) fn limiters(subject: &Subject<'_>) -> Section {
    let mut section = Section::new("");
    if !subject.record.series.is_empty() {
        for limiter in crate::limiter(subject.record) {
            let tone = if limiter.full().count() > 0 { Tone::Warning } else { Tone::Plain };
            section.toned(limiter.to_string(), tone);
        }
    }
    section
}

/// How the values of a series are written.
enum Unit {
    Share,
    Bytes,
    BytesPerSecond,
    Other(String),
}

impl Unit {
    fn of(unit: &str, highest: f64) -> Unit {
        match unit {
            // A share of a whole, or a little more where the whole is measured with an error of its own. What is
            // larger is a ratio or a count, and no percentage whatever its unit says.
            "1" if highest <= 1.1 => Unit::Share,
            "1" => Unit::Other(String::new()),
            "B" | "bytes" => Unit::Bytes,
            "B/s" => Unit::BytesPerSecond,
            unit => Unit::Other(clean(unit)),
        }
    }

    fn write(&self, x: f64) -> String {
        match self {
            Unit::Share => percent(x),
            Unit::Bytes if x >= 0.0 => bytes(x as u64),
            Unit::BytesPerSecond if x >= 0.0 => format!("{}/s", bytes(x as u64)),
            _ => short(x),
        }
    }

    /// What the column of units says; nothing where each value has its own.
    fn beside(&self) -> &str {
        match self {
            Unit::Other(unit) => unit,
            _ => "",
        }
    }
}

/// The most events that are shown.
const EVENTS: usize = 20;

pub(super) fn events(subject: &Subject<'_>) -> Section {
    let mut section = Section::new("Events");
    for event in subject.record.events.iter().take(EVENTS) {
        let detail = if event.detail.is_empty() { String::new() } else { format!(": {}", event.detail) };
        section.line(clean(&format!("{} {}{detail}", duration(event.t_ns), event.what)));
    }
    let more = subject.record.events.len().saturating_sub(EVENTS);
    if more > 0 {
        section.toned(format!("and {} more in the record", plural(more as u64, "event")), Tone::Faint);
    }
    section
}
