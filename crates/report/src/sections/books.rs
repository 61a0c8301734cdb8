//! How much of what was scheduled was sent, and where the rest went.

use super::{Subject, latency::sample};
use crate::{
    doc::{Section, Tone},
    format::{clean, count, duration, fixed, percent, plural},
    rounds::Rounds,
    stats::median,
};
use load_core::{Accounting, Class, Rule, Status, record::StreamRecord};

pub(super) fn books(subject: &Subject<'_>) -> Section {
    let mut section = Section::new("");
    let mut whole = Accounting::default();
    let mut short = Vec::new();
    for group in &subject.groups {
        let sum = sum(group);
        if lost(&sum) > 0 || sum.started < sum.scheduled {
            short.push((group, sum));
        }
        add(&mut whole, &sum);
    }
    let tone = if short.is_empty() { Tone::Plain } else { Tone::Warning };
    if !subject.groups.is_empty() {
        section.toned(format!("{}: {}", sent(&whole), ended(&whole)), tone);
    }
    for (group, sum) in short {
        let mut text = where_to(group, &sum);
        if subject.groups.len() > 1 {
            text = format!("{}: {}: {text}", subject.title(group), sent(&sum));
        }
        section.under(1, clean(&text), tone);
        if let Some(text) = not_reached(group, &sum) {
            section.under(1, clean(&format!("{}: {text}", subject.title(group))), tone);
        }
    }
    section
}

/// `91,230 succeeded, 4 failed (0.00 %)`.
fn ended(a: &Accounting) -> String {
    let mut text = format!("{} succeeded, {} failed", count(a.succeeded), count(a.failed));
    if a.failed > 0 {
        let ended = a.succeeded.saturating_add(a.failed);
        text.push_str(&format!(" ({})", percent(a.failed as f64 / ended as f64)));
    }
    if a.unknown > 0 {
        text.push_str(&format!(", {} of them with an unknown effect on the server", count(a.unknown)));
    }
    text
}

fn sent(a: &Accounting) -> String {
    let scheduled = plural(a.scheduled, "scheduled operation");
    match a.started == a.scheduled && a.scheduled > 1 {
        true => format!("sent all {scheduled}"),
        false => format!("sent {} of {scheduled}", count(a.started)),
    }
}

/// What was scheduled and did not end.
fn lost(a: &Accounting) -> u64 {
    a.dropped.saturating_add(a.skipped).saturating_add(a.unfinished)
}

/// Where the operations went that did not end, and why.
fn where_to(group: &Rounds<'_>, a: &Accounting) -> String {
    let mut parts = Vec::new();
    let policy = group.all.iter().find_map(|s| s.load.overload.as_deref()).unwrap_or("not recorded");
    if a.dropped > 0 {
        parts.push(format!("{} dropped (no session was free; overload policy: {policy})", count(a.dropped)));
    }
    if a.skipped > 0 {
        parts.push(format!("{} skipped (too late to be sent; overload policy: {policy})", count(a.skipped)));
    }
    if a.unfinished > 0 {
        let flying = a.started.saturating_sub(a.succeeded.saturating_add(a.failed)).min(a.unfinished);
        let waiting = a.unfinished - flying;
        let mut why = Vec::new();
        if waiting > 0 {
            why.push((waiting, "still waiting when the phase ended".to_string()));
        }
        if flying > 0 {
            let oldest = group.all.iter().filter_map(|s| sample(&s.censored)).map(|d| d.max_ns).max();
            let age = oldest.map_or(String::new(), |ns| format!(", the oldest at {}", duration(ns)));
            why.push((flying, format!("still in flight when draining was ended{age}")));
        }
        let why: Vec<String> = match why.as_slice() {
            [(_, only)] => vec![only.clone()],
            several => several.iter().map(|(n, why)| format!("{} {why}", count(*n))).collect(),
        };
        parts.push(format!("{} unfinished ({})", count(a.unfinished), why.join("; ")));
    }
    match parts.as_slice() {
        [] => "the record does not say where the others went".into(),
        parts => parts.join(", "),
    }
}

