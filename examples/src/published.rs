//! The published mixed run, line by line beside what was measured.

use openloop::{
    Record, Status,
    record::{Event, StreamRecord},
    report::{Rounds, mean_within, stats::median},
};
use std::{collections::BTreeSet, fmt::Write};

type Get = fn(&StreamRecord) -> Option<f64>;

/// The lines of the published table: what, of which stream, how it is read of a round, decimals, the published value.
const LINES: &[(&str, &str, Get, usize, &str)] = &[
    ("concurrency", "nginx", |s| Some(s.load.concurrency as f64), 0, "50 (assumed)"),
    ("windows", "nginx", |s| Some(windows(s).count() as f64), 0, "4 of 15 s (assumed)"),
    ("requests", "nginx", |s| Some((s.accounting.succeeded + s.accounting.failed) as f64), 0, "468,828"),
    ("errors", "nginx", |s| Some(s.accounting.failed as f64), 0, "0"),
    ("mean rate, 1/s", "nginx", |s| Some(s.succeeded_per_s), 2, "7,805.10"),
    ("slowest window, 1/s", "nginx", |s| windows(s).map(|w| w.per_s).reduce(f64::min), 2, "6,240.67"),
    ("fastest window, 1/s", "nginx", |s| windows(s).map(|w| w.per_s).reduce(f64::max), 2, "10,420.37"),
    ("mean of the windows' P95, ms", "nginx", mean_p95, 3, "14.313 (of windows: assumed)"),
    (
        "P95 of all requests, ms",
        "nginx",
        |s| s.response.as_ref().map(|d| d.p95_ns as f64 / 1e6),
        3,
        "not published",
    ),
    ("clients", "postgres", |s| Some(s.load.concurrency as f64), 0, "20 (by Little's law)"),
    ("transactions per second", "postgres", |s| Some(s.succeeded_per_s), 2, "2,082.95"),
    ("mean latency, ms", "postgres", |s| s.response.as_ref().map(|d| d.mean_ns / 1e6), 3, "9.582"),
    ("failed transactions", "postgres", |s| Some(s.accounting.failed as f64), 0, "0"),
    ("probes with the right marker", "redis", |s| Some(s.accounting.succeeded as f64), 0, "up (60 assumed)"),
    ("failed probes", "redis", |s| Some(s.accounting.failed as f64), 0, "0 (assumed)"),
];

/// The table of the phase `together`: of several rounds the median, rejected ones left out.
pub fn published_mix(record: &Record) -> String {
    let groups = Rounds::of(record);
    let mut table = Table::default();
    let mut rejected = Vec::new();
    for (what, stream, get, decimals, published) in LINES {
        let rounds = groups.iter().find(|g| g.name == *stream && g.phase == "together");
        let mut sound: Vec<_> = rounds.map(|r| r.averaged().collect()).unwrap_or_default();
        // A table without figures helps nobody; that they are rejected stands below it.
        if let (true, Some(rounds)) = (sound.is_empty(), rounds) {
            sound = rounds.rejected().collect();
            if !rejected.contains(stream) {
                rejected.push(*stream);
            }
        }
        table.line(stream, what, median(sound.into_iter().filter_map(get)), *decimals, published);
    }
    let busy = record.series.iter().find(|s| s.name == "host.cpu.busy");
    let together = record.phases.iter().filter(|p| p.name == "together");
    let busy = median(together.filter_map(|phase| mean_within(busy?, phase)));
    table.line("host", "mean CPU, %", busy.map(|share| share * 100.0), 2, "63.42");
    let watched = record.checks.iter().find(|c| c.name == "servers.restarts");
    // A server that has only just ended is in the check, and in no event yet.
    let restarts = watched.map(|c| if c.passed { 0 } else { changed_servers(record).len().max(1) });
    table.line("all", "servers restarted or ended", restarts.map(|n| n as f64), 0, "0");
    let mut text =
        "Together, beside the published run (6 cores, containers, WSL2)\n".to_string() + &table.text();
    for stream in rejected {
        let _ = writeln!(text, "{stream}: every round was REJECTED; its figures are no result");
    }
    if record.verdict.status == Status::Suspect {
        let _ = writeln!(text, "SUSPECT: see the verdict for what to doubt");
    }
    text
}

/// The servers of which an event says that they were restarted or ended.
pub fn changed_servers(record: &Record) -> BTreeSet<String> {
    let server = |event: &Event| match event.what.as_str() {
        "process ended" | "process restarted" => event.detail.split(':').next().map(str::to_string),
        what => what.strip_suffix(" restarted").map(str::to_string),
    };
    record.events.iter().filter_map(server).collect()
}

fn windows(s: &StreamRecord) -> impl Iterator<Item = &openloop::record::Window> {
    s.windows.iter().filter(|w| !w.drain)
}

fn mean_p95(s: &StreamRecord) -> Option<f64> {
    let all: Vec<u64> = windows(s).filter_map(|w| w.p95_ns).collect();
    (!all.is_empty()).then(|| all.iter().sum::<u64>() as f64 / all.len() as f64 / 1e6)
}

#[derive(Default)]
struct Table(Vec<[String; 4]>);

impl Table {
    fn line(&mut self, stream: &str, what: &str, value: Option<f64>, decimals: usize, published: &str) {
        let value = value.map_or("–".into(), |x| separated(x, decimals));
        self.0.push([stream.into(), what.into(), value, published.into()]);
    }

    fn text(&self) -> String {
        let mut text = format!("{:<9} {:<30} {:>12}  published\n", "", "", "here");
        for [stream, what, value, published] in &self.0 {
            let _ = writeln!(text, "{stream:<9} {what:<30} {value:>12}  {published}");
        }
        text
    }
}

/// `7,805.10`.
fn separated(x: f64, decimals: usize) -> String {
    let text = format!("{x:.decimals$}");
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut out = String::new();
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(c);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_was_restarted_is_known_by_its_events() {
        let mut record = Record::new("mixed_load", "");
        for (what, detail) in [
            ("process ended", "nginx: 12"),
            ("process restarted", "nginx: 12, now 13"),
            ("redis restarted", "it has been up for 1 s"),
            ("postgres latency spike", "x"),
        ] {
            record.events.push(Event::new(1, what, detail));
        }
        assert!(changed_servers(&record).iter().eq(["nginx", "redis"]));
    }

    #[test]
    fn numbers_are_separated_and_missing_figures_are_not_zero() {
        assert_eq!(separated(468_828.0, 0), "468,828");
        assert_eq!(separated(7805.1, 2), "7,805.10");
        assert_eq!(separated(12.0, 0), "12");
        let text = published_mix(&Record::new("mixed_load", ""));
        assert!(text.contains("468,828") && text.contains("assumed"), "{text}");
        assert!(text.lines().any(|l| l.contains("restarted") && l.contains('–')), "{text}");
    }
}
