//! Rates and times per stream, phase and level.

use super::Subject;
use crate::{
    doc::{Column, Kind, Section, Tone, figures},
    format::{count, duration, fixed, plural},
    rounds::Rounds,
    stats::Spread,
};
use load_core::record::{Distribution, StreamRecord};

type Get = fn(&StreamRecord) -> Option<&Distribution>;

/// A distribution that has a sample.
pub(super) fn sample(d: &Option<Distribution>) -> Option<&Distribution> {
    d.as_ref().filter(|d| d.count > 0)
}

fn response(s: &StreamRecord) -> Option<&Distribution> {
    sample(&s.response)
}

/// A column of a time.
fn time(head: &'static str, of: Get, get: fn(&Distribution) -> f64) -> Column<StreamRecord> {
    Column::new(head, Kind::Time, move |s| of(s).map(get))
}

fn counted(head: &'static str, get: fn(&StreamRecord) -> u64) -> Column<StreamRecord> {
    Column::new(head, Kind::Count, move |s| Some(get(s) as f64))
}

/// A rate; there is none when nothing was measured.
fn rate(head: &'static str, get: fn(&StreamRecord) -> f64) -> Column<StreamRecord> {
    Column::new(head, Kind::Rate, move |s: &StreamRecord| (s.elapsed_ns > 0).then(|| get(s)))
}

pub(super) fn latency(subject: &Subject<'_>) -> Vec<Section> {
    let (open, closed): (Vec<_>, Vec<_>) = subject.groups.iter().partition(|g| g.is_open());
    let mut sections = Vec::new();
    for (groups, open) in [(closed, false), (open, true)] {
        if groups.is_empty() {
            continue;
        }
        sections.push(main(subject, &groups, open));
        if open {
            sections.push(parts(subject, &groups));
            sections.push(punctuality(subject, &groups));
        }
    }
    sections
}

fn main(subject: &Subject<'_>, groups: &[&Rounds<'_>], open: bool) -> Section {
    let mut columns = vec![counted("n", |s| response(s).map_or(0, |d| d.count))];
    if open {
        columns.push(rate("offered/s", |s| s.offered_per_s));
    }
    columns.extend([
        rate("succeeded/s", |s| s.succeeded_per_s),
        time("mean", response, |d| d.mean_ns),
        time("P50", response, |d| d.p50_ns as f64).interval(|s| response(s)?.p50_ci_ns),
        time("P95", response, |d| d.p95_ns as f64).interval(|s| response(s)?.p95_ci_ns),
        time("P99", response, |d| d.p99_ns as f64).interval(|s| response(s)?.p99_ci_ns),
        time("max", response, |d| d.max_ns as f64),
        counted("errors", |s| s.accounting.failed),
        counted("unknown", |s| s.accounting.unknown),
    ]);
    let entries: Vec<_> = groups.iter().filter_map(|g| subject.entry(g, Some)).collect();
    let (mut table, unit) = figures(&["stream"], &entries, &columns);
    // Whether the effect is unknown matters only where something failed that way.
    table.drop_column_if(table.head.len() - 1, |c| c.is_empty() || c == "0");
    let unit = unit.name();
    let mut section = Section::new(if open {
        format!("Open loop: response time = ended − intended, in {unit}")
    } else {
        format!("Closed loop: response time = service time = ended − started, in {unit}")
    });
    section.table(table);
    for group in groups {
        notes(subject, group, &mut section);
    }
    windows(subject, groups, &mut section);
    section
}

/// How much the rate moved within the phase.
fn windows(subject: &Subject<'_>, groups: &[&Rounds<'_>], section: &mut Section) {
    let said: Vec<String> = groups
        .iter()
        .filter_map(|g| {
            let windows = g.averaged().flat_map(|s| &s.windows).filter(|w| !w.drain);
            let spread = Spread::of(windows.map(|w| w.per_s))?;
            let (low, high) = (fixed(spread.min, 2), fixed(spread.max, 2));
            (spread.n > 1).then(|| format!("{} {low} to {high}", subject.title(g)))
        })
        .collect();
    if !said.is_empty() {
        let window = duration(subject.record.method.window_ns);
        section.toned(format!("succeeded/s in windows of {window}: {}", said.join("; ")), Tone::Faint);
    }
}

