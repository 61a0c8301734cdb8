//! Medians and targets, in words.

/// The median; the mean of the middle two of an even number.
///
/// # Panics
/// When there is no value.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    assert!(n > 0, "a median of nothing");
    (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0
}

/// What a figure should be.
#[derive(Debug, Clone, Copy)]
pub enum Target {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
    /// Only shown.
    None,
}

/// Prints a row: the median over the rounds, the lowest and the highest, and the target.
pub fn report(what: &str, unit: &str, values: &[f64], target: Target) -> bool {
    let m = median(values);
    let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
    let (text, met) = match target {
        Target::AtMost(t) => (format!("at most {t}"), m <= t * 1.1),
        Target::AtLeast(t) => (format!("at least {t}"), m >= t / 1.1),
        Target::None => (String::new(), true),
    };
    let word = match (target, met) {
        (Target::None, _) => "",
        (_, true) => "met",
        (_, false) => "MISSED",
    };
    println!("{what:<58} {m:>12.3} {unit:<8} [{low:.3} .. {high:.3}]  {text:<14} {word}");
    met
}
