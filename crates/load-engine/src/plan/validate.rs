//! What cannot be meant is refused before anything connects.

use super::Plan;
use load_core::ConfigError;
use std::time::Duration;

/// The most rounds.
const MAX_ROUNDS: u32 = 10_000;

impl Plan {
    /// Checks every setting.
    ///
    /// # Errors
    /// Names the first field that cannot be meant, and its value.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.streams.is_empty() {
            return Err(ConfigError::invalid("streams", "none", "a plan has at least one stream"));
        }
        for (i, stream) in self.streams.iter().enumerate() {
            if stream.name().is_empty() {
                return Err(ConfigError::invalid("stream.name", "\"\"", "a stream has a name"));
            }
            if self.streams[..i].iter().any(|s| s.name() == stream.name()) {
                return Err(ConfigError::invalid("stream.name", stream.name(), "names are used once"));
            }
            stream.load.validate()?;
            stream.validate()?;
        }
        self.validate_phases()?;
        if self.no_level {
            return Err(ConfigError::invalid(
                "levels",
                "[]",
                "at least one; without levels a stream's own load",
            ));
        }
        for (i, (level, load)) in self.levels.iter().enumerate() {
            if self.levels[..i].iter().any(|(l, _)| l == level) {
                return Err(ConfigError::invalid("levels", level, "each level is given once"));
            }
            load.validate()?;
        }
        let year = Duration::from_secs(366 * 24 * 3600);
        for (field, duration, zero_allowed) in [
            ("measure", self.measure.unwrap_or(Duration::from_secs(1)), false),
            ("warmup", self.warmup, true),
            ("drain", self.drain, true),
            ("window", self.window, false),
            ("connect_timeout", self.connect_timeout, false),
            ("calibrate", self.calibration, true),
        ] {
            if duration > year || (duration.is_zero() && !zero_allowed) {
                let least = if zero_allowed { "" } else { "above zero and " };
                return Err(ConfigError::invalid(
                    field,
                    format!("{duration:?}"),
                    format!("{least}at most a year"),
                ));
            }
        }
        if self.window < Duration::from_millis(1) {
            return Err(ConfigError::invalid("window", format!("{:?}", self.window), "at least 1 ms"));
        }
        if self.count == Some(0) {
            return Err(ConfigError::invalid("measure_count", 0, "at least 1"));
        }
        if self.rounds == 0 || self.rounds > MAX_ROUNDS {
            return Err(ConfigError::invalid(
                "rounds",
                self.rounds,
                format!("at least 1 and at most {MAX_ROUNDS}"),
            ));
        }
        Ok(())
    }

    fn validate_phases(&self) -> Result<(), ConfigError> {
        let known = |name: &str| self.streams.iter().any(|s| s.name() == name);
        for (i, (name, streams)) in self.phases.iter().enumerate() {
            if name.is_empty() || self.phases[..i].iter().any(|(other, _)| other == name) {
                return Err(ConfigError::invalid("phase.name", format!("{name:?}"), "a name of its own"));
            }
            if let Some(stream) = streams.iter().find(|s| !known(s)) {
                return Err(ConfigError::invalid(
                    "phase.streams",
                    stream,
                    "a phase names streams of the plan",
                ));
            }
        }
        for limit in &self.aborts {
            limit.validate()?;
            if !known(limit.stream()) {
                return Err(ConfigError::invalid(
                    "abort_when.stream",
                    limit.stream(),
                    "a stream of the plan",
                ));
            }
        }
        match self.until {
            Some(width) if !(width.is_finite() && width > 0.0 && width < 1.0) => {
                return Err(ConfigError::invalid(
                    "rounds_until.width",
                    width,
                    "a share of the median, between 0 and 1",
                ));
            }
            Some(_) if self.rounds < 6 => {
                let reason = "at least 6: fewer rounds carry no 95 % interval of a median";
                return Err(ConfigError::invalid("rounds_until.rounds", self.rounds, reason));
            }
            _ => {}
        }
        if self.failure_limit == Some(0) {
            return Err(ConfigError::invalid("stop_after_failures", 0, "at least 1"));
        }
        Ok(())
    }
}
