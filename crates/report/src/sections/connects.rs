//! Connections: asked for, open, failed and why.

use super::{Subject, failures::in_words, latency::sample};
use crate::{
    doc::{Section, Table, Tone},
    format::{NONE, TimeUnit, count, duration, plural},
};
use load_core::record::{Distribution, StreamRecord};

pub(super) fn connects(subject: &Subject<'_>) -> Section {
    let mut section = Section::new("");
    let time = |s: &'_ StreamRecord| sample(&s.connects.time).cloned();
    let times: Vec<Distribution> =
        subject.groups.iter().flat_map(|g| &g.all).filter_map(|s| time(s)).collect();
    let unit = TimeUnit::for_all(times.iter().map(|d| d.p50_ns as f64));
    let mut table = Table::new(&[
        "stream",
        ">sessions asked",
        ">open at start",
        ">connects",
        ">failed",
        ">P50 at worst",
        ">max",
    ]);
    let mut reasons = Vec::new();
    for group in &subject.groups {
        let sum =
            |get: fn(&StreamRecord) -> u64| group.all.iter().fold(0u64, |n, s| n.saturating_add(get(s)));
        let asked = group.all.iter().map(|s| s.load.concurrency).max().unwrap_or(0);
        let open = group.all.iter().map(|s| s.connects.open_at_start).min().unwrap_or(0);
        let (ok, failed) = (sum(|s| s.connects.ok), sum(|s| s.connects.failed));
        if ok == 0 && failed == 0 && open == 0 {
            continue;
        }
        let of: Vec<&Distribution> = group.all.iter().filter_map(|s| sample(&s.connects.time)).collect();
        let longest = |get: fn(&Distribution) -> u64| {
            of.iter().map(|d| get(d)).max().map_or(NONE.into(), |ns| unit.write(ns as f64))
        };
        let bad = failed > 0 || open < asked;
        table.row(
            vec![
                subject.title(group),
                count(asked),
                count(open),
                count(ok),
                count(failed),
                longest(|d| d.p50_ns),
                longest(|d| d.max_ns),
            ],
            if bad { Tone::Warning } else { Tone::Plain },
        );
        let words = in_words(group.all.iter().flat_map(|s| &s.connects.failures));
        if !words.is_empty() {
            reasons.push(format!("{}: failed connects: {words}", subject.title(group)));
        }
    }
    if !table.rows.is_empty() && table.rows.iter().all(|r| r.tone == Tone::Plain) {
        let n = subject.record.streams.iter().map(|s| s.connects.ok).fold(0, u64::saturating_add);
        let slowest = times.iter().map(|d| d.max_ns).max();
        let slowest = slowest.map_or(String::new(), |ns| format!("; the slowest took {}", duration(ns)));
        section.joined = true;
        let connects = plural(n, "connect");
        section.line(format!("{connects}, none failed; every session was open at the start{slowest}"));
        return section;
    }
    section.heading =
        format!("Connections over all rounds (open at start: the fewest), time in {}", unit.name());
    section.table(table);
    for reason in reasons {
        section.toned(reason, Tone::Warning);
    }
    section
}
