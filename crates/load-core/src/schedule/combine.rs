//! Schedules from schedules.

use super::{
    Kind, Schedule,
    curve::ENDLESS,
    part::{Part, length},
    poisson::Spacing,
};
use crate::ConfigError;
use std::time::Duration;

impl Schedule {
    /// Ends the last part, which must be without end (a constant rate, a sine, the base of a spike, a replayed list),
    /// after `duration`, counted from the start of that part.
    ///
    /// # Errors
    /// When the duration is zero, the last part has an end already, or a replayed arrival would be after it.
    pub fn lasting(self, duration: Duration) -> Result<Schedule, ConfigError> {
        let ns = length(duration)?;
        let spacing = self.spacing;
        let mut parts = self.into_parts("schedule.lasting")?;
        match parts.last_mut() {
            Some(
                Part::Constant { length_ns: end @ None, .. }
                | Part::Sine { length_ns: end @ None, .. }
                | Part::Replay { length_ns: end @ None, .. },
            ) => *end = Some(ns),
            _ => {
                let text = humantime::format_duration(duration);
                return Err(ConfigError::invalid(
                    "schedule.lasting",
                    text,
                    "this schedule has an end already",
                ));
            }
        }
        Schedule::of(parts, spacing)
    }

    /// This schedule, and when it has ended, another.
    ///
    /// # Errors
    /// When this one has no end, one is a process, one is Poisson and the other is not, or both together are longer
    /// than 584 years.
    pub fn then(self, next: Schedule) -> Result<Schedule, ConfigError> {
        const FIELD: &str = "schedule.then";
        let spacing = self.spacing;
        next.is_spaced(spacing, FIELD)?;
        self.needs_end(FIELD)?;
        let mut parts = self.into_parts(FIELD)?;
        parts.extend(next.into_parts(FIELD)?);
        Schedule::of(parts, spacing)
    }

    /// One schedule after another, as [`then`](Schedule::then) does with two; for a list of many it is the faster way.
    ///
    /// # Errors
    /// As [`then`](Schedule::then), and when there is none.
    pub fn sequence(schedules: impl IntoIterator<Item = Schedule>) -> Result<Schedule, ConfigError> {
        const FIELD: &str = "schedule.sequence";
        let mut schedules = schedules.into_iter().peekable();
        let Some(first) = schedules.peek() else {
            return Err(ConfigError::invalid(FIELD, "none", "at least one schedule"));
        };
        let spacing = first.spacing;
        let mut parts = Vec::new();
        while let Some(schedule) = schedules.next() {
            schedule.is_spaced(spacing, FIELD)?;
            if schedules.peek().is_some() {
                schedule.needs_end(FIELD)?;
            }
            parts.extend(schedule.into_parts(FIELD)?);
        }
        Schedule::of(parts, spacing)
    }

    /// This schedule `times` times, one after the other.
    ///
    /// ```
    /// # use load_core::Schedule;
    /// # use std::time::Duration;
    /// let burst = Schedule::constant("100/s")?.lasting(Duration::from_secs(1))?;
    /// let bursts = burst.then(Schedule::pause(Duration::from_secs(9))?)?.repeat(6)?;
    /// assert_eq!((bursts.count(), bursts.duration()), (Some(600), Some(Duration::from_secs(60))));
    /// assert_eq!(bursts.describe(), "6 times (100/s for 1 s, then nothing for 9 s)");
    /// # Ok::<(), load_core::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// When `times` is 0, the schedule has no end or is a process, or the whole has more than 100,000 parts or is
    /// longer than 584 years.
    pub fn repeat(self, times: u32) -> Result<Schedule, ConfigError> {
        const FIELD: &str = "schedule.repeat";
        self.needs_end(FIELD)?;
        let spacing = self.spacing;
        let parts = self.into_parts(FIELD)?;
        Schedule::of(vec![Part::Repeat { times, parts }], spacing)
    }

    /// Every rate times `factor`; lengths stay. A replayed list has no rate to multiply: it is played `factor` times
    /// as fast, so its length changes.
    ///
    /// # Errors
    /// When the factor is not finite or not above zero, a rate would be above 10⁹/s, or the schedule is a process.
    pub fn scale(self, factor: f64) -> Result<Schedule, ConfigError> {
        const FIELD: &str = "schedule.factor";
        if !(factor.is_finite() && factor > 0.0) {
            return Err(ConfigError::invalid(FIELD, factor, "finite and above zero"));
        }
        let spacing = self.spacing;
        let parts = self.into_parts(FIELD)?;
        let scaled = parts.iter().map(|p| p.scaled(factor)).collect::<Result<Vec<_>, _>>();
        Schedule::of(scaled.map_err(|e| e.named(FIELD))?, spacing)
    }

    /// Random arrivals at the same rates: a Poisson process, which is what many independent users make. The gaps are
    /// exponential with mean 1 in the cumulative count, carried through its inverse, so that any schedule of rates
    /// can be Poisson. The seed is the run's; with the same seed the arrivals are the same.
    ///
    /// ```
    /// # use load_core::{Schedule, Shard};
    /// let random = Schedule::constant("500/s")?.poisson();
    /// let mut arrivals = random.arrivals(Shard::whole()).seeded(7);
    /// let first = arrivals.next().unwrap();
    /// assert_eq!(random.arrivals(Shard::whole()).seeded(7).next(), Some(first));
    /// assert_ne!(random.arrivals(Shard::whole()).seeded(8).next(), Some(first));
    /// # Ok::<(), load_core::ConfigError>(())
    /// ```
    pub fn poisson(self) -> Schedule {
        Schedule { spacing: Spacing::Poisson { seed: None }, ..self }
    }

    /// As [`poisson`](Schedule::poisson), with a seed of its own: the same arrivals whatever the run's seed, and in
    /// every round.
    pub fn poisson_seeded(self, seed: u64) -> Schedule {
        Schedule { spacing: Spacing::Poisson { seed: Some(seed) }, ..self }
    }

    fn is_spaced(&self, spacing: Spacing, field: &str) -> Result<(), ConfigError> {
        if self.spacing == spacing {
            return Ok(());
        }
        let reason = "all are evenly spaced, or all are Poisson with the same seed";
        Err(ConfigError::invalid(field, self.describe(), reason))
    }

    fn needs_end(&self, field: &str) -> Result<(), ConfigError> {
        match self.duration() {
            Some(_) => Ok(()),
            None => Err(ConfigError::invalid(field, self.describe(), ENDLESS)),
        }
    }

    fn into_parts(self, field: &str) -> Result<Vec<Part>, ConfigError> {
        match self.kind {
            Kind::Data { parts, .. } => Ok(parts),
            Kind::Process(process) => {
                Err(ConfigError::invalid(field, process.describe(), "a process stands alone"))
            }
        }
    }
}
