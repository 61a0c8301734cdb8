//! The books of a stream.

use serde::{Deserialize, Serialize};

/// Where every operation of a stream went. Books balance:
/// `scheduled = succeeded + failed + dropped + skipped + unfinished`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Accounting {
    /// Operations that were to start in the phase: by the schedule, or (closed loop) that did start.
    pub scheduled: u64,
    /// Operations that were really sent.
    pub started: u64,
    /// Operations that ended well.
    pub succeeded: u64,
    /// Operations that ended badly.
    pub failed: u64,
    /// Arrivals that found no session free and, by the overload policy, no place to wait.
    pub dropped: u64,
    /// Arrivals that were too late to be worth sending, by the policy `SkipLate`.
    pub skipped: u64,
    /// Arrivals still waiting when the phase ended, and operations still in flight when the drain limit ended them.
    pub unfinished: u64,
    /// Those of the failed whose effect on the server is not known.
    pub unknown: u64,
}

impl Accounting {
    /// Whether the books balance.
    pub fn balances(&self) -> bool {
        self.scheduled == self.succeeded + self.failed + self.dropped + self.skipped + self.unfinished
    }

    /// Operations that ended, well or badly.
    pub fn completed(&self) -> u64 {
        self.succeeded + self.failed
    }

    /// Adds another part of the same stream.
    pub fn add(&mut self, other: &Accounting) {
        self.scheduled += other.scheduled;
        self.started += other.started;
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.dropped += other.dropped;
        self.skipped += other.skipped;
        self.unfinished += other.unfinished;
        self.unknown += other.unknown;
    }
}
