//! How it was measured, and on what.

use super::Subject;
use crate::{
    doc::Section,
    format::{bytes, clean, count, duration, list, plural, short},
};
use load_core::record::LoadRecord;
use serde_json::Value;

pub(super) fn method(subject: &Subject<'_>) -> Section {
    let record = subject.record;
    let m = &record.method;
    let mut section = Section::joined();
    let mut said = vec![format!("warm-up {}", duration(m.warmup_ns))];
    let rounds = plural(m.rounds.into(), "round");
    let length = match (m.measure_ns, m.measure_count) {
        (Some(ns), Some(n)) => format!("{rounds} of {} or {}", duration(ns), plural(n, "operation")),
        (Some(ns), None) => format!("{rounds} of {}", duration(ns)),
        (None, Some(n)) => format!("{rounds} of {}", plural(n, "operation")),
        (None, None) => rounds,
    };
    said.push(length);
    if !m.levels.is_empty() {
        let order = if m.level_order.is_empty() { String::new() } else { format!(" ({})", m.level_order) };
        said.push(format!("levels {}{order}", list(&m.levels)));
    }
    said.push(format!("drain up to {}", duration(m.drain_limit_ns)));
    said.push(format!("windows of {}", duration(m.window_ns)));
    if !m.percentile_rule.is_empty() {
        said.push(format!("percentiles: {}", m.percentile_rule));
    }
    said.extend(m.settings.iter().map(|(k, v)| format!("{k} {}", plain(v))));
    section.line(clean(&format!("method: {}", said.join("; "))));
    for (i, words) in loads(subject).into_iter().enumerate() {
        section.line(clean(&format!("{} {words}", if i == 0 { "load:" } else { "and" })));
    }
    let hash = record.plan_hash.chars().take(12).collect::<String>();
    let hash = if hash.is_empty() { String::new() } else { format!("; plan {hash}") };
    section.line(clean(&format!("seed: {}{hash}; schema {}", record.seed, record.schema)));
    section
}

/// A line for each stream: what it did and how load arrived.
fn loads(subject: &Subject<'_>) -> Vec<String> {
    let mut names: Vec<&str> = subject.groups.iter().map(|g| g.name).collect();
    names.dedup();
    names
        .into_iter()
        .map(|name| {
            // Loads that differ only in their sessions are said together.
            let mut loads: Vec<(&LoadRecord, Vec<u64>)> = Vec::new();
            for s in subject.record.streams_named(name) {
                match loads.iter_mut().find(|(l, _)| alike(l, &s.load)) {
                    Some((_, sessions)) if sessions.contains(&s.load.concurrency) => {}
                    Some((_, sessions)) => sessions.push(s.load.concurrency),
                    None => loads.push((&s.load, vec![s.load.concurrency])),
                }
            }
            let workload = subject.record.streams_named(name).map(|s| s.workload.as_str()).next();
            let workload = workload.filter(|w| !w.is_empty()).map_or(String::new(), |w| format!(" ({w})"));
            let name = if name.is_empty() { "(no name)" } else { name };
            let loads: Vec<String> = loads.iter().map(|(l, sessions)| load(l, sessions)).collect();
            format!("{name}{workload}: {}", loads.join("; "))
        })
        .collect()
}

fn alike(a: &LoadRecord, b: &LoadRecord) -> bool {
    (&a.kind, a.workers, &a.schedule, &a.overload) == (&b.kind, b.workers, &b.schedule, &b.overload)
}

fn load(load: &LoadRecord, sessions: &[u64]) -> String {
    let kind = if load.kind.is_empty() { "?" } else { &load.kind };
    let s = if sessions == [1] { "" } else { "s" };
    let sessions = list(&sessions.iter().map(|n| count(*n)).collect::<Vec<_>>());
    let mut text = format!("{kind} loop, {sessions} session{s} on {}", plural(load.workers, "worker"));
    if let Some(schedule) = &load.schedule {
        text.push_str(&format!(", {schedule}"));
    }
    if let Some(overload) = &load.overload {
        text.push_str(&format!(", overload {overload}"));
    }
    text
}

pub(super) fn environment(subject: &Subject<'_>) -> Section {
    let e = &subject.record.environment;
    let mut section = Section::joined();
    let mut said: Vec<String> = Vec::new();
    let text = |t: &Option<String>| t.clone().filter(|t| !t.is_empty());
    said.extend(text(&e.host));
    said.extend(text(&e.os));
    said.extend(text(&e.kernel).map(|k| format!("kernel {k}")));
    said.extend(text(&e.virtualisation).filter(|v| v != "none").map(|v| format!("on {v}")));
    said.extend(text(&e.cpu_model));
    said.extend(e.cores.map(|n| plural(n.into(), "core")));
    said.extend(e.memory_bytes.map(|n| format!("{} memory", bytes(n))));
    said.extend(text(&e.container_engine));
    let more = |name: &str| e.more.get(name).and_then(|v| v.as_str()).filter(|t| !t.is_empty());
    said.extend(more("windows_build").map(|b| format!("Windows {b}")));
    said.extend(more("clocksource").map(|c| format!("clock {c}")));
    said.extend(more("governor").map(|g| format!("governor {g}")));
    said.extend(more("smt").filter(|s| matches!(*s, "on" | "off")).map(|s| format!("SMT {s}")));
    said.extend(disks(e.more.get("disk_models")));
    let revision = e.more.get("git_revision").and_then(Value::as_str);
    let revision = revision.and_then(|r| r.get(..12)).map_or(String::new(), |r| format!(" ({r})"));
    said.extend(text(&e.openloop_version).map(|v| format!("openloop {v}{revision}")));
    if !said.is_empty() {
        section.line(clean(&format!("host: {}", said.join(" · "))));
    }
    if let Some(others) = others(e.more.get("busiest_others")) {
        section.line(clean(&others));
    }
    for (i, (name, server)) in e.servers.iter().enumerate() {
        let version = server.version.as_deref().unwrap_or("version not known");
        let settings: Vec<String> = server.settings.iter().map(|(k, v)| format!("{k} = {v}")).collect();
        let settings =
            if settings.is_empty() { String::new() } else { format!(" ({})", settings.join(", ")) };
        let head = if i == 0 { "server:" } else { "and" };
        section.line(clean(&format!("{head} {name} {version}{settings}")));
    }
    section
}

fn disks(models: Option<&Value>) -> Option<String> {
    let models: Vec<String> = models?
        .as_object()?
        .iter()
        .filter_map(|(disk, model)| Some(format!("{disk} {}", model.as_str()?)))
        .collect();
    (!models.is_empty()).then(|| format!("disk {}", list(&models)))
}

/// Who else was busy while the run lasted.
fn others(found: Option<&Value>) -> Option<String> {
    let one = |other: &Value| {
        let (name, cores) = (other.get("name")?.as_str()?, other.get("cores")?.as_f64()?);
        let many = other.get("processes").and_then(Value::as_u64).filter(|n| *n > 1);
        let many = many.map_or(String::new(), |n| format!(" ({})", count(n)));
        Some(format!("{name}{many} {}", short(cores)))
    };
    let said: Vec<String> = found?.as_array()?.iter().filter_map(one).collect();
    Some(match said.as_slice() {
        [] => "other programs: none used the CPU".into(),
        said => format!("other programs, mean cores: {}", list(said)),
    })
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(n) => n.as_u64().map_or_else(|| n.to_string(), count),
        other => other.to_string(),
    }
}
