//! One stretch of a schedule: how many arrivals it has seen by when, and the inverse of that.

use super::part::TOO_LONG;
pub(super) use super::sine::SineShape;
use crate::ConfigError;
use std::sync::Arc;

/// A stretch, and how long it lasts (`None`: without end).
#[derive(Debug, Clone)]
pub(super) struct Segment {
    shape: Shape,
    length_ns: Option<u64>,
}

#[derive(Debug, Clone)]
enum Shape {
    Constant(f64),
    Ramp { from: f64, to: f64 },
    Sine(Arc<SineShape>),
    Pause,
    Replay(Arc<[u64]>),
}

impl Segment {
    pub(super) fn constant(rate: f64, length_ns: Option<u64>) -> Segment {
        Segment { shape: Shape::Constant(rate), length_ns }
    }

    pub(super) fn ramp(from: f64, to: f64, length_ns: u64) -> Result<Segment, ConfigError> {
        if from == 0.0 && to == 0.0 {
            return Err(ConfigError::invalid(
                "schedule.to",
                "0/s",
                "a ramp is not 0 at both ends; use `pause`",
            ));
        }
        Ok(Segment { shape: Shape::Ramp { from, to }, length_ns: Some(length_ns) })
    }

    pub(super) fn sine(shape: Arc<SineShape>, length_ns: Option<u64>) -> Segment {
        Segment { shape: Shape::Sine(shape), length_ns }
    }

    pub(super) fn pause(length_ns: u64) -> Segment {
        Segment { shape: Shape::Pause, length_ns: Some(length_ns) }
    }

    pub(super) fn replay(offsets: Arc<[u64]>, length_ns: Option<u64>) -> Result<Segment, ConfigError> {
        let Some(last) = offsets.last().copied() else {
            return Err(ConfigError::invalid("schedule.offsets", "none", "at least one arrival"));
        };
        if let Some(i) = offsets.windows(2).position(|pair| pair[1] < pair[0]) {
            return Err(ConfigError::invalid(
                format!("schedule.offsets[{}]", i + 1),
                format!("{} ns", offsets[i + 1]),
                format!("not before the one ahead of it, {} ns", offsets[i]),
            ));
        }
        if last == u64::MAX {
            let field = format!("schedule.offsets[{}]", offsets.len() - 1);
            return Err(ConfigError::invalid(field, format!("{last} ns"), TOO_LONG));
        }
        if let Some(length) = length_ns
            && length <= last
        {
            return Err(ConfigError::invalid(
                "schedule.duration",
                format!("{length} ns"),
                format!("after the last arrival, {last} ns"),
            ));
        }
        // The end is excluded, so it is the next nanosecond.
        Ok(Segment { shape: Shape::Replay(offsets), length_ns: Some(length_ns.unwrap_or(last + 1)) })
    }

    pub(super) fn length_ns(&self) -> Option<u64> {
        self.length_ns
    }

    /// Arrivals in the first `ns` nanoseconds, a fraction of one included.
    pub(super) fn cumulative(&self, ns: u64) -> f64 {
        let t = ns as f64 / 1e9;
        match &self.shape {
            Shape::Constant(rate) => rate * t,
            Shape::Ramp { from, to } => t * (from + 0.5 * (to - from) * (t / self.seconds())),
            Shape::Sine(sine) => sine.cumulative(ns),
            Shape::Pause => 0.0,
            Shape::Replay(offsets) => offsets.partition_point(|at| *at < ns) as f64,
        }
    }

    /// How far [`cumulative`](Segment::cumulative) may be from what was meant: some roundings of its size.
    pub(super) fn error(&self, total: f64) -> f64 {
        match self.shape {
            Shape::Pause | Shape::Replay(_) => 0.0,
            _ => 8.0 * f64::EPSILON * total,
        }
    }

    /// The rate after `ns` nanoseconds. Of a replayed list: its mean.
    pub(super) fn rate(&self, ns: u64) -> f64 {
        match &self.shape {
            Shape::Constant(rate) => *rate,
            Shape::Ramp { from, to } => from + (to - from) * (ns as f64 / 1e9 / self.seconds()),
            Shape::Sine(sine) => sine.rate(ns),
            Shape::Pause => 0.0,
            Shape::Replay(offsets) => offsets.len() as f64 / self.seconds(),
        }
    }

    /// The last nanosecond at which the cumulative count is not above `x`; `None` beyond what 64 bits hold.
    #[inline]
    pub(super) fn inverse(&self, x: f64) -> Option<u64> {
        let x = x.max(0.0);
        match &self.shape {
            Shape::Constant(rate) => to_ns(x / rate),
            Shape::Ramp { from, to } => {
                if x == 0.0 {
                    return Some(0);
                }
                let slope = (to - from) / self.seconds();
                // The quadratic's root in the form that does not cancel when the slope is small.
                to_ns(2.0 * x / (from + (from * from + 2.0 * slope * x).max(0.0).sqrt()))
            }
            Shape::Sine(sine) => sine.inverse(x),
            Shape::Pause => self.length_ns,
            Shape::Replay(offsets) => offsets.get(x as usize).copied(),
        }
    }

    fn seconds(&self) -> f64 {
        self.length_ns.map_or(f64::INFINITY, |ns| ns as f64 / 1e9)
    }
}

/// Nanoseconds, rounded to the nearest; `None` beyond what 64 bits hold (584 years).
#[inline]
pub(super) fn to_ns(seconds: f64) -> Option<u64> {
    const NO_FRACTIONS: f64 = (1u64 << 52) as f64;
    let ns = seconds * 1e9;
    if ns < NO_FRACTIONS {
        // Without the call to a library that `round` is where processors of the oldest kind must be served.
        return Some((ns + 0.5) as i64 as u64);
    }
    (ns < u64::MAX as f64).then_some(ns as u64)
}
