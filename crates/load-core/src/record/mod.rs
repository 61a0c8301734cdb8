//! The record of a run: what other programs rely on. New fields may come within a schema version; readers ignore what
//! they do not know. Renaming a field or changing its meaning makes a new version.
//!
//! Times are nanoseconds on the run's monotonic clock unless a name says otherwise; rates are per second; sizes are bytes.

mod distribution;
mod environment;
mod hash;
mod stream;

pub use distribution::Distribution;
pub use environment::{Environment, Server};
pub use hash::{canonical_json, plan_hash};
pub use stream::{Connects, FailureCount, LoadRecord, Operations, StreamRecord, Warmup, Window};

use crate::Verdict;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The schema that this version writes.
pub const SCHEMA: &str = "openloop.record/1";

/// All that is known of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Record {
    /// `"openloop.record/1"`.
    pub schema: String,
    /// What the run is called.
    pub experiment: String,
    /// Wall-clock time of the clock's origin, RFC 3339, UTC.
    pub started_at: String,
    /// The seed of all random choices.
    pub seed: u64,
    /// SHA-256 over the plan's canonical JSON, in hexadecimal.
    pub plan_hash: String,
    /// Free text by name, such as `FIXED` or `superseded-by`.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Whether the run was stopped before its end; what was measured until then is here.
    #[serde(default)]
    pub interrupted: bool,
    /// What must be equal for two runs to be comparable.
    pub method: Method,
    /// What it ran on.
    pub environment: Environment,
    /// The phases, in the order they were run.
    #[serde(default)]
    pub phases: Vec<Phase>,
    /// One for each measured workload, level and round.
    #[serde(default)]
    pub streams: Vec<StreamRecord>,
    /// Readings taken beside the load.
    #[serde(default)]
    pub series: Vec<Series>,
    /// What happened meanwhile.
    #[serde(default)]
    pub events: Vec<Event>,
    /// Checks made around the load: recoveries, clean-up.
    #[serde(default)]
    pub checks: Vec<Check>,
    /// The worst of the streams' verdicts.
    #[serde(default)]
    pub verdict: Verdict,
}

/// What must be equal for two runs to be comparable.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Method {
    /// Length of the warm-up.
    pub warmup_ns: u64,
    /// Length of the measured phase, when time ends it.
    pub measure_ns: Option<u64>,
    /// Operations in the measured phase, when their number ends it.
    pub measure_count: Option<u64>,
    /// How long operations in flight may take to end after the phase.
    pub drain_limit_ns: u64,
    /// Length of a window.
    pub window_ns: u64,
    /// How many rounds.
    pub rounds: u32,
    /// The levels, in the order given.
    pub levels: Vec<String>,
    /// How levels are ordered in a round: `"rotated"`.
    pub level_order: String,
    /// How percentiles are computed.
    pub percentile_rule: String,
    /// Anything else that belongs to the method: scale, versions, payload sizes.
    pub settings: BTreeMap<String, serde_json::Value>,
}

/// A stretch of the run in which the same streams were measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Phase {
    /// `"measure"` unless the plan names phases.
    pub name: String,
    /// From 1.
    pub round: u32,
    /// Start of measuring.
    pub start_ns: u64,
    /// End of measuring; draining comes after it.
    pub end_ns: u64,
}

/// A series of readings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Series {
    /// Dotted: `"host.cpu.busy"`.
    pub name: String,
    /// SI, or `"1"` for a ratio.
    pub unit: String,
    /// Where it was read.
    pub source: String,
    /// Time in ns and value.
    pub points: Vec<(u64, f64)>,
    /// Times in ns at which there was nothing to read, and why.
    #[serde(default)]
    pub gaps: Vec<(u64, String)>,
}

/// Something that happened during the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Event {
    /// When.
    pub t_ns: u64,
    /// What, in a few words that stay the same.
    pub what: String,
    /// More, for people.
    #[serde(default)]
    pub detail: String,
}

/// A check made around the load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Check {
    /// `"nginx.reload"`, `"cleanup.postgres"`, ...
    pub name: String,
    /// Whether it passed.
    pub passed: bool,
    /// How long it took.
    pub elapsed_ns: u64,
    /// What was seen.
    #[serde(default)]
    pub detail: String,
}

impl Record {
    /// A record with nothing measured yet.
    pub fn new(experiment: impl Into<String>, started_at: impl Into<String>) -> Record {
        Record {
            schema: SCHEMA.into(),
            experiment: experiment.into(),
            started_at: started_at.into(),
            seed: 0,
            plan_hash: String::new(),
            labels: BTreeMap::new(),
            interrupted: false,
            method: Method::default(),
            environment: Environment::default(),
            phases: Vec::new(),
            streams: Vec::new(),
            series: Vec::new(),
            events: Vec::new(),
            checks: Vec::new(),
            verdict: Verdict::default(),
        }
    }

    /// Reads a record, of this schema version.
    ///
    /// # Errors
    /// When the text is no record or of another version.
    pub fn from_json(text: &str) -> Result<Record, RecordError> {
        let value: serde_json::Value = serde_json::from_str(text)?;
        match value.get("schema").and_then(|s| s.as_str()) {
            Some(SCHEMA) => Ok(serde_json::from_value(value)?),
            Some(other) => Err(RecordError::Schema(other.into())),
            None => Err(RecordError::Schema("none".into())),
        }
    }

    /// The record as JSON, indented.
    ///
    /// # Errors
    /// Does not fail for records that this crate made.
    pub fn to_json(&self) -> Result<String, RecordError> {
        Ok(serde_json::to_string_pretty(self)?)
    }

    /// Judges the record anew: the worst of its streams.
    pub fn judge(&mut self) {
        self.verdict = Verdict::worst(self.streams.iter().map(|s| (s.title(), &s.verdict)));
    }

    /// The streams of a name, of all levels and rounds.
    pub fn streams_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a StreamRecord> {
        self.streams.iter().filter(move |s| s.name == name)
    }
}

impl Phase {
    /// A phase.
    pub fn new(name: impl Into<String>, round: u32, start_ns: u64, end_ns: u64) -> Phase {
        Phase { name: name.into(), round, start_ns, end_ns }
    }
}

impl Series {
    /// A series without points.
    pub fn new(name: impl Into<String>, unit: impl Into<String>, source: impl Into<String>) -> Series {
        Series {
            name: name.into(),
            unit: unit.into(),
            source: source.into(),
            points: Vec::new(),
            gaps: Vec::new(),
        }
    }
}

impl Event {
    /// An event.
    pub fn new(t_ns: u64, what: impl Into<String>, detail: impl Into<String>) -> Event {
        Event { t_ns, what: what.into(), detail: detail.into() }
    }
}

impl Check {
    /// A check.
    pub fn new(name: impl Into<String>, passed: bool, elapsed_ns: u64, detail: impl Into<String>) -> Check {
        Check { name: name.into(), passed, elapsed_ns, detail: detail.into() }
    }
}

/// Why a record could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// Not JSON, or not a record.
    #[error("not a record: {0}")]
    Json(#[from] serde_json::Error),
    /// Of another schema version.
    #[error("schema: {0} is not readable here; this version reads {SCHEMA}")]
    Schema(String),
}
