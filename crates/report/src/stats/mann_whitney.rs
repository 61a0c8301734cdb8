//! Whether two samples come from the same distribution, by their ranks alone.

/// Above so many figures together the normal approximation is as good as exact counting.
const EXACT: usize = 100;

/// The outcome of [`mann_whitney`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MannWhitney {
    /// How many pairs (a, b) have a > b; pairs of equals count one half.
    pub u: f64,
    /// Two-sided: how likely so uneven an order is when both come from the same distribution.
    pub p: f64,
    /// Whether the probability was counted, and not approximated.
    pub exact: bool,
}

/// The Mann-Whitney U test, two-sided. Exact (all orders counted) when no two figures are equal and there are at most 100;
/// otherwise by the normal approximation with correction for ties and for continuity, as SciPy's `mannwhitneyu` computes it.
/// `None` when a sample is empty or holds what is not finite.
///
/// The unit is the round: operations within a round depend on each other, so never feed it latencies of one run.
///
/// ```
/// let m = report::stats::mann_whitney(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]).unwrap();
/// assert!((m.p - 2.0 / 252.0).abs() < 1e-15);
/// ```
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Option<MannWhitney> {
    if a.is_empty() || b.is_empty() || a.iter().chain(b).any(|x| !x.is_finite()) {
        return None;
    }
    let (n1, n2) = (a.len() as f64, b.len() as f64);
    let mut all: Vec<(f64, bool)> =
        a.iter().map(|x| (*x, true)).chain(b.iter().map(|x| (*x, false))).collect();
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    // Equal figures share the mean of their ranks.
    let (mut rank_sum, mut ties, mut i) = (0.0, 0.0, 0);
    while i < all.len() {
        let end = all[i..].iter().take_while(|x| x.0 == all[i].0).count() + i;
        let t = (end - i) as f64;
        ties += t * t * t - t;
        let rank = (i + 1 + end) as f64 / 2.0;
        rank_sum += rank * all[i..end].iter().filter(|x| x.1).count() as f64;
        i = end;
    }
    let u = rank_sum - n1 * (n1 + 1.0) / 2.0;
    let larger = u.max(n1 * n2 - u);
    let exact = ties == 0.0 && all.len() <= EXACT;
    let p = if exact {
        2.0 * at_least(a.len(), b.len(), larger as usize)
    } else {
        2.0 * normal(n1, n2, larger, ties)
    };
    Some(MannWhitney { u, p: p.min(1.0), exact })
}

/// The smallest probability that samples of these sizes can reach: when all of one lie above all of the other.
pub fn smallest_p(n1: usize, n2: usize) -> f64 {
    if n1 == 0 || n2 == 0 {
        return 1.0;
    }
    // 2 / C(n1 + n2, n1), multiplied up so that nothing overflows.
    let orders: f64 = (1..=n1).map(|i| (n2 + i) as f64 / i as f64).product();
    (2.0 / orders).min(1.0)
}

/// The share of all orders of n1 and n2 figures in which U is at least `u`.
fn at_least(n1: usize, n2: usize, u: usize) -> f64 {
    // The numbers of orders by U are the coefficients of Π (1 − q^(n2+i)) / (1 − q^i) for i = 1 to n1.
    let top = n1 * n2;
    let mut ways = vec![0i128; top + 1];
    ways[0] = 1;
    for i in 1..=n1 {
        for k in (n2 + i..=top).rev() {
            ways[k] -= ways[k - n2 - i];
        }
        for k in i..=top {
            ways[k] += ways[k - i];
        }
    }
    let all: i128 = ways.iter().sum();
    ways[u.min(top)..].iter().sum::<i128>() as f64 / all as f64
}

