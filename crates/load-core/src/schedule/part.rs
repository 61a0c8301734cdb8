//! What a schedule is made of, as it is written down.

use super::segment::{Segment, SineShape};
use crate::{ConfigError, IntoRate, Rate};
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Duration};

/// The most stretches that a schedule can have once its repetitions are written out.
pub(super) const MAX_SEGMENTS: usize = 100_000;

/// One part. Lengths are whole nanoseconds and rates are text, so that what is read back is what was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Part {
    /// `rate` for `length_ns`, or without end.
    Constant { rate: Rate, length_ns: Option<u64> },
    /// From `from` to `to`, evenly over `length_ns`. One of them may be 0.
    Ramp {
        #[serde(with = "rate_or_zero")]
        from: f64,
        #[serde(with = "rate_or_zero")]
        to: f64,
        length_ns: u64,
    },
    /// `mean` + `amplitude` · sin(2π t / `period_ns`).
    Sine { mean: Rate, amplitude: Rate, period_ns: u64, length_ns: Option<u64> },
    /// Nothing at all.
    Pause { length_ns: u64 },
    /// Given offsets; it ends 1 ns after the last of them unless told otherwise.
    Replay {
        #[serde(with = "shared")]
        offsets_ns: Arc<[u64]>,
        length_ns: Option<u64>,
    },
    /// The same parts `times` times.
    Repeat { times: u32, parts: Vec<Part> },
}

impl Part {
    /// Its stretches, in order.
    pub(super) fn flatten(&self, out: &mut Vec<Segment>) -> Result<(), ConfigError> {
        let segment = match self {
            Part::Constant { rate, length_ns } => Segment::constant(rate.per_second(), *length_ns),
            Part::Ramp { from, to, length_ns } => Segment::ramp(*from, *to, *length_ns)?,
            Part::Sine { mean, amplitude, period_ns, length_ns } => {
                let shape = SineShape::new(mean.per_second(), amplitude.per_second(), *period_ns)?;
                Segment::sine(Arc::new(shape), *length_ns)
            }
            Part::Pause { length_ns } => Segment::pause(*length_ns),
            Part::Replay { offsets_ns, length_ns } => Segment::replay(offsets_ns.clone(), *length_ns)?,
            Part::Repeat { times, parts } => return repeat(*times, parts, out),
        };
        if segment.length_ns() == Some(0) {
            return Err(ConfigError::invalid("schedule.duration", "0 s", "above zero"));
        }
        out.push(segment);
        Ok(())
    }

    /// The same with every rate times `factor`. A replayed list is played so many times as fast.
    pub(super) fn scaled(&self, factor: f64) -> Result<Part, ConfigError> {
        let times = |rate: &Rate| Rate::new(rate.per_second() * factor);
        let faster = |ns: u64| (ns as f64 / factor).round() as u64;
        Ok(match self {
            Part::Constant { rate, length_ns } => {
                Part::Constant { rate: times(rate)?, length_ns: *length_ns }
            }
            Part::Ramp { from, to, length_ns } => Part::Ramp {
                from: (from * factor).into_rate_or_zero()?,
                to: (to * factor).into_rate_or_zero()?,
                length_ns: *length_ns,
            },
            Part::Sine { mean, amplitude, period_ns, length_ns } => Part::Sine {
                mean: times(mean)?,
                amplitude: times(amplitude)?,
                period_ns: *period_ns,
                length_ns: *length_ns,
            },
            Part::Pause { length_ns } => Part::Pause { length_ns: *length_ns },
            Part::Replay { offsets_ns, length_ns } => Part::Replay {
                offsets_ns: offsets_ns.iter().map(|ns| faster(*ns)).collect(),
                length_ns: length_ns.map(faster),
            },
            Part::Repeat { times, parts } => Part::Repeat {
                times: *times,
                parts: parts.iter().map(|p| p.scaled(factor)).collect::<Result<_, _>>()?,
            },
        })
    }

    /// Whether a replayed list is in it.
    pub(super) fn replays(&self) -> bool {
        match self {
            Part::Replay { .. } => true,
            Part::Repeat { parts, .. } => parts.iter().any(Part::replays),
            _ => false,
        }
    }

    pub(super) fn describe(&self) -> String {
        let lasting = |length: &Option<u64>| length.map_or(String::new(), |ns| format!(" for {}", text(ns)));
        match self {
            Part::Constant { rate, length_ns } => format!("{rate}{}", lasting(length_ns)),
            Part::Ramp { from, to, length_ns } => format!("{from}/s to {to}/s over {}", text(*length_ns)),
            Part::Sine { mean, amplitude, period_ns, length_ns } => {
                format!("{mean} ± {amplitude} with a period of {}{}", text(*period_ns), lasting(length_ns))
            }
            Part::Pause { length_ns } => format!("nothing for {}", text(*length_ns)),
            Part::Replay { offsets_ns, length_ns } => {
                format!("{} replayed arrivals{}", offsets_ns.len(), lasting(length_ns))
            }
            Part::Repeat { times, parts } => format!("{times} times ({})", describe_all(parts)),
        }
    }
}

pub(super) fn describe_all(parts: &[Part]) -> String {
    parts.iter().map(Part::describe).collect::<Vec<_>>().join(", then ")
}

fn text(ns: u64) -> String {
    format!("{} s", ns as f64 / 1e9)
}

fn repeat(times: u32, parts: &[Part], out: &mut Vec<Segment>) -> Result<(), ConfigError> {
    let start = out.len();
    parts.iter().try_for_each(|part| part.flatten(out))?;
    let once = out[start..].to_vec();
    if times == 0 || once.len().saturating_mul(times as usize) > MAX_SEGMENTS {
        return Err(ConfigError::invalid(
            "schedule.repeat",
            times,
            format!("at least once, and at most {MAX_SEGMENTS} parts in all"),
        ));
    }
    // Segments share what is large in them, so that a copy is cheap.
    (1..times).for_each(|_| out.extend_from_slice(&once));
    Ok(())
}

/// A length as whole ns.
pub(super) fn length(duration: Duration) -> Result<u64, ConfigError> {
    let text = || humantime::format_duration(duration).to_string();
    match u64::try_from(duration.as_nanos()) {
        Ok(0) => Err(ConfigError::invalid("schedule.duration", "0 s", "above zero")),
        Ok(ns) => Ok(ns),
        Err(_) => Err(ConfigError::invalid("schedule.duration", text(), TOO_LONG)),
    }
}

/// Times are ns in 64 bits.
pub(super) const TOO_LONG: &str = "at most 584 years";

mod rate_or_zero {
    use crate::IntoRate;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(per_second: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{per_second}/s"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        String::deserialize(deserializer)?.into_rate_or_zero().map_err(D::Error::custom)
    }
}

/// Serde's own support for shared slices is a feature that would be on for everyone.
mod shared {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::sync::Arc;

    pub(super) fn serialize<S: Serializer>(offsets: &Arc<[u64]>, serializer: S) -> Result<S::Ok, S::Error> {
        offsets[..].serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<[u64]>, D::Error> {
        Vec::deserialize(deserializer).map(Arc::from)
    }
}
