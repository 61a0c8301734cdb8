//! When operations are meant to start: pure data, testable without a clock.

mod arrivals;
mod segment;

pub use arrivals::{Arrivals, ScheduledArrival, Shard};
use segment::Segment;

use crate::{ConfigError, IntoRate};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The intended starts of an open loop: the n-th one is an offset from the start of the measured phase, computed from n
/// itself, so that nothing drifts. For a constant rate it is `n / rate`, for a ramp the inverse of the cumulative count.
///
/// Intervals are half-open: 30/s for 30 s is 900 arrivals, the first at 0, and a ramp from 10/s to 100/s over 20 s is
/// 1,100. Offsets are whole nanoseconds, rounded to the nearest.
///
/// ```
/// use load_core::Schedule;
/// use std::time::Duration;
/// let schedule = Schedule::constant("30/s")?;
/// assert_eq!(schedule.count_within(Duration::from_secs(30)), 900);
/// let ramp = Schedule::ramp("10/s", "100/s", Duration::from_secs(20))?;
/// assert_eq!(ramp.count(), Some(1100));
/// # Ok::<(), load_core::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Data", into = "Data")]
pub struct Schedule {
    segments: Vec<Placed>,
}

/// A segment and where it begins.
#[derive(Debug, Clone, PartialEq)]
struct Placed {
    segment: Segment,
    /// Seconds from the start of the schedule.
    start: f64,
    /// Arrivals before it.
    before: f64,
}

/// What is serialized.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    segments: Vec<Segment>,
}

impl Schedule {
    /// A constant rate without end; the phase ends it. See [`lasting`](Schedule::lasting).
    ///
    /// # Errors
    /// When the rate is not a rate.
    pub fn constant(rate: impl IntoRate) -> Result<Schedule, ConfigError> {
        Schedule::of(vec![Segment::Constant { rate: rate.into_rate()?.per_second(), seconds: None }])
    }

    /// A rate that changes evenly from `from` to `to` over `duration`.
    ///
    /// # Errors
    /// When a rate is not a rate or the duration is zero. A ramp from or to nothing: use a small rate such as 0.001.
    pub fn ramp(from: impl IntoRate, to: impl IntoRate, duration: Duration) -> Result<Schedule, ConfigError> {
        let (from, to) = (from.into_rate()?.per_second(), to.into_rate()?.per_second());
        Schedule::of(vec![Segment::Ramp { from, to, seconds: seconds(duration)? }])
    }

    /// Ends the last segment, which must be a constant rate, after `duration`.
    ///
    /// # Errors
    /// When the duration is zero or the last segment has an end already.
    pub fn lasting(self, duration: Duration) -> Result<Schedule, ConfigError> {
        let length = seconds(duration)?;
        let mut segments = self.into_segments();
        match segments.last_mut() {
            Some(Segment::Constant { seconds: end @ None, .. }) => *end = Some(length),
            _ => {
                let text = humantime::format_duration(duration);
                return Err(ConfigError::invalid(
                    "schedule.lasting",
                    text,
                    "this schedule has an end already",
                ));
            }
        }
        Schedule::of(segments)
    }

    /// This schedule, and when it has ended, another.
    ///
    /// # Errors
    /// When this one has no end.
    pub fn then(self, next: Schedule) -> Result<Schedule, ConfigError> {
        let mut segments = self.into_segments();
        segments.extend(next.into_segments());
        Schedule::of(segments)
    }

    /// How many arrivals it has; `None` when it has no end.
    pub fn count(&self) -> Option<u64> {
        let last = self.segments.last()?;
        let end = last.start + last.segment.seconds()?;
        Some(self.count_before(end))
    }

    /// How many arrivals lie within the first `duration`, its end excluded.
    pub fn count_within(&self, duration: Duration) -> u64 {
        self.count_before(duration.as_secs_f64())
    }

    /// How long it lasts; `None` when it has no end.
    pub fn duration(&self) -> Option<Duration> {
        let last = self.segments.last()?;
        Some(Duration::from_secs_f64(last.start + last.segment.seconds()?))
    }

    /// The rate at its start, per second.
    pub fn initial_rate(&self) -> f64 {
        self.segments.first().map_or(0.0, |s| s.segment.rate(0.0))
    }

    /// The rate at an offset, per second; 0 after the end.
    pub fn rate_at(&self, offset: Duration) -> f64 {
        let t = offset.as_secs_f64();
        let i = self.segments.partition_point(|s| s.start <= t).saturating_sub(1);
        let placed = &self.segments[i];
        let local = t - placed.start;
        if placed.segment.seconds().is_some_and(|s| local >= s) { 0.0 } else { placed.segment.rate(local) }
    }

    /// The offset of arrival `n` (from 0) in ns; `None` after the end.
    pub fn at(&self, n: u64) -> Option<u64> {
        self.at_position(n as f64)
    }

    /// The arrivals of one shard, in order. [`Shard::whole`] is all of them.
    pub fn arrivals(&self, shard: Shard) -> Arrivals {
        Arrivals::new(self.clone(), shard)
    }

    /// A short text for reports.
    pub fn describe(&self) -> String {
        self.segments.iter().map(|s| s.segment.describe()).collect::<Vec<_>>().join(", then ")
    }

    /// The time, in ns, at which the cumulative count reaches `x`.
    fn at_position(&self, x: f64) -> Option<u64> {
        let i = self.segments.partition_point(|s| s.before <= x).saturating_sub(1);
        let placed = &self.segments[i];
        let local = placed.segment.inverse(x - placed.before);
        let ns = to_ns(placed.start + local)?;
        // The end is excluded; compared in whole ns, so that a rounding error cannot let one arrival too many in.
        match placed.segment.seconds() {
            Some(length) if i + 1 == self.segments.len() && ns >= to_ns(placed.start + length)? => None,
            _ => Some(ns),
        }
    }

