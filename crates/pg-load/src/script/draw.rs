//! Random integers by pgbench's formulas.

use load_core::ConfigError;
use rand::{Rng, RngExt};
use std::fmt;

/// A random integer between two bounds, both included, as pgbench's `random`, `random_gaussian`, `random_exponential` and
/// `random_zipfian` draw it. The distributions are pgbench's; the sequences are not, for the generator is another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Draw {
    min: i64,
    max: i64,
    law: Law,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Law {
    Uniform,
    Gaussian(f64),
    Exponential(f64),
    Zipfian(f64),
}

impl Draw {
    /// Each with the same chance: `random(min, max)`.
    ///
    /// # Errors
    /// When `min` is above `max`, or their distance does not fit into 64 bits.
    pub fn uniform(min: i64, max: i64) -> Result<Draw, ConfigError> {
        Draw::checked(min, max, Law::Uniform)
    }

    /// A bell over the middle, cut off `parameter` standard deviations from it: `random_gaussian(min, max, parameter)`.
    ///
    /// # Errors
    /// As [`uniform`](Draw::uniform), and when `parameter` is below 2.
    pub fn gaussian(min: i64, max: i64, parameter: f64) -> Result<Draw, ConfigError> {
        let law = Law::Gaussian(number(parameter, parameter >= 2.0, "at least 2")?);
        Draw::checked(min, max, law)
    }

    /// Falling from `min` on, cut off at `max`: `random_exponential(min, max, parameter)`; the larger `parameter`, the
    /// more often the low ones come.
    ///
    /// # Errors
    /// As [`uniform`](Draw::uniform), and when `parameter` is not above 0.
    pub fn exponential(min: i64, max: i64, parameter: f64) -> Result<Draw, ConfigError> {
        let law = Law::Exponential(number(parameter, parameter > 0.0, "above 0")?);
        Draw::checked(min, max, law)
    }

    /// Zipf's law: the k-th of them comes in proportion to `k^-parameter`: `random_zipfian(min, max, parameter)`.
    ///
    /// # Errors
    /// As [`uniform`](Draw::uniform), and when `parameter` is not between 1.001 and 1000.
    pub fn zipfian(min: i64, max: i64, parameter: f64) -> Result<Draw, ConfigError> {
        let law =
            Law::Zipfian(number(parameter, (1.001..=1000.0).contains(&parameter), "between 1.001 and 1000")?);
        Draw::checked(min, max, law)
    }

    fn checked(min: i64, max: i64, law: Law) -> Result<Draw, ConfigError> {
        if min > max {
            return Err(ConfigError::invalid("min", min, format!("it is above max ({max})")));
        }
        if max.checked_sub(min).and_then(|d| d.checked_add(1)).is_none() {
            return Err(ConfigError::invalid("max", max, format!("too far from min ({min})")));
        }
        Ok(Draw { min, max, law })
    }

    /// The lowest that can come.
    pub fn min(&self) -> i64 {
        self.min
    }

    /// The highest that can come.
    pub fn max(&self) -> i64 {
        self.max
    }

    /// Draws one.
    #[inline]
    pub fn draw(&self, rng: &mut impl Rng) -> i64 {
        match self.law {
            Law::Uniform => rng.random_range(self.min..=self.max),
            Law::Gaussian(parameter) => self.at(gaussian(rng, parameter)),
            Law::Exponential(parameter) => {
                let cut = (-parameter).exp();
                let uniform = 1.0 - rng.random::<f64>();
                self.at(-(cut + (1.0 - cut) * uniform).ln() / parameter)
            }
            Law::Zipfian(s) => self.min + (zipfian(rng, self.max - self.min + 1, s) - 1),
        }
    }

    /// The integer at a place between 0 and 1 of the range.
    fn at(&self, place: f64) -> i64 {
        let offset = ((self.max - self.min + 1) as f64 * place) as i64;
        // Rounding can carry the last one over the edge.
        self.min + offset.min(self.max - self.min)
    }
}

/// Box-Muller, drawn again until it lies within `parameter` standard deviations; then scaled to [0, 1).
fn gaussian(rng: &mut impl Rng, parameter: f64) -> f64 {
    loop {
        let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
        let z = radius * (std::f64::consts::TAU * (1.0 - rng.random::<f64>())).sin();
        if (-parameter..parameter).contains(&z) {
            return (z + parameter) / (2.0 * parameter);
        }
    }
}

/// Rejection from a Pareto: Devroye, "Non-Uniform Random Variate Generation" (1986), chapter X.6.1.
fn zipfian(rng: &mut impl Rng, n: i64, s: f64) -> i64 {
    if n <= 1 {
        return 1;
    }
    let b = 2f64.powf(s - 1.0);
    loop {
        let (u, v) = (rng.random::<f64>(), rng.random::<f64>());
        let x = u.powf(-1.0 / (s - 1.0)).floor();
        let t = (1.0 + 1.0 / x).powf(s - 1.0);
        if v * x * (t - 1.0) / (b - 1.0) <= t / b && x <= n as f64 {
            return x as i64;
        }
    }
}

