//! How it is measured: lengths, rounds, limits.

use super::Plan;
use crate::AbortWhen;
use std::time::Duration;

/// How it is measured.
impl Plan {
    /// How long each level runs before it is measured; those operations are counted apart.
    pub fn warmup(mut self, duration: Duration) -> Plan {
        self.warmup = duration;
        self
    }

    /// How long each level is measured. With [`measure_count`](Plan::measure_count) too, whichever is reached first.
    pub fn measure(mut self, duration: Duration) -> Plan {
        self.measure = Some(duration);
        self
    }

    /// Measures exactly `n` operations of each stream (no warm-up is part of them). It ends after
    /// [`measure`](Plan::measure), or after [`DEFAULT_COUNT_LIMIT`](crate::DEFAULT_COUNT_LIMIT), in any case.
    pub fn measure_count(mut self, n: u64) -> Plan {
        self.count = Some(n);
        self
    }

    /// How long operations in flight may take to end after the phase; then they are unfinished.
    pub fn drain(mut self, limit: Duration) -> Plan {
        self.drain = limit;
        self
    }

    /// The length of the windows in the record.
    pub fn window(mut self, width: Duration) -> Plan {
        self.window = width;
        self
    }

    /// How often everything is repeated. The round is the unit of replication.
    pub fn rounds(mut self, rounds: u32) -> Plan {
        self.rounds = rounds;
        self
    }

    /// Repeats until the median rate of every stream and level is known to `width` (0.02: its 95 % confidence interval is
    /// no wider than 2 % of it), but at most `rounds` times. The interval is by order statistics over the rounds, which
    /// takes at least six; rejected rounds do not count.
    pub fn rounds_until(mut self, width: f64, rounds: u32) -> Plan {
        (self.until, self.rounds) = (Some(width), rounds);
        self
    }

    /// How long each calibration runs (300 ms unless told otherwise; zero: none). Before the first round each workload that
    /// has a null target is run against it, at each level: once as fast as it can, once against a target that answers
    /// late. That gives the figures `ceiling` and `concurrency kept` of the verdict. A process calibrates the same
    /// workload at the same concurrency once: the same type that describes itself in the same words
    /// ([`Workload::describe`](load_core::Workload::describe)).
    pub fn calibrate(mut self, each: Duration) -> Plan {
        self.calibration = each;
        self
    }

    /// Stops the run when a stream is beyond a limit for too long. The record is marked, and has a check that failed.
    pub fn abort_when(mut self, limit: AbortWhen) -> Plan {
        self.aborts.push(limit);
        self
    }

    /// Stops the run when a stream has had `n` failures in one phase, warm-up included.
    pub fn stop_after_failures(mut self, n: u64) -> Plan {
        self.failure_limit = Some(n);
        self
    }

    /// The seed of all random choices; each round adds its number.
    pub fn seed(mut self, seed: u64) -> Plan {
        self.seed = seed;
        self
    }

    /// How long one attempt to connect may take.
    pub fn connect_timeout(mut self, limit: Duration) -> Plan {
        self.connect_timeout = limit;
        self
    }

    /// Refuses to run when not every session connects. Otherwise one that connects is enough, the others try again, and
    /// the rule `connections` decides.
    pub fn strict_connections(mut self, strict: bool) -> Plan {
        self.strict_connections = strict;
        self
    }
}
