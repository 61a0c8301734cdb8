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
        let write = |x: f64| match series.unit.as_str() {
            _ if values.is_empty() => NONE.into(),
            "1" => percent(x),
            "B" | "bytes" if x >= 0.0 => bytes(x as u64),
            _ => short(x),
        };
        let unit = match series.unit.as_str() {
            "1" | "B" | "bytes" => String::new(),
            unit => clean(unit),
        };
        let gaps = series.gaps.len() as u64;
        table.row(
            vec![
                clean(&series.name),
                unit,
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
