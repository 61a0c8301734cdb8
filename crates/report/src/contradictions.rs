//! What in a record cannot be true at the same time: a fault of the program that wrote it.

use load_core::{
    Record,
    record::{Distribution, FailureCount, StreamRecord},
};

/// Every contradiction in a record, in words; none in a sound one. Checked: books balance, parts add up to their totals, and
/// the figures of a distribution are in order.
pub fn contradictions(record: &Record) -> Vec<String> {
    let mut found = Vec::new();
    for s in &record.streams {
        let mut say = |text: String| found.push(format!("{}: {text}", s.title()));
        books(s, &mut say);
        for (name, d) in distributions(s) {
            ordered(&name, d, &mut say);
        }
    }
    if record.streams.iter().any(|s| s.verdict.status > record.verdict.status) {
        found.push(format!("the record is {}, which is better than its streams", record.verdict.status));
    }
    found
}

fn total(counts: impl IntoIterator<Item = u64>) -> u128 {
    counts.into_iter().map(u128::from).sum()
}

fn books(s: &StreamRecord, say: &mut impl FnMut(String)) {
    let a = &s.accounting;
    let parts = total([a.succeeded, a.failed, a.dropped, a.skipped, a.unfinished]);
    if parts != u128::from(a.scheduled) {
        say(format!("{} operations were scheduled, but the accounts hold {parts}", a.scheduled));
    }
    let mut equal = |what: &str, n: u128, whole: &str, m: u64| {
        if n != u128::from(m) {
            say(format!("{what} are {n}, but {whole} is {m}"));
        }
    };
    let failures = |f: &[FailureCount]| total(f.iter().map(|f| f.count));
    equal("failures by class", failures(&s.failures), "accounting.failed", a.failed);
    let reasons = failures(&s.connects.failures);
    equal("failed connects by class", reasons, "connects.failed", s.connects.failed);
    for (name, d) in [("response times", &s.response), ("service times", &s.service)] {
        if let Some(d) = d {
            equal(name, d.count.into(), "accounting.succeeded", a.succeeded);
        }
    }
    if !s.operations.is_empty() && total(s.operations.values().map(|o| o.count)) > a.succeeded.into() {
        say("the kinds of operations hold more successes than there were".into());
    }
    if a.unknown > a.failed {
        say(format!("{} of {} failures have an unknown effect", a.unknown, a.failed));
    }
}

fn distributions(s: &StreamRecord) -> impl Iterator<Item = (String, &Distribution)> {
    let own = [
        ("response", &s.response),
        ("service", &s.service),
        ("wait", &s.wait),
        ("lateness", &s.lateness),
        ("dispatch", &s.dispatch),
        ("loop_lag", &s.loop_lag),
        ("failed_service", &s.failed_service),
        ("censored", &s.censored),
    ];
    own.into_iter()
        .filter_map(|(name, d)| Some((name.to_string(), d.as_ref()?)))
        .chain(s.steps.iter().map(|(name, d)| (format!("step {name}"), d)))
        .chain(s.connects.steps.iter().map(|(name, d)| (format!("step {name} of connecting"), d)))
}

fn ordered(name: &str, d: &Distribution, say: &mut impl FnMut(String)) {
    if d.count == 0 {
        return;
    }
    let figures =
        [d.min_ns, d.p50_ns, d.p75_ns, d.p90_ns, d.p95_ns, d.p99_ns, d.p999_ns, d.p9999_ns, d.max_ns];
    if !figures.is_sorted() {
        say(format!("{name}: minimum, percentiles and maximum are not in order"));
    }
    // The mean is a sum divided: it may be off by its last digits.
    let slack = 1e-9 * d.max_ns as f64 + 1.0;
    if !(d.mean_ns >= d.min_ns as f64 - slack && d.mean_ns <= d.max_ns as f64 + slack) {
        say(format!("{name}: the mean is not between minimum and maximum"));
    }
}
