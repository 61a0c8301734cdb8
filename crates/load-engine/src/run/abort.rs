//! Limits that stop a run.

use load_core::{ConfigError, record::Window};
use std::time::Duration;

/// A limit on one stream: when every window is beyond it for longer than the grace period, the run is stopped.
///
/// ```
/// use load_engine::AbortWhen;
/// use std::time::Duration;
/// let limit = AbortWhen::failures_above("nginx", 0.05).for_longer_than(Duration::from_secs(3));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AbortWhen {
    stream: String,
    beyond: Beyond,
    grace: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Beyond {
    Failures(f64),
    P95(Duration),
    Rate(f64),
}

impl AbortWhen {
    fn new(stream: impl Into<String>, beyond: Beyond) -> AbortWhen {
        AbortWhen { stream: stream.into(), beyond, grace: Duration::ZERO }
    }

    /// When more than this share (0 to 1) of a window's operations failed. A window in which nothing ended is not beyond.
    pub fn failures_above(stream: impl Into<String>, share: f64) -> AbortWhen {
        AbortWhen::new(stream, Beyond::Failures(share))
    }

    /// When the 95th percentile of a window's response times is above `limit`.
    pub fn p95_above(stream: impl Into<String>, limit: Duration) -> AbortWhen {
        AbortWhen::new(stream, Beyond::P95(limit))
    }

    /// When fewer than this many operations a second succeed.
    pub fn rate_below(stream: impl Into<String>, per_second: f64) -> AbortWhen {
        AbortWhen::new(stream, Beyond::Rate(per_second))
    }

    /// For how long it may be so; one window is always enough unless told otherwise.
    pub fn for_longer_than(mut self, grace: Duration) -> AbortWhen {
        self.grace = grace;
        self
    }

    pub(crate) fn stream(&self) -> &str {
        &self.stream
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        match self.beyond {
            Beyond::Failures(x) if !(0.0..1.0).contains(&x) => {
                Err(ConfigError::invalid("abort_when.failures_above", x, "a share: at least 0 and below 1"))
            }
            Beyond::Rate(x) if !(x.is_finite() && x > 0.0) => {
                Err(ConfigError::invalid("abort_when.rate_below", x, "finite and above zero"))
            }
            _ => Ok(()),
        }
    }

    /// In words, for the record.
    pub(crate) fn describe(&self) -> String {
        let what = match self.beyond {
            Beyond::Failures(x) => format!("more than {} % failed", x * 100.0),
            Beyond::P95(d) => format!("P95 of the response time above {d:?}"),
            Beyond::Rate(x) => format!("fewer than {x}/s succeeded"),
        };
        format!("{}: {what} for longer than {:?}", self.stream, self.grace)
    }

    fn is_beyond(&self, window: &Window) -> bool {
        let ended = window.succeeded + window.failed;
        match self.beyond {
            Beyond::Failures(share) => ended > 0 && window.failed as f64 > share * ended as f64,
            Beyond::P95(limit) => window.p95_ns.is_some_and(|p95| u128::from(p95) > limit.as_nanos()),
            Beyond::Rate(per_second) => window.per_s < per_second,
        }
    }
}

/// Follows a limit over the windows of a phase.
#[derive(Debug)]
pub(super) struct Following<'a> {
    pub(super) limit: &'a AbortWhen,
    since: Option<u64>,
}

impl<'a> Following<'a> {
    pub(super) fn new(limit: &'a AbortWhen) -> Following<'a> {
        Following { limit, since: None }
    }

    /// Whether this window is one too many.
    pub(super) fn breaks(&mut self, stream: &str, window: &Window) -> bool {
        if stream != self.limit.stream {
            return false;
        }
        if !self.limit.is_beyond(window) {
            self.since = None;
            return false;
        }
        let since = *self.since.get_or_insert(window.start_ns);
        u128::from(window.end_ns - since) > self.limit.grace.as_nanos()
    }
}
