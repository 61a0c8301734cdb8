//! How sure the ratio of two medians is.

use super::spread::middle;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const RESAMPLES: usize = 10_000;

/// A 95 % confidence interval of median(b) / median(a), by the percentile bootstrap: both samples are drawn anew with
/// replacement 10,000 times, and the 2.5th and 97.5th percentile of the ratios are the ends. The same seed gives the same
/// interval.
///
/// `None` when a sample has fewer than three figures, holds what is not finite, or a median of it can be 0. With few rounds it
/// is narrow rather than honest: it can never reach beyond the figures seen.
pub fn ratio_of_medians_ci(a: &[f64], b: &[f64], seed: u64) -> Option<[f64; 2]> {
    if a.len() < 3 || b.len() < 3 || a.iter().chain(b).any(|x| !x.is_finite()) {
        return None;
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut ratios = Vec::with_capacity(RESAMPLES);
    let mut drawn = Vec::with_capacity(a.len().max(b.len()));
    let mut median_of = |from: &[f64]| {
        drawn.clear();
        drawn.extend((0..from.len()).map(|_| from[rng.random_range(0..from.len())]));
        drawn.sort_unstable_by(f64::total_cmp);
        middle(&drawn)
    };
    for _ in 0..RESAMPLES {
        let ratio = 1.0 / median_of(a)? * median_of(b)?;
        if !ratio.is_finite() {
            return None;
        }
        ratios.push(ratio);
    }
    ratios.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| ratios[((share * RESAMPLES as f64) as usize).min(RESAMPLES - 1)];
    Some([at(0.025), at(0.975)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_holds_the_ratio() {
        let a = [100.0, 101.0, 99.0, 100.5, 99.5];
        let b = a.map(|x| x * 1.3);
        let [low, high] = ratio_of_medians_ci(&a, &b, 1).unwrap();
        assert!(low > 1.27 && low <= 1.3 && (1.3..1.33).contains(&high), "{low} {high}");
        assert_eq!(ratio_of_medians_ci(&a, &b, 1), Some([low, high]), "the same seed, the same interval");
    }

    #[test]
    fn equal_samples_have_a_ratio_of_one() {
        assert_eq!(ratio_of_medians_ci(&[2.0; 4], &[2.0; 4], 7), Some([1.0, 1.0]));
    }

    #[test]
    fn what_carries_no_interval() {
        assert_eq!(ratio_of_medians_ci(&[1.0, 2.0], &[1.0, 2.0, 3.0], 1), None);
        assert_eq!(ratio_of_medians_ci(&[0.0; 3], &[1.0; 3], 1), None);
        assert_eq!(ratio_of_medians_ci(&[f64::NAN; 3], &[1.0; 3], 1), None);
    }
}
