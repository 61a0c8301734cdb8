//! What was measured of one workload at one level in one round.

use super::Distribution;
use crate::{Accounting, Class, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One measured workload, at one level, in one round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct StreamRecord {
    /// The stream: `"nginx"`, `"postgres"`, ...
    pub name: String,
    /// What the workload does, in words.
    pub workload: String,
    /// The phase in which it was measured.
    pub phase: String,
    /// The level: `"50"`.
    pub level: String,
    /// From 1.
    pub round: u32,
    /// How load arrived.
    pub load: LoadRecord,
    /// The books of the measured phase, by intended time.
    pub accounting: Accounting,
    /// Scheduled operations per second of the phase; in a closed loop the started ones.
    pub offered_per_s: f64,
    /// Successes that ended within the phase, per second of the phase.
    pub succeeded_per_s: f64,
    /// Operations, good or bad, that ended within the phase, per second of the phase.
    pub completed_per_s: f64,
    /// Length of the measured phase; when a count ends it, from the first start to the last end.
    pub elapsed_ns: u64,
    /// How long draining took after it.
    pub drain_ns: u64,
    /// Bytes received by operations of the phase, failed ones too.
    pub bytes_in: u64,
    /// Bytes sent by them.
    pub bytes_out: u64,
    /// Units of work done by the successes.
    pub units: u64,
    /// Units of work that failed.
    pub failed_units: u64,
    /// Connection attempts from the start of the stream to its end.
    pub connects: Connects,
    /// Operations in flight when measuring began: started in the warm-up, in none of the phase's accounts.
    pub carried_in: u64,
    /// The warm-up, counted apart.
    pub warmup: Warmup,
    /// Operations by kind, when the workload names kinds.
    pub operations: BTreeMap<String, Operations>,
    /// Successes: ended − intended.
    pub response: Option<Distribution>,
    /// Successes: ended − started.
    pub service: Option<Distribution>,
    /// Successes: started − intended; 0 in a closed loop.
    pub wait: Option<Distribution>,
    /// Arrivals: released − intended, where released is when the worker noticed that it was due. Open loop only.
    pub lateness: Option<Distribution>,
    /// Arrivals handed to an idle session: started − released. Open loop only.
    pub dispatch: Option<Distribution>,
    /// How long the worker's run queue kept a ready task waiting.
    pub loop_lag: Option<Distribution>,
    /// Failures: ended − started.
    pub failed_service: Option<Distribution>,
    /// Unfinished operations: how old they were, from their intended time, when they were given up. Right-censored: they
    /// would have taken longer.
    pub censored: Option<Distribution>,
    /// Steps of successes by name. Those of connecting a session are in `connects`.
    pub steps: BTreeMap<String, Distribution>,
    /// Failures by class and code; they add up to `accounting.failed`.
    pub failures: Vec<FailureCount>,
    /// Counters by name.
    pub counters: BTreeMap<String, u64>,
    /// Facts by name.
    pub facts: BTreeMap<String, String>,
    /// What ended in each stretch of time.
    pub windows: Vec<Window>,
    /// Whether it may be believed.
    pub verdict: Verdict,
}

impl StreamRecord {
    /// Name, level and round as reports give them: `nginx@50 round 2`.
    pub fn title(&self) -> String {
        format!("{}@{} round {}", self.name, self.level, self.round)
    }
}

/// How the load of a stream arrived.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct LoadRecord {
    /// `"closed"` or `"open"`.
    pub kind: String,
    /// Sessions asked for.
    pub concurrency: u64,
    /// Worker threads, each a queue of its own.
    pub workers: u64,
    /// The schedule of an open loop, in words.
    pub schedule: Option<String>,
    /// What happens to an arrival that finds no session free, in words. Open loop only.
    pub overload: Option<String>,
}

/// Connection attempts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Connects {
    /// That opened a session.
    pub ok: u64,
    /// That did not.
    pub failed: u64,
    /// Sessions open when measuring began.
    pub open_at_start: u64,
    /// Why attempts failed; they add up to `failed`.
    pub failures: Vec<FailureCount>,
    /// How long the good ones took.
    pub time: Option<Distribution>,
    /// Steps of the good ones by name, such as `"tls"`: apart from those of operations, which may have the same names.
    pub steps: BTreeMap<String, Distribution>,
}

/// The warm-up of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Warmup {
    /// Its books.
    pub accounting: Accounting,
}

/// Operations of one kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Operations {
    /// Successes.
    pub count: u64,
    /// Failures.
    pub failed: u64,
    /// Successes: ended − started.
    pub service: Option<Distribution>,
}

/// How often something failed in one way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FailureCount {
    /// The class.
    pub class: Class,
    /// What tells failures of the class apart.
    #[serde(default)]
    pub code: String,
    /// How many.
    pub count: u64,
    /// The first one, in words.
    #[serde(default)]
    pub example: String,
}

impl FailureCount {
    /// A count.
    pub fn new(
        class: Class,
        code: impl Into<String>,
        count: u64,
        example: impl Into<String>,
    ) -> FailureCount {
        FailureCount { class, code: code.into(), count, example: example.into() }
    }
}

/// What ended in one stretch of time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Window {
    /// Its start.
    pub start_ns: u64,
    /// Its end.
    pub end_ns: u64,
    /// Whether it lies after the phase, while operations in flight were awaited.
    pub drain: bool,
    /// Successes that ended in it.
    pub succeeded: u64,
    /// Failures that ended in it.
    pub failed: u64,
    /// Successes per second.
    pub per_s: f64,
    /// Response time of the successes.
    pub p50_ns: Option<u64>,
    /// Response time of the successes.
    pub p95_ns: Option<u64>,
    /// Response time of the successes.
    pub p99_ns: Option<u64>,
}
