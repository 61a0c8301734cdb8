//! A recorder of durations: hdrhistogram with fixed bounds, and the exact figures beside it.

use hdrhistogram::Histogram as Hdr;
use std::fmt;

/// The longest duration that has a bucket of its own: one hour, in ns. Longer ones are counted in the last bucket and in
/// [`Histogram::out_of_range`]; their exact maximum and sum are kept.
pub const HIGHEST_NS: u64 = 3_600_000_000_000;
/// Significant decimal digits of a bucket.
pub const DIGITS: u8 = 3;

/// Durations in ns: buckets of three significant digits from 1 ns to one hour, and beside them the exact count, minimum,
/// maximum and sum. Recording takes a few nanoseconds and never allocates; a histogram takes about 270 KiB.
///
/// A percentile is the nearest rank (⌈q·n⌉) as the crate `hdrhistogram` computes it, kept within the exact minimum and
/// maximum. An empty histogram has no figures: every getter answers `None`.
#[derive(Clone)]
pub struct Histogram {
    hdr: Hdr<u64>,
    min: u64,
    max: u64,
    sum: u128,
    out_of_range: u64,
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count())
            .field("min", &self.min())
            .field("max", &self.max())
            .finish_non_exhaustive()
    }
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram::new()
    }
}

impl Histogram {
    /// An empty one.
    pub fn new() -> Histogram {
        let hdr = Hdr::new_with_bounds(1, HIGHEST_NS, DIGITS)
            .expect("the bounds are constants that hdrhistogram takes");
        Histogram { hdr, min: u64::MAX, max: 0, sum: 0, out_of_range: 0 }
    }