/// Says by how much an open loop missed its rate, and what held it.
fn not_reached(group: &Rounds<'_>, a: &Accounting) -> Option<String> {
    let of =
        |get: fn(&StreamRecord) -> f64| median(group.all.iter().filter(|s| s.elapsed_ns > 0).map(|s| get(s)));
    let (asked, reached) = (of(|s| s.offered_per_s)?, of(|s| s.completed_per_s)?);
    let much = lost(a) as f64 > 0.01 * a.scheduled as f64;
    // Where the engine has found it out already, the verdict says it.
    let said = |s: &StreamRecord| s.verdict.findings.iter().any(|f| f.starts_with("rate not reached"));
    if !group.is_open() || !much || reached >= 0.99 * asked || group.all.iter().all(|s| said(s)) {
        return None;
    }
    let what = format!("rate not reached: asked {}/s, reached {}/s", per_s(asked), per_s(reached));
    let why = limits(group);
    Some(match why.as_slice() {
        [] => format!("{what}; the record does not show what held it"),
        why => format!("{what}; {}", why.join("; ")),
    })
}

fn per_s(x: f64) -> String {
    if x.fract() == 0.0 { fixed(x, 0) } else { fixed(x, 2) }
}

/// What the evidence names as the limit.
fn limits(group: &Rounds<'_>) -> Vec<String> {
    let mut why = Vec::new();
    // Sampled, or by Little's law: rate × service time is the mean number of busy sessions.
    let busy = median(group.all.iter().filter_map(|s| busy_sessions(s)));
    let sessions = group.all.iter().map(|s| s.load.concurrency).max().unwrap_or(0);
    if let Some(busy) = busy
        && sessions > 0
        && busy >= 0.9 * sessions as f64
    {
        let service = median(group.all.iter().filter_map(|s| sample(&s.service)).map(|d| d.mean_ns));
        let time =
            service.map_or(String::new(), |ns| format!(", {} with each operation", duration(ns as u64)));
        why.push(format!(
            "sessions ({}) were the limit, not the rate: on average {} of them were busy{time}",
            count(sessions),
            fixed(busy, 1),
        ));
    }
    let missing = |s: &&&StreamRecord| s.connects.open_at_start < s.load.concurrency;
    if let Some(s) = group.all.iter().find(missing) {
        let (open, asked) = (s.connects.open_at_start, s.load.concurrency);
        why.push(format!("only {} of {} sessions were open", count(open), count(asked)));
    }
    for name in ["lateness", "generator_cpu", "run_queue", "stolen", "loop_lag", "local_limits"] {
        let fired = |r: &Rule| group.all.iter().any(|s| r.judge(&s.verdict.evidence) != Status::Valid);
        if let Some(rule) = Rule::named(name).filter(|r| fired(r)) {
            why.push(rule.means.into());
        }
    }
    let failed = |class: Class| {
        let all = group.all.iter().flat_map(|s| &s.failures);
        all.filter(|f| f.class == class).map(|f| f.count).fold(0, u64::saturating_add)
    };
    let timeouts = failed(Class::Timeout);
    if timeouts > 0 {
        why.push(format!("{} timed out", plural(timeouts, "operation")));
    }
    why
}

fn busy_sessions(s: &StreamRecord) -> Option<f64> {
    if let Some(sampled) = s.verdict.evidence.get("in_flight_mean").and_then(|f| f.number()) {
        return Some(sampled);
    }
    let seconds = s.elapsed_ns as f64 / 1e9;
    let total = |d: Option<&load_core::record::Distribution>| d.map(|d| d.mean_ns * d.count as f64 / 1e9);
    let good = total(sample(&s.service));
    let bad = total(sample(&s.failed_service));
    (seconds > 0.0 && (good.is_some() || bad.is_some()))
        .then(|| (good.unwrap_or(0.0) + bad.unwrap_or(0.0)) / seconds)
}

fn sum(group: &Rounds<'_>) -> Accounting {
    let mut sum = Accounting::default();
    for stream in &group.all {
        add(&mut sum, &stream.accounting);
    }
    sum
}

/// Adds without overflow: a report is made of any record.
fn add(to: &mut Accounting, a: &Accounting) {
    for (to, a) in [
        (&mut to.scheduled, a.scheduled),
        (&mut to.started, a.started),
        (&mut to.succeeded, a.succeeded),
        (&mut to.failed, a.failed),
        (&mut to.dropped, a.dropped),
        (&mut to.skipped, a.skipped),
        (&mut to.unfinished, a.unfinished),
        (&mut to.unknown, a.unknown),
    ] {
        *to = to.saturating_add(a);
    }
}
