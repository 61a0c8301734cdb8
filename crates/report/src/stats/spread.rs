//! Median and spread.

/// What several rounds say of one figure.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Spread {
    /// How many rounds had the figure.
    pub n: usize,
    /// Their [`median`].
    pub median: f64,
    /// The lowest.
    pub min: f64,
    /// The highest.
    pub max: f64,
}

impl Spread {
    /// Over these figures, one for each round; what is not finite is not a figure. `None` when there is none.
    ///
    /// ```
    /// let s = report::stats::Spread::of([9.0, f64::NAN, 7.0]).unwrap();
    /// assert_eq!((s.n, s.min, s.median, s.max), (2, 7.0, 8.0, 9.0));
    /// ```
    pub fn of(figures: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let sorted = sorted(figures);
        Some(Spread {
            n: sorted.len(),
            median: middle(&sorted)?,
            min: *sorted.first()?,
            max: *sorted.last()?,
        })
    }

    /// How far apart lowest and highest are, as a share of the median: (max − min) / |median|. `None` when the median is 0.
    pub fn relative(&self) -> Option<f64> {
        let share = (self.max - self.min) / self.median.abs();
        share.is_finite().then_some(share)
    }
}

/// The median: of an odd number of figures the middle one, of an even number the mean of the two in the middle. What is not
/// finite is left out; `None` when nothing remains.
///
/// ```
/// assert_eq!(report::stats::median([3.0, 1.0, 2.0]), Some(2.0));
/// assert_eq!(report::stats::median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
/// assert_eq!(report::stats::median([]), None);
/// ```
pub fn median(figures: impl IntoIterator<Item = f64>) -> Option<f64> {
    middle(&sorted(figures))
}

fn sorted(figures: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut figures: Vec<f64> = figures.into_iter().filter(|x| x.is_finite()).collect();
    figures.sort_by(f64::total_cmp);
    figures
}

/// The median of sorted figures.
pub(super) fn middle(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len();
    let upper = *sorted.get(n / 2)?;
    // Halved before they are added, so that huge figures do not overflow.
    Some(if n % 2 == 1 { upper } else { sorted[n / 2 - 1] / 2.0 + upper / 2.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn huge_figures_do_not_overflow() {
        let s = Spread::of([f64::MAX, f64::MAX]).unwrap();
        assert_eq!(s.median, f64::MAX);
        assert_eq!(s.relative(), Some(0.0));
        assert_eq!(Spread::of([f64::MIN, f64::MAX]).unwrap().relative(), None);
    }

    #[test]
    fn no_figures_no_spread() {
        assert_eq!(Spread::of([]), None);
        assert_eq!(Spread::of([f64::NAN, f64::INFINITY]), None);
        assert_eq!(Spread::of([0.0]).unwrap().relative(), None);
    }
}
