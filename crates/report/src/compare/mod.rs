//! Two records side by side: what changed, by how much, and how sure that is.

mod setup;
mod show;

pub use setup::Difference;

use crate::{
    ReportError, Rounds,
    metric::Metric,
    stats::{Spread, mann_whitney, ratio_of_medians_ci, smallest_p},
};
use load_core::{Record, Status};

/// How two records are compared.
///
/// ```no_run
/// # fn records() -> (load_core::Record, load_core::Record) { unimplemented!() }
/// let (before, after) = records();
/// let comparison = report::Compare::new().least_effect(0.1).records(&before, &after)?;
/// println!("{}", comparison.text());
/// # Ok::<(), report::ReportError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Compare {
    alpha: f64,
    least_effect: f64,
    anyway: bool,
    seed: u64,
}

/// What is said of one figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// Noise could have made the difference, or it is too small to matter.
    None,
    /// It became better, by more than noise.
    Better,
    /// It became worse, by more than noise.
    Worse,
    /// With so few rounds nothing could be shown: even rounds that lie wholly apart are not unlikely enough.
    TooFew,
}

/// One figure of one stream and level in both records.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Compared {
    /// Stream and level, and phase when there are several.
    pub stream: String,
    /// The figure, by its name in the record: `response.p95`.
    pub figure: String,
    /// Over the rounds of the first record.
    pub before: Spread,
    /// Over the rounds of the second record.
    pub after: Spread,
    /// Median after / median before; `None` when the median before is 0.
    pub ratio: Option<f64>,
    /// Its 95 % confidence interval, when there are rounds enough for one.
    pub ratio_ci: Option<[f64; 2]>,
    /// Of the two-sided Mann-Whitney test over the rounds.
    pub p: f64,
    /// What follows.
    pub change: Change,
}

/// What came of a comparison.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// In what the runs differ, by method and environment; only environment unless they were compared anyway.
    pub differences: Vec<Difference>,
    /// The figures, by stream and level.
    pub figures: Vec<Compared>,
    /// Streams and levels that only one of the records has.
    pub unmatched: Vec<String>,
    alpha: f64,
    least_effect: f64,
}

/// The figures that are compared, and whether more is better.
const FIGURES: [(&str, bool); 7] = [
    ("succeeded_per_s", true),
    ("response.mean", false),
    ("response.p50", false),
    ("response.p95", false),
    ("response.p99", false),
    ("failed_share", false),
    ("sent_share", true),
];

impl Default for Compare {
    fn default() -> Compare {
        Compare { alpha: 0.05, least_effect: 0.05, anyway: false, seed: 1 }
    }
}

impl Compare {
    /// At a significance of 0.05, with differences below 5 % held too small to matter.
    pub fn new() -> Compare {
        Compare::default()
    }

    /// The probability below which a difference is held to be more than noise. One in 1/alpha comparisons of equal things
    /// will then look like a difference, if it is large enough besides.
    pub fn alpha(mut self, alpha: f64) -> Compare {
        self.alpha = alpha;
        self
    }

    /// The change of a median that matters, as a share of it.
    pub fn least_effect(mut self, share: f64) -> Compare {
        self.least_effect = share;
        self
    }

    /// Compares runs of different methods too, with the differences listed.
    pub fn anyway(mut self, anyway: bool) -> Compare {
        self.anyway = anyway;
        self
    }

    /// The seed of the bootstrap.
    pub fn seed(mut self, seed: u64) -> Compare {
        self.seed = seed;
        self
    }

