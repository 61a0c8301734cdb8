//! What can go wrong.

/// Why a report could not be made, or a record not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// Not a record that this version reads.
    #[error(transparent)]
    Record(#[from] load_core::record::RecordError),
    /// A figure of the record is not a number, so that JSON could not hold it.
    #[error("{field}: {value} is not a number that JSON can hold")]
    NotFinite {
        /// Where it is in the record.
        field: String,
        /// What it is: NaN or an infinity.
        value: f64,
    },
    /// A table that could not be written.
    #[error("csv: {0}")]
    Csv(#[from] csv::Error),
    /// A distribution whose figures contradict each other.
    #[error("a distribution of the record is damaged: {why}")]
    Damaged {
        /// What does not fit together.
        why: String,
    },
    /// A figure that the record has not.
    #[error("{what}: the record has no sample of it")]
    NoData {
        /// Which.
        what: String,
    },
    /// A setting that cannot be meant.
    #[error("{field}: {value} is not {why}")]
    Setting {
        /// Which.
        field: &'static str,
        /// What it was set to.
        value: String,
        /// What it can be.
        why: &'static str,
    },
    /// A comparison of a run that is rejected.
    #[error("the {which} record ({experiment}) is rejected and compares with nothing: {reasons}")]
    Rejected {
        /// `"first"` or `"second"`.
        which: &'static str,
        /// Its name.
        experiment: String,
        /// Why it is rejected.
        reasons: String,
    },
    /// Runs that were not made in the same way.
    #[error("not comparable: {}", .differences.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    NotComparable {
        /// In what they differ.
        differences: Vec<crate::Difference>,
    },
    /// A threshold that cannot be read.
    #[error("threshold {text:?}: {why}")]
    Threshold {
        /// What was given.
        text: String,
        /// What is wrong with it.
        why: String,
    },
}