/// What a reader of the table must know: small samples, rejected rounds, samples beyond the histogram.
fn notes(subject: &Subject<'_>, group: &Rounds<'_>, section: &mut Section) {
    let title = subject.title(group);
    let samples = group.all.iter().filter_map(|s| response(s)).map(|d| d.count);
    match samples.clone().min() {
        Some(n @ 0..20) => {
            section.toned(format!("{title}: n = {n}: P95 and P99 are the slowest one"), Tone::Warning)
        }
        Some(n @ 20..100) => {
            section.toned(format!("{title}: n = {n}: P99 is the slowest one"), Tone::Warning)
        }
        _ => {}
    }
    let rejected = group.rejected().count();
    if rejected > 0 && rejected == group.all.len() {
        let all =
            if rejected == 1 { "the only round was".into() } else { format!("all {rejected} rounds were") };
        section.toned(format!("{title}: {all} rejected; there is no average"), Tone::Bad);
    }
    let beyond =
        group.all.iter().filter_map(|s| response(s)).map(|d| u128::from(d.out_of_range)).sum::<u128>();
    if beyond > 0 {
        section.toned(
            format!("{title}: {beyond} responses took longer than 1 h; percentiles put them at 1 h"),
            Tone::Warning,
        );
    }
    let given_up = group.all.iter().filter_map(|s| sample(&s.censored));
    let n: u64 = given_up.clone().map(|d| d.count).fold(0, u64::saturating_add);
    if let Some(oldest) = given_up.map(|d| d.max_ns).max() {
        let text = format!(
            "{title}: {} given up unfinished, the oldest {} after its intended start: they would have taken \
             longer, and no percentile holds them",
            plural(n, "operation"),
            duration(oldest),
        );
        section.toned(text, Tone::Warning);
    }
    if group.all.iter().any(|s| s.accounting.succeeded == 0 && s.accounting.failed == 0 && s.carried_in > 0) {
        let n = group.all.iter().map(|s| s.carried_in).max().unwrap_or(0);
        section.toned(
            format!(
                "{title}: nothing ended; {} of the warm-up were still in flight when measuring began",
                count(n)
            ),
            Tone::Bad,
        );
    }
}

/// Of what response time consists.
fn parts(subject: &Subject<'_>, groups: &[&Rounds<'_>]) -> Section {
    let service: Get = |s| sample(&s.service);
    let wait: Get = |s| sample(&s.wait);
    let columns = [
        time("service mean", service, |d| d.mean_ns),
        time("P50", service, |d| d.p50_ns as f64),
        time("P99", service, |d| d.p99_ns as f64),
        time("max", service, |d| d.max_ns as f64),
        time("wait mean", wait, |d| d.mean_ns),
        time("P50", wait, |d| d.p50_ns as f64),
        time("P99", wait, |d| d.p99_ns as f64),
        time("max", wait, |d| d.max_ns as f64),
    ];
    let entries: Vec<_> =
        groups.iter().filter_map(|g| subject.entry(g, |s| service(s).or(wait(s)).map(|_| s))).collect();
    let (table, unit) = figures(&["stream"], &entries, &columns);
    let mut section = Section::new(format!(
        "Response time = wait (started − intended) + service (ended − started), in {}",
        unit.name()
    ));
    section.table(table);
    section
}

/// How punctual the load generator was.
fn punctuality(subject: &Subject<'_>, groups: &[&Rounds<'_>]) -> Section {
    let lateness: Get = |s| sample(&s.lateness);
    let dispatch: Get = |s| sample(&s.dispatch);
    let lag: Get = |s| sample(&s.loop_lag);
    let columns = [
        time("lateness P50", lateness, |d| d.p50_ns as f64),
        time("P99", lateness, |d| d.p99_ns as f64),
        time("dispatch P50", dispatch, |d| d.p50_ns as f64),
        time("P99", dispatch, |d| d.p99_ns as f64),
        time("loop lag P50", lag, |d| d.p50_ns as f64),
        time("P99", lag, |d| d.p99_ns as f64),
    ];
    let entries: Vec<_> = groups
        .iter()
        .filter_map(|g| subject.entry(g, |s| lateness(s).or(dispatch(s)).or(lag(s)).map(|_| s)))
        .collect();
    let (table, unit) = figures(&["stream"], &entries, &columns);
    let mut section = Section::new(format!(
        "Load generator: lateness = released − intended, dispatch = started − released, in {}",
        unit.name()
    ));
    section.table(table);
    section
}