    fn count_before(&self, t: f64) -> u64 {
        let Some(end) = to_ns(t) else { return u64::MAX };
        let i = self.segments.partition_point(|s| s.start < t).saturating_sub(1);
        let placed = &self.segments[i];
        let local = (t - placed.start).min(placed.segment.seconds().unwrap_or(f64::INFINITY));
        // The closed form is right to one arrival; the rule itself (at(n) < t) decides.
        let mut n = (placed.before + placed.segment.cumulative(local)).round() as u64;
        while n > 0 && self.at(n - 1).is_none_or(|at| at >= end) {
            n -= 1;
        }
        while self.at(n).is_some_and(|at| at < end) {
            n += 1;
        }
        n
    }

    fn into_segments(self) -> Vec<Segment> {
        self.segments.into_iter().map(|s| s.segment).collect()
    }

    fn of(segments: Vec<Segment>) -> Result<Schedule, ConfigError> {
        let (mut start, mut before) = (0.0, 0.0);
        let last = segments.len().checked_sub(1);
        let Some(last) = last else {
            return Err(ConfigError::invalid(
                "schedule.segments",
                "none",
                "a schedule has at least one segment",
            ));
        };
        let mut placed = Vec::with_capacity(segments.len());
        for (i, segment) in segments.into_iter().enumerate() {
            segment.validate()?;
            placed.push(Placed { segment, start, before });
            match segment.seconds() {
                Some(length) => {
                    before = snap(before + segment.cumulative(length));
                    start += length;
                }
                None if i == last => {}
                None => {
                    let text = segment.describe();
                    return Err(ConfigError::invalid(
                        "schedule.then",
                        text,
                        "it has no end; give it one with `lasting`",
                    ));
                }
            }
        }
        Ok(Schedule { segments: placed })
    }
}

impl TryFrom<Data> for Schedule {
    type Error = ConfigError;
    fn try_from(data: Data) -> Result<Schedule, ConfigError> {
        Schedule::of(data.segments)
    }
}

impl From<Schedule> for Data {
    fn from(schedule: Schedule) -> Data {
        Data { segments: schedule.into_segments() }
    }
}

fn seconds(duration: Duration) -> Result<f64, ConfigError> {
    if duration.is_zero() {
        return Err(ConfigError::invalid("schedule.duration", "0 s", "above zero"));
    }
    Ok(duration.as_secs_f64())
}

/// Whole totals stay whole: plain f64 sums give one arrival too many or too few in some 5 % of multi-segment schedules.
fn snap(total: f64) -> f64 {
    let whole = total.round();
    if (total - whole).abs() <= 1e-9 * whole.max(1.0) { whole } else { total }
}

/// Nanoseconds, rounded; `None` beyond what 64 bits hold (584 years).
fn to_ns(seconds: f64) -> Option<u64> {
    let ns = (seconds * 1e9).round();
    (ns < u64::MAX as f64).then_some(ns as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_follow_the_half_open_rule() {
        let count =
            |rate: f64, s: u64| Schedule::constant(rate).unwrap().count_within(Duration::from_secs(s));
        assert_eq!(count(30.0, 30), 900);
        assert_eq!(count(0.5, 10), 5);
        assert_eq!(count(2.5, 8), 20);
        assert_eq!(count(78.0, 5), 390);
        assert_eq!(count(1e7, 5), 50_000_000);
        assert_eq!(count(1.0 / 3.0, 10), 4, "at 0, 3, 6 and 9 s");
        let ramp = Schedule::ramp(10.0, 100.0, Duration::from_secs(20)).unwrap();
        assert_eq!(ramp.count(), Some(1100));
        assert_eq!(ramp.arrivals(Shard::whole()).count(), 1100);
    }

    #[test]
    fn nothing_drifts() {
        let schedule = Schedule::constant(100_000.0).unwrap();
        assert_eq!(schedule.at(1_000_000_000), Some(10_000_000_000_000));
        let slow = Schedule::constant(0.001).unwrap();
        assert_eq!((slow.at(0), slow.at(3)), (Some(0), Some(3_000_000_000_000)));
    }

    #[test]
    fn segments_follow_each_other() {
        let s = Schedule::constant(10.0).unwrap().lasting(Duration::from_secs(1)).unwrap();
        let s = s.then(Schedule::ramp(10.0, 30.0, Duration::from_secs(2)).unwrap()).unwrap();
        assert_eq!(s.count(), Some(50));
        assert_eq!(s.at(10), Some(1_000_000_000));
        assert_eq!(s.at(50), None);
        assert_eq!(s.duration(), Some(Duration::from_secs(3)));
        assert_eq!(s.rate_at(Duration::from_secs(2)), 20.0);
        let json = serde_json::to_string(&s).unwrap();
        assert_eq!(serde_json::from_str::<Schedule>(&json).unwrap(), s);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let s = |e: ConfigError| e.to_string();
        assert!(s(Schedule::constant(0.0).unwrap_err()).starts_with("rate: 0 "));
        assert!(
            s(Schedule::ramp(1.0, 2.0, Duration::ZERO).unwrap_err()).starts_with("schedule.duration: 0 s ")
        );
        let endless = Schedule::constant(1.0).unwrap();
        assert!(s(endless.clone().then(endless).unwrap_err()).starts_with("schedule.then: 1/s "));
        assert!(serde_json::from_str::<Schedule>(r#"{"segments":[]}"#).is_err());
    }
}
