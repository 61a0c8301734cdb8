//! The load generator itself: the figures that the verdict rests on.

use super::{Subject, latency::sample};
use crate::{
    doc::{Section, Tone},
    format::{count, duration, percent, short},
};
use load_core::{
    Figure, RULES, Rule, Worse,
    record::{Distribution, StreamRecord},
};

pub(super) fn generator(subject: &Subject<'_>) -> Section {
    let mut section = Section::new("");
    let mut said = Vec::new();
    for (name, words) in [
        ("generator_cpu", "busiest thread at most % of a core"),
        ("run_queue", "waited for a CPU at most % of the phase"),
        ("stolen", "machine held up at most % of the phase"),
    ] {
        if let Some(x) = Rule::named(name).and_then(|r| worst(subject, r)) {
            said.push(words.replace('%', &percent(x)));
        }
    }
    let highest = |get: fn(&StreamRecord) -> Option<&Distribution>, p: fn(&Distribution) -> u64| {
        subject.record.streams.iter().filter_map(get).map(p).max()
    };
    if let Some(ns) = highest(|s| sample(&s.lateness), |d| d.p99_ns) {
        said.push(format!("lateness P99 at most {}", duration(ns)));
    }
    if let Some(ns) = highest(|s| sample(&s.loop_lag), |d| d.p50_ns) {
        said.push(format!("loop lag P50 at most {}", duration(ns)));
    }
    for name in ["ceiling", "in_flight", "concurrency_kept"] {
        let rule = Rule::named(name);
        if let Some((rule, x)) = rule.and_then(|r| Some((r, worst(subject, r)?))) {
            let bound = if rule.worse == Worse::Above { "at most" } else { "at least" };
            said.push(format!("{} {bound} {}", name.replace('_', " "), short(x)));
        }
    }
    if !said.is_empty() {
        section.line(format!("load generator: {}", said.join("; ")));
    }
    if let Some(said) = sampler(subject) {
        section.line(said);
    }
    let missing = not_measured(subject);
    if !missing.is_empty() {
        section.toned(format!("not measured: {}", missing.join(", ")), Tone::Faint);
    }
    section
}

/// What reading all the series cost.
fn sampler(subject: &Subject<'_>) -> Option<String> {
    let series = &subject.record.series;
    let cost = series.iter().find(|s| s.name == "sampler.cpu")?;
    let shares: Vec<f64> = cost.points.iter().map(|p| p.1).filter(|x| x.is_finite()).collect();
    let highest = shares.iter().copied().max_by(f64::total_cmp)?;
    let mean = shares.iter().map(|x| x / shares.len() as f64).sum();
    let (mean, highest) = (percent(mean), percent(highest));
    let readings = count(series.len() as u64);
    Some(format!("sampler: {mean} of a core on average, at most {highest}, for {readings} series"))
}

/// The figure of the round in which the rule came nearest to firing.
fn worst(subject: &Subject<'_>, rule: &Rule) -> Option<f64> {
    let figures = subject
        .record
        .streams
        .iter()
        .filter_map(|s| s.verdict.evidence.get(rule.name)?.number())
        .filter(|x| x.is_finite());
    match rule.worse {
        Worse::Above => figures.max_by(f64::total_cmp),
        _ => figures.min_by(f64::total_cmp),
    }
}

/// The rules that apply to a stream and had no figure.
fn not_measured(subject: &Subject<'_>) -> Vec<String> {
    let missing = |rule: &&Rule| {
        let figures = subject.record.streams.iter().filter_map(|s| s.verdict.evidence.get(rule.name));
        figures.copied().any(|f: Figure| f.number().is_none())
    };
    RULES.iter().filter(missing).map(|r| r.name.replace('_', " ")).collect()
}
