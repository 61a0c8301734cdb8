//! One stretch of a schedule: its cumulative count and the inverse of that.

use crate::{ConfigError, Rate};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Segment {
    /// `rate` per second, for `seconds` or without end.
    Constant { rate: f64, seconds: Option<f64> },
    /// From `from` to `to` per second, evenly over `seconds`.
    Ramp { from: f64, to: f64, seconds: f64 },
}

impl Segment {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let (rates, length) = match *self {
            Segment::Constant { rate, seconds } => ([rate, rate], seconds),
            Segment::Ramp { from, to, seconds } => ([from, to], Some(seconds)),
        };
        for rate in rates {
            Rate::new(rate)?;
        }
        match length {
            Some(s) if !(s.is_finite() && s > 0.0) => {
                Err(ConfigError::invalid("schedule.seconds", s, "finite and above zero"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn seconds(&self) -> Option<f64> {
        match *self {
            Segment::Constant { seconds, .. } => seconds,
            Segment::Ramp { seconds, .. } => Some(seconds),
        }
    }

    /// Arrivals in the first `t` seconds.
    pub(super) fn cumulative(&self, t: f64) -> f64 {
        match *self {
            Segment::Constant { rate, .. } => rate * t,
            Segment::Ramp { from, to, seconds } => t * (from + 0.5 * (to - from) * (t / seconds)),
        }
    }

    /// The rate after `t` seconds.
    pub(super) fn rate(&self, t: f64) -> f64 {
        match *self {
            Segment::Constant { rate, .. } => rate,
            Segment::Ramp { from, to, seconds } => from + (to - from) * t / seconds,
        }
    }

    /// The second at which the cumulative count is `x`.
    pub(super) fn inverse(&self, x: f64) -> f64 {
        match *self {
            Segment::Constant { rate, .. } => x / rate,
            Segment::Ramp { from, to, seconds } => {
                if x <= 0.0 {
                    return 0.0;
                }
                let slope = (to - from) / seconds;
                // The quadratic's root in the form that does not cancel when the slope is small.
                2.0 * x / (from + (from * from + 2.0 * slope * x).max(0.0).sqrt())
            }
        }
    }

    pub(super) fn describe(&self) -> String {
        match *self {
            Segment::Constant { rate, seconds: None } => format!("{rate}/s"),
            Segment::Constant { rate, seconds: Some(s) } => format!("{rate}/s for {s} s"),
            Segment::Ramp { from, to, seconds } => format!("{from}/s to {to}/s over {seconds} s"),
        }
    }
}
