//! What can be seen of a run while it is under way.

use std::time::Duration;

/// The state of a run.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// From 1; 0 before the first.
    pub round: u32,
    /// How many there will be.
    pub rounds: u32,
    /// The level, as text; empty without levels.
    pub level: String,
    /// The phase: `"measure"` unless the plan names phases.
    pub phase: String,
    /// What happens.
    pub stage: Stage,
    /// Time since the stage began.
    pub elapsed: Duration,
    /// How long the stage will take, when that is known.
    pub length: Option<Duration>,
    /// The latest complete window of each stream of the current phase.
    pub streams: Vec<StreamProgress>,
}

/// What a run is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Sessions connect.
    #[default]
    Connecting,
    /// The client is run against a null target, to know its own limits.
    Calibrating,
    /// Load runs and is not measured yet.
    WarmingUp,
    /// Load is measured.
    Measuring,
    /// Operations in flight may end.
    Draining,
    /// The run has ended.
    Ended,
}

/// A stream's latest complete window.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct StreamProgress {
    /// The stream.
    pub name: String,
    /// Successes per second.
    pub succeeded_per_s: f64,
    /// Failures in the window.
    pub failed: u64,
    /// Response time.
    pub p95: Option<Duration>,
    /// Operations in flight now.
    pub in_flight: u64,
}
