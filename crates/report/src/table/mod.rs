//! Tables for other programs: CSV.

mod series;
mod streams;
mod windows;

use crate::ReportError;
use load_core::Record;

/// A table of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Csv {
    /// A line for each stream, phase, level and round, with all its figures.
    Streams,
    /// A line for each window of a stream: what ended in it, and its response times.
    Windows,
    /// A line for each class and code of failure of a stream.
    Failures,
    /// A line for each reading of a series; a gap has no value.
    Series,
}

/// A table of the record as CSV (RFC 4180, UTF-8, `.` as decimal point in every locale), with a line of names. Times are in ns,
/// rates per second, sizes in bytes; no data is an empty field, never 0. Rejected rounds are there, and the column `verdict`
/// says so.
///
/// A text that a spreadsheet would take for a formula (it begins with `=`, `+`, `-` or `@`) has an apostrophe before it: the
/// texts of failures come from servers.
///
/// # Errors
/// Does not fail for records that can be written as JSON.
pub fn csv(record: &Record, table: Csv) -> Result<String, ReportError> {
    let mut out = ::csv::Writer::from_writer(Vec::new());
    match table {
        Csv::Streams => streams::write(record, &mut out),
        Csv::Windows => windows::windows(record, &mut out),
        Csv::Failures => windows::failures(record, &mut out),
        Csv::Series => series::write(record, &mut out),
    }?;
    let bytes = out.into_inner().map_err(|e| ::csv::Error::from(e.into_error()))?;
    // Only strings were written.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

type Out = ::csv::Writer<Vec<u8>>;

/// A text, made harmless for spreadsheets.
fn text(text: &str) -> String {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => format!("'{text}"),
        false => text.into(),
    }
}

/// A number, without a fraction where it has none; nothing when there is none.
fn number(x: Option<f64>) -> String {
    x.filter(|x| x.is_finite()).map_or(String::new(), |x| x.to_string())
}

/// What tells a stream apart.
const KEYS: [&str; 4] = ["name", "phase", "level", "round"];

fn keys(s: &load_core::record::StreamRecord) -> Vec<String> {
    vec![text(&s.name), text(&s.phase), text(&s.level), s.round.to_string()]
}
