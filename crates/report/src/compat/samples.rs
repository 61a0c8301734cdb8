//! Sorted samples in µs, and the percentile rules of other tools on them.

use crate::ReportError;
use load_core::{Histogram, record::Distribution};

/// Whole microseconds, sorted, with how often each was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Samples {
    /// Values in ascending order, each with the number of samples up to and including it.
    values: Vec<(u64, u64)>,
}

impl Samples {
    /// These values, in any order.
    pub fn exact(values: impl IntoIterator<Item = u64>) -> Samples {
        Samples::counted(values.into_iter().map(|x| (x, 1)))
    }

    /// These values with their numbers, in any order.
    pub fn counted(values: impl IntoIterator<Item = (u64, u64)>) -> Samples {
        let mut all: Vec<(u64, u64)> = values.into_iter().filter(|(_, n)| *n > 0).collect();
        all.sort_unstable();
        let mut sum = 0u64;
        let mut values: Vec<(u64, u64)> = Vec::with_capacity(all.len());
        for (x, n) in all {
            sum = sum.saturating_add(n);
            match values.last_mut() {
                Some(last) if last.0 == x => last.1 = sum,
                _ => values.push((x, sum)),
            }
        }
        Samples { values }
    }

    /// The samples of a histogram of nanoseconds: the middle of each bucket, and the exact minimum and maximum, cut to whole
    /// µs as the tools' clocks do.
    pub fn of(histogram: &Histogram) -> Samples {
        let (Some(min), Some(max)) = (histogram.min(), histogram.max()) else {
            return Samples { values: Vec::new() };
        };
        let hdr = histogram.hdr();
        let mut buckets: Vec<(u64, u64)> = hdr
            .iter_recorded()
            .map(|s| (hdr.median_equivalent(s.value_iterated_to()).clamp(min, max), s.count_at_value()))
            .collect();
        // One of the first bucket is the minimum, one of the last the maximum.
        let ends = if histogram.count() == 1 { vec![(min, 1)] } else { vec![(min, 1), (max, 1)] };
        if let Some(first) = buckets.first_mut() {
            first.1 -= 1;
        }
        if let Some(last) = buckets.last_mut() {
            last.1 = last.1.saturating_sub(1);
        }
        Samples::counted(buckets.into_iter().chain(ends).map(|(ns, n)| (ns / 1000, n)))
    }

    /// The samples of a distribution.
    ///
    /// # Errors
    /// When its histogram cannot be read.
    pub fn of_distribution(distribution: &Distribution) -> Result<Samples, ReportError> {
        Ok(Samples::of(&distribution.histogram()?))
    }

    /// How many samples there are.
    pub fn len(&self) -> u64 {
        self.values.last().map_or(0, |(_, sum)| *sum)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The shortest.
    pub fn min(&self) -> Option<u64> {
        self.values.first().map(|(x, _)| *x)
    }

    /// The longest.
    pub fn max(&self) -> Option<u64> {
        self.values.last().map(|(x, _)| *x)
    }

    /// Each value with its number, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let mut before = 0;
        self.values.iter().map(move |(x, sum)| (*x, sum - std::mem::replace(&mut before, *sum)))
    }

    /// The sample at an index of the sorted samples, from 0.
    pub fn at(&self, index: u64) -> Option<u64> {
        let i = self.values.partition_point(|(_, sum)| *sum <= index);
        self.values.get(i).map(|(x, _)| *x)
    }

    /// The mean.
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum() as f64 / self.len() as f64)
    }

    pub(super) fn sum(&self) -> u128 {
        self.iter().map(|(x, n)| u128::from(x) * u128::from(n)).fold(0, u128::saturating_add)
    }

    /// The sum of the squared distances from `center`.
    pub(super) fn squares(&self, center: f64) -> f64 {
        self.iter().map(|(x, n)| (x as f64 - center).powi(2) * n as f64).sum()
    }

    /// Standard deviation as of a whole population (divided by n): pgbench, wrk2, HdrHistogram.
    pub fn stddev_of_population(&self) -> Option<f64> {
        Some((self.squares(self.mean()?) / self.len() as f64).sqrt())
    }

    /// Standard deviation as of a sample (divided by n − 1), 0 for a single one: wrk.
    pub fn stddev_of_sample(&self) -> Option<f64> {
        let mean = self.mean()?;
        Some(if self.len() < 2 { 0.0 } else { (self.squares(mean) / (self.len() - 1) as f64).sqrt() })
    }

    /// wrk's percentile: the first value at which at least round(p/100·n + 0.5) samples are counted.
    pub fn wrk_percentile(&self, p: f64) -> Option<u64> {
        let rank = (p / 100.0 * self.len() as f64 + 0.5).round() as u64;
        // Beyond the last rank wrk finds nothing and prints 0; the maximum is what it means.
        self.at(rank.saturating_sub(1)).or(self.max())
    }

    /// The percentile of HdrHistogram in C (wrk2, redis-benchmark, memtier): the value at rank max(1, ⌊p/100·n + 0.5⌋).
    pub fn hdr_c_percentile(&self, p: f64) -> Option<u64> {
        let rank = (p.min(100.0) / 100.0 * self.len() as f64 + 0.5).floor().max(1.0) as u64;
        self.at(rank - 1).or(self.max())
    }

    /// The percentile of ab's table: `x[n·p/100]` by whole numbers, counted from 0; the last one for 100.
    pub fn ab_percentile(&self, p: u64) -> Option<u64> {
        let index = u128::from(self.len()) * u128::from(p) / 100;
        self.at(index as u64).or(self.max())
    }

    /// The percentile of ab's `-e` file: `x[⌊0.5 + n·p/100⌋]`, `x[0]` for 0.
    pub fn ab_csv_percentile(&self, p: u64) -> Option<u64> {
        let index = if p == 0 { 0 } else { (0.5 + self.len() as f64 * p as f64 / 100.0) as u64 };
        self.at(index).or(self.max())
    }

    /// The percentile of k6 and NumPy: between the neighbours of p/100·(n − 1), by their distance.
    pub fn linear_percentile(&self, p: f64) -> Option<f64> {
        let at = (p / 100.0).clamp(0.0, 1.0) * (self.len().checked_sub(1)? as f64);
        let low = self.at(at.floor() as u64).or(self.max())? as f64;
        let high = self.at(at.ceil() as u64).or(self.max())? as f64;
        Some(low + (high - low) * at.fract())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_gives_as_many_samples_and_its_exact_ends() {
        for values in [vec![575_123_456], vec![1_000_999, 1_000_999], vec![7_000, 99_999_000, 100_000_000]] {
            let mut h = Histogram::new();
            values.iter().for_each(|x| h.record(*x));
            let x = Samples::of(&h);
            assert_eq!(x.len(), values.len() as u64);
            assert_eq!((x.min(), x.max()), (Some(values[0] / 1000), Some(values[values.len() - 1] / 1000)));
        }
        assert!(Samples::of(&Histogram::new()).is_empty());
    }
}