    /// Compares two records, level by level, over their rounds.
    ///
    /// # Errors
    /// [`ReportError::Rejected`] when one of them is rejected, [`ReportError::NotComparable`] with the fields when their
    /// methods or loads differ, [`ReportError::Setting`] when a setting is not a share.
    pub fn records(&self, before: &Record, after: &Record) -> Result<Comparison, ReportError> {
        for (name, value) in [("alpha", self.alpha), ("least_effect", self.least_effect)] {
            if !(0.0..1.0).contains(&value) {
                return Err(ReportError::Setting {
                    field: name,
                    value: value.to_string(),
                    why: "a share: from 0 to below 1",
                });
            }
        }
        for (which, record) in [("first", before), ("second", after)] {
            let status =
                record.streams.iter().map(|s| s.verdict.status).fold(record.verdict.status, Status::max);
            if status == Status::Rejected {
                let reasons = record.verdict.reasons.join("; ");
                return Err(ReportError::Rejected { which, experiment: record.experiment.clone(), reasons });
            }
        }
        let method = setup::method(before, after);
        if !method.is_empty() && !self.anyway {
            return Err(ReportError::NotComparable { differences: method });
        }
        let (old, new) = (Rounds::of(before), Rounds::of(after));
        let same = |a: &Rounds<'_>, b: &Rounds<'_>| (a.name, a.phase, a.level) == (b.name, b.phase, b.level);
        let phases = old.iter().chain(&new).any(|g| g.phase != old[0].phase);
        let title = |g: &Rounds<'_>| match phases {
            true => format!("{} ({})", g.title(), g.phase),
            false => g.title(),
        };
        let mut figures = Vec::new();
        for a in &old {
            if let Some(b) = new.iter().find(|b| same(a, b)) {
                figures.extend(FIGURES.iter().filter_map(|f| self.figure(title(a), *f, a, b)));
            }
        }
        let lonely = |from: &[Rounds<'_>], in_: &[Rounds<'_>], which: &str| {
            let alone = from.iter().filter(|a| !in_.iter().any(|b| same(a, b)));
            alone.map(|g| format!("{} (only in the {which})", title(g))).collect::<Vec<_>>()
        };
        let unmatched = [lonely(&old, &new, "first"), lonely(&new, &old, "second")].concat();
        let differences = [method, setup::environment(before, after)].concat();
        Ok(Comparison { differences, figures, unmatched, alpha: self.alpha, least_effect: self.least_effect })
    }

    fn figure(
        &self,
        stream: String,
        (name, more_is_better): (&str, bool),
        before: &Rounds<'_>,
        after: &Rounds<'_>,
    ) -> Option<Compared> {
        let metric = Metric::named(name)?;
        let of = |g: &Rounds<'_>| g.averaged().filter_map(|s| metric.of(s)).collect::<Vec<f64>>();
        let (a, b) = (of(before), of(after));
        let (spread_a, spread_b) = (Spread::of(a.iter().copied())?, Spread::of(b.iter().copied())?);
        let p = mann_whitney(&a, &b)?.p;
        let ratio = Some(spread_b.median / spread_a.median).filter(|r| r.is_finite());
        // A share of failures that was 0 has no ratio, but may have become worse all the same.
        let matters = match ratio {
            Some(ratio) => (ratio - 1.0).abs() >= self.least_effect,
            None => spread_b.median != spread_a.median,
        };
        let change = if p < self.alpha && matters {
            if (spread_b.median > spread_a.median) == more_is_better { Change::Better } else { Change::Worse }
        } else if matters && smallest_p(a.len(), b.len()) >= self.alpha {
            Change::TooFew
        } else {
            Change::None
        };
        Some(Compared {
            stream,
            figure: name.into(),
            before: spread_a,
            after: spread_b,
            ratio,
            ratio_ci: ratio_of_medians_ci(&a, &b, self.seed),
            p,
            change,
        })
    }
}

impl Comparison {
    /// Whether a figure became worse.
    pub fn is_worse(&self) -> bool {
        self.figures.iter().any(|f| f.change == Change::Worse)
    }

    /// For people, about 100 columns wide.
    pub fn text(&self) -> String {
        crate::Text::new().sections(&show::sections(self))
    }
}

/// Compares two records as [`Compare::new`] does.
///
/// # Errors
/// See [`Compare::records`].
pub fn compare(before: &Record, after: &Record) -> Result<Comparison, ReportError> {
    Compare::new().records(before, after)
}
