//! The record as JSON, and back.

use crate::ReportError;
use load_core::{Figure, Record, record::Distribution};

/// The record as JSON: indented, the same bytes in every locale.
///
/// A reading that is not a number becomes a gap of its series, and evidence that is not one becomes `"not measured"`: JSON
/// knows neither NaN nor infinity, and a reading program must not take them for a figure.
///
/// # Errors
/// [`ReportError::NotFinite`], with the name of the field, when a rate or a mean of the record is not a number.
pub fn json(record: &Record) -> Result<String, ReportError> {
    check(record)?;
    let mut record = record.clone();
    for series in &mut record.series {
        let (good, bad): (Vec<_>, Vec<_>) = series.points.drain(..).partition(|(_, x)| x.is_finite());
        series.points = good;
        if !bad.is_empty() {
            series.gaps.extend(bad.into_iter().map(|(t, x)| (t, format!("not a number: {x}"))));
            series.gaps.sort_by_key(|(t, _)| *t);
        }
    }
    let verdicts = record.streams.iter_mut().map(|s| &mut s.verdict).chain([&mut record.verdict]);
    for figure in verdicts.flat_map(|v| v.evidence.values_mut()) {
        *figure = Figure::from(figure.number());
    }
    Ok(record.to_json()?)
}

/// Reads a record from JSON.
///
/// # Errors
/// When the text is no record, or one of another schema version.
pub fn read_json(text: &str) -> Result<Record, ReportError> {
    Ok(Record::from_json(text)?)
}

fn check(record: &Record) -> Result<(), ReportError> {
    let finite = |field: String, value: f64| {
        if value.is_finite() { Ok(()) } else { Err(ReportError::NotFinite { field, value }) }
    };
    for (i, s) in record.streams.iter().enumerate() {
        let at = |name: &str| format!("streams[{i}].{name}");
        finite(at("offered_per_s"), s.offered_per_s)?;
        finite(at("succeeded_per_s"), s.succeeded_per_s)?;
        finite(at("completed_per_s"), s.completed_per_s)?;
        for (j, w) in s.windows.iter().enumerate() {
            finite(at(&format!("windows[{j}].per_s")), w.per_s)?;
        }
        let distribution = |name: String, d: Option<&Distribution>| match d {
            Some(d) => finite(at(&format!("{name}.mean_ns")), d.mean_ns)
                .and_then(|()| finite(at(&format!("{name}.stddev_ns")), d.stddev_ns)),
            None => Ok(()),
        };
        for (name, d) in [
            ("response", &s.response),
            ("service", &s.service),
            ("wait", &s.wait),
            ("lateness", &s.lateness),
            ("dispatch", &s.dispatch),
            ("loop_lag", &s.loop_lag),
            ("failed_service", &s.failed_service),
            ("censored", &s.censored),
            ("connects.time", &s.connects.time),
        ] {
            distribution(name.into(), d.as_ref())?;
        }
        for (name, d) in &s.steps {
            distribution(format!("steps.{name}"), Some(d))?;
        }
        for (name, d) in &s.connects.steps {
            distribution(format!("connects.steps.{name}"), Some(d))?;
        }
        for (name, o) in &s.operations {
            distribution(format!("operations.{name}.service"), o.service.as_ref())?;
        }
    }
    Ok(())
}
