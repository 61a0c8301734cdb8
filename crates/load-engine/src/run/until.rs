//! Rounds until the median is known.

use load_core::{Record, Status};
use std::collections::BTreeMap;

/// Whether the median rate of every stream, phase and level is known to `width` of it.
pub(super) fn known(record: &Record, width: f64) -> bool {
    let mut rates: BTreeMap<(&str, &str, &str), Vec<f64>> = BTreeMap::new();
    for s in &record.streams {
        let rates = rates.entry((&s.name, &s.phase, &s.level)).or_default();
        if s.verdict.status != Status::Rejected {
            rates.push(s.succeeded_per_s);
        }
    }
    !rates.is_empty() && rates.values_mut().all(|r| relative_width(r).is_some_and(|w| w <= width))
}

/// Width of the 95 % confidence interval of the median by order statistics, over the median: from the largest rank k with
/// P(Binomial(n, ½) < k) ≤ 2.5 % to n + 1 − k. `None` below six values, which carry none.
fn relative_width(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let mut probability = 0.5f64.powi(i32::try_from(n).ok()?);
    let (mut below, mut rank) = (0.0, 0);
    for k in 0..n {
        below += probability;
        if below > 0.025 {
            break;
        }
        rank = k + 1;
        probability *= (n - k) as f64 / (k + 1) as f64;
    }
    if rank == 0 {
        return None;
    }
    let median = (values[(n - 1) / 2] + values[n / 2]) / 2.0;
    (median > 0.0).then(|| (values[n - rank] - values[rank - 1]) / median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_the_binomials() {
        assert_eq!(relative_width(&mut [1.0; 5]), None, "five values carry no 95 % interval");
        // Six: the whole range (96.9 %); nine: ranks 2 and 8; ten: ranks 2 and 9.
        let ranks = |n: u32| {
            let mut v: Vec<f64> = (1..=n).map(f64::from).collect();
            let median = (f64::from(n) + 1.0) / 2.0;
            relative_width(&mut v).map(|w| (w * median).round())
        };
        assert_eq!(ranks(6), Some(5.0));
        assert_eq!(ranks(8), Some(7.0));
        assert_eq!(ranks(9), Some(6.0));
        assert_eq!(ranks(10), Some(7.0));
        assert_eq!(ranks(20), Some(9.0), "ranks 6 and 15");
    }
}
