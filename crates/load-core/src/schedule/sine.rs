//! A rate that swings about its mean.

use super::segment::to_ns;
use crate::ConfigError;
use std::f64::consts::TAU;

/// Nodes of the table from which root finding starts.
const NODES: usize = 256;

/// `mean + amplitude · sin(2π t / period)` per second.
///
/// In the angle u = 2π t / period the count is (u + r (1 − cos u)) · mean · period / 2π with r = amplitude / mean, so
/// that one arrival is a root of Kepler's equation. Roots are searched within one period, whose number is exact, from
/// a table of roots: the result depends on nothing but the arrival's number, whichever shard asks and whatever it
/// asked before.
#[derive(Debug)]
pub(super) struct SineShape {
    mean: f64,
    amplitude: f64,
    period_ns: u64,
    /// Arrivals in one period.
    per_period: f64,
    /// Roots for counts of 0, 1/256, 2/256, ... of a period.
    roots: Box<[f64]>,
}

impl SineShape {
    pub(super) fn new(mean: f64, amplitude: f64, period_ns: u64) -> Result<SineShape, ConfigError> {
        if amplitude > mean {
            return Err(ConfigError::invalid(
                "schedule.amplitude",
                format!("{amplitude}/s"),
                format!("at most the mean, {mean}/s: a rate is not negative"),
            ));
        }
        if period_ns == 0 {
            return Err(ConfigError::invalid("schedule.period", "0 s", "above zero"));
        }
        let ratio = amplitude / mean;
        let mut roots = Vec::with_capacity(NODES + 1);
        for node in 0..=NODES {
            let count = TAU * node as f64 / NODES as f64;
            roots.push(root(ratio, count, 0.0, TAU, count));
        }
        let per_period = mean * (period_ns as f64 / 1e9);
        Ok(SineShape { mean, amplitude, period_ns, per_period, roots: roots.into() })
    }

    /// Arrivals in the first `ns`.
    pub(super) fn cumulative(&self, ns: u64) -> f64 {
        let (periods, rest) = (ns / self.period_ns, ns % self.period_ns);
        let angle = TAU * (rest as f64 / self.period_ns as f64);
        let half = (0.5 * angle).sin();
        let swing = self.amplitude * (self.period_ns as f64 / 1e9) / TAU * 2.0 * half * half;
        periods as f64 * self.per_period + self.mean * (rest as f64 / 1e9) + swing
    }

    pub(super) fn rate(&self, ns: u64) -> f64 {
        let angle = TAU * ((ns % self.period_ns) as f64 / self.period_ns as f64);
        self.mean + self.amplitude * angle.sin()
    }

    /// The ns at which the count is `x`.
    pub(super) fn inverse(&self, x: f64) -> Option<u64> {
        let period = (x / self.per_period).floor();
        let count = ((x - period * self.per_period) / self.per_period * TAU).clamp(0.0, TAU);
        let node = ((count * (NODES as f64 / TAU)) as usize).min(NODES - 1);
        let (low, high) = (self.roots[node], self.roots[node + 1]);
        let part = count * (NODES as f64 / TAU) - node as f64;
        let angle = root(self.amplitude / self.mean, count, low, high, low + part * (high - low));
        let within = to_ns(angle / TAU * (self.period_ns as f64 / 1e9))?;
        let before = (period < u64::MAX as f64).then_some(period as u64)?.checked_mul(self.period_ns)?;
        before.checked_add(within)
    }
}

/// The u between `low` and `high` with u + r (1 − cos u) = `count`: Newton's method, kept within a bracket that
/// shrinks, from `start`.
fn root(r: f64, count: f64, mut low: f64, mut high: f64, start: f64) -> f64 {
    let mut u = start;
    for _ in 0..100 {
        let (sin, cos) = (0.5 * u).sin_cos();
        // 1 − cos u as 2 sin² (u/2), which does not cancel near 0.
        let excess = u + 2.0 * r * sin * sin - count;
        if excess > 0.0 {
            high = u
        } else {
            low = u
        }
        let slope = 1.0 + 2.0 * r * sin * cos;
        let newton = u - excess / slope;
        // A slope of 0 gives no number or one far away; halving always works.
        let next = if newton >= low && newton <= high { newton } else { 0.5 * (low + high) };
        let step = (next - u).abs();
        u = next;
        // Where the slope is not small, the error after a step is of the order of its square.
        if step <= 4.0 * f64::EPSILON || (step <= 1e-8 && slope > 0.05) {
            break;
        }
    }
    u
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_right_to_a_nanosecond_after_a_hundred_thousand_periods() {
        for (mean, amplitude, period_s) in
            [(100.0, 50.0, 60.0), (2000.0, 2000.0, 10.0), (0.01, 0.009, 3600.0), (50_000.0, 1.0, 1.0)]
        {
            let sine = SineShape::new(mean, amplitude, (period_s * 1e9) as u64).unwrap();
            for k in [0u64, 1, 99_999] {
                for i in 0..1000 {
                    let x = (k as f64 + i as f64 / 1000.0) * mean * period_s;
                    let at = sine.inverse(x).unwrap();
                    // How far off in time: the difference in count over the rate, which the trough of a full swing
                    // makes large for a difference of one rounding.
                    let rounding = 4.0 * f64::EPSILON * x;
                    let (before, after) = (
                        sine.cumulative(at.saturating_sub(1)) - rounding,
                        sine.cumulative(at + 1) + rounding,
                    );
                    assert!(before <= x && x <= after, "{mean} {amplitude}: {before} {x} {after}");
                }
            }
        }
    }

    #[test]
    fn a_period_holds_its_mean() {
        let sine = SineShape::new(10.0, 10.0, 7_000_000_000).unwrap();
        assert!((sine.cumulative(7_000_000_000) - 70.0).abs() < 1e-12);
        assert!((sine.cumulative(700_000_000_000) - 7000.0).abs() < 1e-9);
        assert_eq!(sine.inverse(70.0), Some(7_000_000_000));
    }

    #[test]
    fn a_rate_below_nothing_is_refused() {
        let said = |e: ConfigError| e.to_string();
        assert!(said(SineShape::new(1.0, 1.5, 1).unwrap_err()).starts_with("schedule.amplitude: 1.5/s "));
        assert!(said(SineShape::new(1.0, 0.5, 0).unwrap_err()).starts_with("schedule.period: 0 s "));
    }
}
