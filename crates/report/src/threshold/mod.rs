//! Thresholds: what a run must reach, in one line each.

mod judge;
mod parse;
mod value;

pub use judge::{Found, Judged};

use crate::metric::Metric;
use load_core::Status;
use std::{fmt, str::FromStr};

/// A line such as `nginx@50.response.p95 < 20ms` that a record must fulfil.
///
/// ```text
/// nginx@50.response.p95 < 20ms          in every round of the stream nginx at level 50
/// nginx.response.p95 < 20ms             at every level, in every round
/// *.failed_share <= 0.1%                of every stream
/// median(nginx.response.p95) < 20ms     the median over the rounds that were not rejected, at every level; also min, max
/// nginx.succeeded_per_s >= 10000        a rate
/// postgres.accounting.failed == 0       a number
/// nginx.verdict == valid                of every round
/// verdict != rejected                   of the record
/// ```
///
/// The path is the stream's name, `@` and the level if it is meant, and a figure by the names of the record without
/// `_ns`: `response service wait lateness dispatch loop_lag failed_service censored steps.NAME operations.KIND.service
/// connects.time connects.steps.NAME` with
/// `count min mean stddev max p50 p75 p90 p95 p99 p999 p9999`; `offered_per_s succeeded_per_s completed_per_s elapsed drain
/// bytes_in bytes_out units failed_units`; `accounting.` and `connects.` with their fields; `counters.NAME`,
/// `evidence.RULE`, `operations.KIND.count` and `.failed`; and two shares: `failed_share` (failed / ended) and `sent_share`
/// (started / scheduled).
///
/// A time needs its unit (`ns us µs ms s min h`), a share may be given in `%`, bytes in `KiB MiB GiB kB MB GB`.
///
/// A name that matches several streams must hold in each; a name that matches none does not hold, and neither does a figure
/// that was not measured or stands in a rejected round: of those nothing can be said.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    text: String,
    subject: Subject,
    relation: Relation,
}

#[derive(Debug, Clone, PartialEq)]
enum Subject {
    /// The verdict of the record.
    Record(Status),
    /// The verdict of streams.
    Verdict(Streams, Status),
    /// A figure of each round of streams.
    Each(Streams, Metric, f64),
    /// A figure over the rounds of streams.
    Over(Summary, Streams, Metric, f64),
}

/// Which streams.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Streams {
    /// `*` is any.
    name: String,
    level: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Summary {
    Median,
    Min,
    Max,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Below,
    AtMost,
    Equal,
    Unequal,
    AtLeast,
    Above,
}

impl Relation {
    fn holds<T: PartialOrd>(self, a: T, b: T) -> bool {
        match self {
            Relation::Below => a < b,
            Relation::AtMost => a <= b,
            Relation::Equal => a == b,
            Relation::Unequal => a != b,
            Relation::AtLeast => a >= b,
            Relation::Above => a > b,
        }
    }
}

impl Streams {
    fn matches(&self, name: &str, level: &str) -> bool {
        (self.name == "*" || self.name == name) && self.level.as_deref().is_none_or(|l| l == level)
    }
}

impl fmt::Display for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.level.as_ref().map_or(Ok(()), |level| write!(f, "@{level}"))
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Threshold {
    type Err = crate::ReportError;

    /// See [`Threshold::parse`].
    fn from_str(text: &str) -> Result<Threshold, crate::ReportError> {
        Threshold::parse(text)
    }
}