    /// Records one duration.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.record_n(ns, 1);
    }

    /// Records a duration `n` times.
    #[inline]
    pub fn record_n(&mut self, ns: u64, n: u64) {
        if n == 0 {
            return;
        }
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
        self.sum += u128::from(ns) * u128::from(n);
        if ns > HIGHEST_NS {
            self.out_of_range += n;
        }
        self.hdr.record_n(ns.min(HIGHEST_NS), n).expect("within the bounds");
    }

    /// Adds all of another histogram.
    pub fn add(&mut self, other: &Histogram) {
        if other.count() == 0 {
            return;
        }
        self.hdr.add(&other.hdr).expect("all have the same bounds");
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
        self.out_of_range += other.out_of_range;
    }

    /// Adds a foreign histogram of any bounds and precision, in ns; its extremes and sum are as precise as its buckets.
    pub fn add_hdr(&mut self, other: &Hdr<u64>) {
        for step in other.iter_recorded() {
            self.record_n(other.median_equivalent(step.value_iterated_to()), step.count_at_value());
        }
    }

    /// A histogram read back from a record.
    pub(crate) fn restored(hdr: &Hdr<u64>, min: u64, max: u64, mean: f64, out_of_range: u64) -> Histogram {
        let mut h = Histogram::new();
        // A decoded histogram has other bounds than ours, and a hostile one may reach beyond them.
        for step in hdr.iter_recorded() {
            let value = step.value_iterated_to().min(HIGHEST_NS);
            h.hdr.record_n(value, step.count_at_value()).expect("within the bounds");
        }
        if !h.is_empty() {
            (h.min, h.max, h.out_of_range) = (min, max.max(min), out_of_range);
            h.sum = (mean * h.count() as f64).round() as u128;
        }
        h
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.hdr.reset();
        (self.min, self.max, self.sum, self.out_of_range) = (u64::MAX, 0, 0, 0);
    }

    /// How many were recorded.
    pub fn count(&self) -> u64 {
        self.hdr.len()
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// The shortest, exact.
    pub fn min(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.min)
    }

    /// The longest, exact.
    pub fn max(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.max)
    }

    /// The sum, exact.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The mean: exact sum over count.
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum as f64 / self.count() as f64)
    }

    /// The population's standard deviation (divided by n), from the buckets' medians around the exact mean; 0 when all
    /// are equal.
    pub fn stddev(&self) -> Option<f64> {
        let mean = self.mean()?;
        if self.min == self.max {
            return Some(0.0);
        }
        let squares: f64 = self
            .hdr
            .iter_recorded()
            .map(|s| {
                let value = self.clamp(self.hdr.median_equivalent(s.value_iterated_to())) as f64;
                (value - mean) * (value - mean) * s.count_at_value() as f64
            })
            .sum();
        Some((squares / self.count() as f64).sqrt())
    }

    /// How many were longer than [`HIGHEST_NS`].
    pub fn out_of_range(&self) -> u64 {
        self.out_of_range
    }

    /// The value below which the share `q` (0 to 1) lies: the nearest rank, see the type.
    ///
    /// # Panics
    /// When `q` is not within 0 and 1.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        assert!((0.0..=1.0).contains(&q), "a quantile is between 0 and 1, not {q}");
        (!self.is_empty()).then(|| self.clamp(self.hdr.value_at_quantile(q)))
    }

    /// A 95 % confidence interval of the quantile `q` by order statistics: the values at the ranks
    /// ⌊nq − z·√(nq(1−q))⌋ and ⌈nq + z·√(nq(1−q))⌉ + 1 with z = 1.96. `None` when one of the ranks is not within the
    /// sample: there are too few samples for it. It supposes independent samples, which those of one run are not quite.
    pub fn quantile_ci(&self, q: f64) -> Option<[u64; 2]> {
        let n = self.count() as f64;
        let spread = 1.96 * (n * q * (1.0 - q)).sqrt();
        let (low, high) = ((n * q - spread).floor(), (n * q + spread).ceil() + 1.0);
        if low < 1.0 || high > n {
            return None;
        }
        // Half a rank below, so that rounding cannot reach the next rank.
        let at = |rank: f64| self.clamp(self.hdr.value_at_quantile((rank - 0.5) / n));
        Some([at(low), at(high)])
    }

    /// The buckets, for those who compute something else from them.
    pub fn hdr(&self) -> &Hdr<u64> {
        &self.hdr
    }

    fn clamp(&self, value: u64) -> u64 {
        value.clamp(self.min, self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_never_above_the_maximum() {
        let mut h = Histogram::new();
        h.record(575_000_000);
        for q in [0.0, 0.5, 0.99, 1.0] {
            assert_eq!(h.quantile(q), Some(575_000_000));
        }
        for i in 0..53 {
            h.record(1_000_003 * i);
        }
        for q in [0.0, 0.5, 0.9, 0.99, 0.999, 1.0] {
            let v = h.quantile(q).unwrap();
            assert!(h.min().unwrap() <= v && v <= h.max().unwrap());
        }
    }

    #[test]
    fn no_data_is_no_data() {
        let h = Histogram::new();
        assert_eq!((h.min(), h.max(), h.mean(), h.stddev(), h.quantile(0.5)), (None, None, None, None, None));
        assert_eq!(h.quantile_ci(0.99), None);
    }

    #[test]
    fn a_tiny_sample_has_numbers() {
        let mut h = Histogram::new();
        (1..=8).for_each(|ms| h.record(ms * 1_000_000));
        assert_eq!(h.count(), 8);
        assert!(h.quantile(0.95).unwrap().abs_diff(8_000_000) <= 8_000);
        assert_eq!(h.quantile_ci(0.99), None, "eight samples carry no interval for the 99th percentile");
    }

    #[test]
    fn values_out_of_range_are_counted_and_their_maximum_is_exact() {
        let mut h = Histogram::new();
        for ns in [0, 1, 61_000_000_000, HIGHEST_NS, 2 * HIGHEST_NS + 7] {
            h.record(ns);
        }
        assert_eq!(
            (h.count(), h.out_of_range(), h.min(), h.max()),
            (5, 1, Some(0), Some(2 * HIGHEST_NS + 7))
        );
    }

    #[test]
    fn unlike_histograms_merge() {
        let mut other = Hdr::<u64>::new_with_bounds(1000, 1_000_000_000, 2).unwrap();
        other.record_n(5_000_000, 10).unwrap();
        let mut h = Histogram::new();
        h.record(1);
        h.add_hdr(&other);
        assert_eq!(h.count(), 11);
        assert!(h.quantile(0.5).unwrap().abs_diff(5_000_000) < 50_000, "as precise as the coarser one");
    }

    #[test]
    fn the_tail_is_right_to_the_precision() {
        let mut h = Histogram::new();
        h.record_n(1_000_000, 999_900);
        h.record_n(10_000_000, 90);
        h.record_n(1_000_000_000, 10);
        for (q, ns) in [(0.9998, 1_000_000u64), (0.99995, 10_000_000), (0.999995, 1_000_000_000)] {
            let v = h.quantile(q).unwrap();
            assert!(v.abs_diff(ns) * 1000 <= ns, "{q}: {v}");
        }
        assert_eq!(h.max(), Some(1_000_000_000));
    }

    #[test]
    fn every_percentile_is_inside_the_data() {
        let mut h = Histogram::new();
        (0..100).for_each(|i| h.record(501_000_000 + 20_000 * i));
        for i in 0..=100 {
            let v = h.quantile(f64::from(i) / 100.0).unwrap();
            assert!((501_000_000..=502_980_000).contains(&v));
        }
    }

    #[test]
    fn the_standard_deviation_is_the_populations() {
        let mut h = Histogram::new();
        (1..=100).for_each(|x| h.record(x * 1_000_000));
        assert!((h.stddev().unwrap() / 1e6 - 28.8661).abs() < 0.02);
        assert_eq!(h.mean(), Some(50_500_000.0));
    }

    #[test]
    fn the_interval_holds_the_percentile() {
        let mut h = Histogram::new();
        (1..=10_000).for_each(|x| h.record(x * 1000));
        let [low, high] = h.quantile_ci(0.99).unwrap();
        let p99 = h.quantile(0.99).unwrap();
        assert!(low < p99 && p99 < high);
        assert!(low.abs_diff(9_880_000) <= 10_000 && high.abs_diff(9_921_000) <= 10_000, "{low} {high}");
    }
}