fn number(parameter: f64, good: bool, allowed: &str) -> Result<f64, ConfigError> {
    if good && parameter.is_finite() {
        return Ok(parameter);
    }
    Err(ConfigError::invalid("parameter", parameter, format!("it is {allowed}")))
}

impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Draw { min, max, law } = self;
        match law {
            Law::Uniform => write!(f, "random({min}, {max})"),
            Law::Gaussian(p) => write!(f, "random_gaussian({min}, {max}, {p})"),
            Law::Exponential(p) => write!(f, "random_exponential({min}, {max}, {p})"),
            Law::Zipfian(p) => write!(f, "random_zipfian({min}, {max}, {p})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    const N: usize = 200_000;

    /// Draws and compares with the exact chances: the distance of the two distribution functions (Kolmogorov) stays
    /// below what chance allows once in a million.
    fn fits(draw: Draw, chance: impl Fn(i64) -> f64) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut seen = vec![0u32; usize::try_from(draw.max - draw.min + 1).unwrap()];
        for _ in 0..N {
            let value = draw.draw(&mut rng);
            assert!((draw.min..=draw.max).contains(&value), "{draw}: {value}");
            seen[usize::try_from(value - draw.min).unwrap()] += 1;
        }
        let total: f64 = (draw.min..=draw.max).map(&chance).sum();
        let (mut expected, mut found, mut farthest) = (0.0, 0.0, 0f64);
        for (value, count) in (draw.min..=draw.max).zip(seen) {
            expected += chance(value) / total;
            found += f64::from(count) / N as f64;
            farthest = farthest.max((expected - found).abs());
        }
        assert!(farthest < 2.7 / (N as f64).sqrt(), "{draw}: {farthest}");
    }

    fn normal_below(x: f64) -> f64 {
        // Simpson's rule from -8 on is far more exact than the sample.
        let n = 4000;
        let (from, h) = (-8.0, (x + 8.0) / f64::from(n));
        let density = |x: f64| (-x * x / 2.0).exp();
        let sum: f64 = (0..=n)
            .map(|i| {
                let weight = if i == 0 || i == n { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
                weight * density(from + h * f64::from(i))
            })
            .sum();
        sum * h / 3.0
    }

    #[test]
    fn each_law_has_its_exact_chances() {
        fits(Draw::uniform(-5, 94).unwrap(), |_| 1.0);
        fits(Draw::zipfian(1, 1000, 1.3).unwrap(), |k| (k as f64).powf(-1.3));
        fits(Draw::zipfian(10, 500, 2.5).unwrap(), |k| ((k - 9) as f64).powf(-2.5));
        fits(Draw::exponential(0, 99, 4.0).unwrap(), |k| (-4.0 * k as f64 / 100.0).exp());
        let edge = |k: i64| (k as f64 / 100.0 - 0.5) * 2.0 * 2.5;
        fits(Draw::gaussian(0, 99, 2.5).unwrap(), |k| normal_below(edge(k + 1)) - normal_below(edge(k)));
    }

    #[test]
    fn the_ends_of_the_range_do_not_overflow() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let (low, high) = (i64::MIN / 2 + 1, i64::MAX / 2);
        for draw in [
            Draw::uniform(i64::MAX, i64::MAX).unwrap(),
            Draw::uniform(low, high).unwrap(),
            Draw::gaussian(low, high, 2.0).unwrap(),
            Draw::exponential(low, high, 1e-9).unwrap(),
            Draw::exponential(low, high, 1e6).unwrap(),
            Draw::zipfian(i64::MIN, i64::MIN, 1.001).unwrap(),
            Draw::zipfian(1, i64::MAX, 1.001).unwrap(),
        ] {
            for _ in 0..1000 {
                assert!((draw.min..=draw.max).contains(&draw.draw(&mut rng)), "{draw}");
            }
        }
    }

    #[test]
    fn bad_parameters_are_refused_by_field_and_value() {
        for (draw, said) in [
            (Draw::uniform(2, 1), "min: 2 "),
            (Draw::uniform(i64::MIN, i64::MAX), "max: "),
            (Draw::gaussian(1, 9, 1.9), "parameter: 1.9 "),
            (Draw::gaussian(1, 9, f64::INFINITY), "parameter: inf "),
            (Draw::exponential(1, 9, 0.0), "parameter: 0 "),
            (Draw::zipfian(1, 9, 1.0), "parameter: 1 "),
            (Draw::zipfian(1, 9, f64::NAN), "parameter: NaN "),
        ] {
            let error = draw.unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