/// The probability that a normal U is at least `u`, corrected for ties and continuity.
fn normal(n1: f64, n2: f64, u: f64, ties: f64) -> f64 {
    let n = n1 + n2;
    let variance = n1 * n2 / 12.0 * ((n + 1.0) - ties / (n * (n - 1.0)));
    let above = u - n1 * n2 / 2.0 - 0.5;
    if variance <= 0.0 {
        return 0.5;
    }
    0.5 * libm::erfc(above / (2.0 * variance).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results of SciPy 1.17.1, `mannwhitneyu(a, b, alternative="two-sided")`, exact without ties and asymptotic with.
    #[test]
    fn as_scipy_computes_it() {
        let range = |n: u32, by: f64| (0..n).map(|i| f64::from(i) + by).collect::<Vec<_>>();
        let cases: [(Vec<f64>, Vec<f64>, f64, f64); 14] = [
            (range(5, 1.0), range(5, 6.0), 0.0, 0.007936507936507936),
            (range(4, 1.0), range(6, 5.0), 0.0, 0.009523809523809525),
            (range(6, 5.0), range(4, 1.0), 24.0, 0.009523809523809525),
            (vec![19., 22., 16., 29., 24.], vec![20., 11., 17., 12.], 17.0, 0.1111111111111111),
            (vec![20., 11., 17., 12.], vec![19., 22., 16., 29., 24.], 3.0, 0.1111111111111111),
            (range(3, 1.0), range(3, 1.5), 3.0, 0.7),
            (range(3, 1.0), range(3, 4.0), 0.0, 0.1),
            (vec![1., 1., 2., 3., 5.], vec![2., 3., 3., 8., 9.], 5.5, 0.16660739402832658),
            (
                vec![10629.74, 10511.2, 10702.0, 10600.1, 10588.8],
                vec![10640.3, 10498.7, 10811.0, 10555.5, 10610.9],
                12.0,
                1.0,
            ),
            (
                range(10, 1.0),
                vec![2.5, 4.5, 11., 12., 13., 14., 15., 16., 17., 18.],
                14.0,
                0.0051960423477451344,
            ),
            (vec![1.; 3], vec![1.; 3], 4.5, 1.0),
            (vec![1., 2., 2., 2., 3.], vec![2., 2., 2., 4., 4., 4.], 7.5, 0.15883663349365829),
            (vec![7.], vec![8.], 0.0, 1.0),
            (range(12, 0.0), range(12, 6.5), 15.0, 0.000495533541703955),
        ];
        for (a, b, u, p) in cases {
            let m = mann_whitney(&a, &b).unwrap();
            assert_eq!(m.u, u, "{a:?} {b:?}");
            assert!((m.p - p).abs() < 1e-12, "{a:?} {b:?}: {} instead of {p}", m.p);
        }
    }

    #[test]
    fn the_normal_approximation_as_scipy_computes_it() {
        // method="asymptotic" on samples without ties.
        for (n1, n2, u, p) in [
            (5., 5., 25., 0.012185780355344813),
            (6., 4., 24., 0.014214038869082046),
            (12., 12., 129., 0.0011061781840807242),
        ] {
            assert!((2.0 * normal(n1, n2, u, 0.0) - p).abs() < 1e-12);
        }
    }

    #[test]
    fn large_samples_and_bad_ones() {
        let a: Vec<f64> = (0..50).map(f64::from).collect();
        let b: Vec<f64> = (50..100).map(f64::from).collect();
        let m = mann_whitney(&a, &b).unwrap();
        assert!(m.exact && (m.p / smallest_p(50, 50) - 1.0).abs() < 1e-9);
        let c: Vec<f64> = (0..5000).map(f64::from).collect();
        assert!(!mann_whitney(&c, &c).unwrap().exact);
        assert_eq!(mann_whitney(&c, &c).unwrap().p, 1.0);
        assert_eq!(mann_whitney(&[], &[1.0]), None);
        assert_eq!(mann_whitney(&[f64::NAN], &[1.0]), None);
    }

    #[test]
    fn how_small_it_can_get() {
        assert_eq!(smallest_p(3, 3), 0.1);
        assert!((smallest_p(4, 4) - 2.0 / 70.0).abs() < 1e-15);
        assert_eq!(smallest_p(1, 1), 1.0);
        assert_eq!(smallest_p(0, 9), 1.0);
    }
}
