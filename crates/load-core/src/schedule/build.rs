//! The parts of which schedules are made.

use super::{
    Schedule,
    part::{Part, length},
    poisson::Spacing,
};
use crate::{ConfigError, IntoRate};
use std::time::Duration;

impl Schedule {
    /// A constant rate without end; the phase ends it. See [`lasting`](Schedule::lasting).
    ///
    /// # Errors
    /// When the rate is not a rate.
    pub fn constant(rate: impl IntoRate) -> Result<Schedule, ConfigError> {
        one(Part::Constant { rate: rate.into_rate()?, length_ns: None })
    }

    /// A rate that changes evenly from `from` to `to` over `duration`. One of them may be 0.
    ///
    /// ```
    /// # use load_core::Schedule;
    /// # use std::time::Duration;
    /// let up = Schedule::ramp("0/s", "100/s", Duration::from_secs(20))?;
    /// assert_eq!(up.count(), Some(1000));
    /// # Ok::<(), load_core::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// When a rate is not a rate, both are 0, or the duration is zero.
    pub fn ramp(from: impl IntoRate, to: impl IntoRate, duration: Duration) -> Result<Schedule, ConfigError> {
        let from = from.into_rate_or_zero().map_err(|e| e.named("schedule.from"))?;
        let to = to.into_rate_or_zero().map_err(|e| e.named("schedule.to"))?;
        one(Part::Ramp { from, to, length_ns: length(duration)? })
    }

    /// One constant rate after another, each for `each`.
    ///
    /// ```
    /// # use load_core::Schedule;
    /// # use std::time::Duration;
    /// let stairs = Schedule::steps(["100/s", "200/s", "400/s"], Duration::from_secs(10))?;
    /// assert_eq!(stairs.count(), Some(7000));
    /// assert_eq!(stairs.rate_at(Duration::from_secs(25)), 400.0);
    /// # Ok::<(), load_core::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// When a rate is not a rate (named by its place from 0: `schedule.steps[2]`), there is none, or `each` is zero.
    pub fn steps<R: IntoRate>(
        rates: impl IntoIterator<Item = R>,
        each: Duration,
    ) -> Result<Schedule, ConfigError> {
        let length_ns = Some(length(each)?);
        let step = |(i, rate): (usize, R)| match rate.into_rate() {
            Ok(rate) => Ok(Part::Constant { rate, length_ns }),
            Err(e) => Err(e.named(format!("schedule.steps[{i}]"))),
        };
        let parts = rates.into_iter().enumerate().map(step).collect::<Result<Vec<_>, _>>()?;
        if parts.is_empty() {
            return Err(ConfigError::invalid("schedule.steps", "none", "at least one rate"));
        }
        Schedule::of(parts, Spacing::Even)
    }

    /// A rate that swings about `mean` by `amplitude`, first upwards, once in each `period`; without end.
    ///
    /// ```
    /// # use load_core::Schedule;
    /// # use std::time::Duration;
    /// let day = Schedule::sine("100/s", "80/s", Duration::from_secs(24 * 3600))?;
    /// assert_eq!(day.rate_at(Duration::from_secs(6 * 3600)), 180.0);
    /// assert_eq!(day.count_within(Duration::from_secs(24 * 3600)), 100 * 24 * 3600);
    /// # Ok::<(), load_core::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// When a rate is not a rate, the amplitude is above the mean, or the period is zero.
    pub fn sine(
        mean: impl IntoRate,
        amplitude: impl IntoRate,
        period: Duration,
    ) -> Result<Schedule, ConfigError> {
        let mean = mean.into_rate().map_err(|e| e.named("schedule.mean"))?;
        let amplitude = amplitude.into_rate().map_err(|e| e.named("schedule.amplitude"))?;
        let period_ns = length(period).map_err(|e| e.named("schedule.period"))?;
        one(Part::Sine { mean, amplitude, period_ns, length_ns: None })
    }

    /// `base`, but from `after` on `peak` for `duration`, and then `base` again, without end.
    ///
    /// ```
    /// # use load_core::Schedule;
    /// # use std::time::Duration;
    /// let secs = Duration::from_secs;
    /// let spike = Schedule::spike("100/s", "2k/s", secs(10), secs(2))?.lasting(secs(20))?;
    /// assert_eq!(spike.count(), Some(1000 + 4000 + 2000));
    /// # Ok::<(), load_core::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// When a rate is not a rate or a duration is zero.
    pub fn spike(
        base: impl IntoRate,
        peak: impl IntoRate,
        after: Duration,
        duration: Duration,
    ) -> Result<Schedule, ConfigError> {
        let base = base.into_rate().map_err(|e| e.named("schedule.base"))?;
        let peak = peak.into_rate().map_err(|e| e.named("schedule.peak"))?;
        let after = length(after).map_err(|e| e.named("schedule.after"))?;
        let parts = vec![
            Part::Constant { rate: base, length_ns: Some(after) },
            Part::Constant { rate: peak, length_ns: Some(length(duration)?) },
            Part::Constant { rate: base, length_ns: None },
        ];
        Schedule::of(parts, Spacing::Even)
    }

    /// No arrivals for `duration`, to go between others.
    ///
    /// # Errors
    /// When the duration is zero.
    pub fn pause(duration: Duration) -> Result<Schedule, ConfigError> {
        one(Part::Pause { length_ns: length(duration)? })
    }

    /// Arrivals at the given offsets from the start, as they were seen elsewhere; several may be at one time. It ends
    /// 1 ns after the last; give it another length by [`lasting`](Schedule::lasting), to repeat it with the right
    /// gap.
    ///
    /// ```
    /// # use load_core::Schedule;
    /// # use std::time::Duration;
    /// let seen = [0, 3, 3, 250].map(Duration::from_millis);
    /// let ten_times = Schedule::replay(seen)?.lasting(Duration::from_secs(1))?.repeat(10)?;
    /// assert_eq!(ten_times.at(7), Some(1_250_000_000));
    /// # Ok::<(), load_core::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// When there is none, one is before the one ahead of it, or one is beyond 584 years (named by its place from 0:
    /// `schedule.offsets[2]`).
    pub fn replay(offsets: impl IntoIterator<Item = Duration>) -> Result<Schedule, ConfigError> {
        let ns = |(i, offset): (usize, Duration)| match u64::try_from(offset.as_nanos()) {
            Ok(ns) => Ok(ns),
            Err(_) => {
                let text = humantime::format_duration(offset);
                Err(ConfigError::invalid(format!("schedule.offsets[{i}]"), text, super::part::TOO_LONG))
            }
        };
        let offsets_ns = offsets.into_iter().enumerate().map(ns).collect::<Result<_, _>>()?;
        one(Part::Replay { offsets_ns, length_ns: None })
    }
}

fn one(part: Part) -> Result<Schedule, ConfigError> {
    Schedule::of(vec![part], Spacing::Even)
}
