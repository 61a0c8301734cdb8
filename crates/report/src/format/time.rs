//! Durations.

use super::number::{fixed, significant};

/// The unit of a table of durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeUnit {
    Nanoseconds,
    Microseconds,
    Milliseconds,
    Seconds,
}

impl TimeUnit {
    /// One unit for all these durations: the largest in which the shortest of them is still at least 0.1. Zeros do not count.
    pub(crate) fn for_all(ns: impl IntoIterator<Item = f64>) -> TimeUnit {
        let shortest = ns.into_iter().filter(|x| x.is_finite() && *x > 0.0).fold(f64::INFINITY, f64::min);
        match shortest {
            x if x.is_infinite() => TimeUnit::Milliseconds,
            x if x >= 1e9 => TimeUnit::Seconds,
            x if x >= 1e5 => TimeUnit::Milliseconds,
            x if x >= 1e2 => TimeUnit::Microseconds,
            _ => TimeUnit::Nanoseconds,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            TimeUnit::Nanoseconds => "ns",
            TimeUnit::Microseconds => "µs",
            TimeUnit::Milliseconds => "ms",
            TimeUnit::Seconds => "s",
        }
    }

    /// A duration in this unit: at least four significant digits, at most three decimals.
    pub(crate) fn write(self, ns: f64) -> String {
        let scale = match self {
            TimeUnit::Nanoseconds => return fixed(ns, 0),
            TimeUnit::Microseconds => 1e3,
            TimeUnit::Milliseconds => 1e6,
            TimeUnit::Seconds => 1e9,
        };
        significant(ns / scale, 4, 3)
    }
}

/// A duration by itself, with its unit: `5 s`, `29.3 µs`, `12 h 34 min`.
pub(crate) fn duration(ns: u64) -> String {
    let x = ns as f64;
    let (value, unit) = match ns {
        0 => return "0 s".into(),
        1..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => (x / 1e3, "µs"),
        1_000_000..1_000_000_000 => (x / 1e6, "ms"),
        1_000_000_000..120_000_000_000 => (x / 1e9, "s"),
        _ => {
            let seconds = ns / 1_000_000_000;
            let (h, min, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
            return match (h, min, s) {
                (0, min, 0) => format!("{min} min"),
                (0, min, s) => format!("{min} min {s} s"),
                (h, 0, _) => format!("{} h", super::count(h)),
                (h, min, _) => format!("{} h {min} min", super::count(h)),
            };
        }
    };
    format!("{} {unit}", super::short(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_unit_for_a_table() {
        assert_eq!(TimeUnit::for_all([0.0, 200_000.0, 5e9]), TimeUnit::Milliseconds);
        assert_eq!(TimeUnit::for_all([29_000.0, 1e6]), TimeUnit::Microseconds);
        assert_eq!(TimeUnit::for_all([2e9]), TimeUnit::Seconds);
        assert_eq!(TimeUnit::for_all([3.0, 1e9]), TimeUnit::Nanoseconds);
        assert_eq!(TimeUnit::for_all([f64::NAN]), TimeUnit::Milliseconds);
        assert_eq!(TimeUnit::Milliseconds.write(14_313_000.0), "14.31");
        assert_eq!(TimeUnit::Milliseconds.write(0.0), "0");
        assert_eq!(TimeUnit::Microseconds.write(5e9), "5,000,000");
    }

    #[test]
    fn a_duration_by_itself() {
        for (ns, text) in [
            (0, "0 s"),
            (7, "7 ns"),
            (29_300, "29.3 µs"),
            (575_000_000, "575 ms"),
            (5_000_000_000, "5 s"),
            (15_500_000_000, "15.5 s"),
            (180_000_000_000, "3 min"),
            (45_252_000_000_000, "12 h 34 min"),
        ] {
            assert_eq!(duration(ns), text);
        }
        assert!(duration(u64::MAX).ends_with("min"));
    }
}
