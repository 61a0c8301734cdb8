//! Steps of operations, and operations by kind.

use super::{Subject, latency::sample};
use crate::{
    doc::{Column, Entry, Kind, Section, figures},
    format::clean,
};
use load_core::record::{Distribution, Operations, StreamRecord};
use std::collections::{BTreeMap, BTreeSet};

fn times() -> Vec<Column<Distribution>> {
    vec![
        Column::new("n", Kind::Count, |d: &Distribution| Some(d.count as f64)),
        Column::new("mean", Kind::Time, |d: &Distribution| Some(d.mean_ns)),
        Column::new("P50", Kind::Time, |d: &Distribution| Some(d.p50_ns as f64)),
        Column::new("P95", Kind::Time, |d: &Distribution| Some(d.p95_ns as f64)),
        Column::new("P99", Kind::Time, |d: &Distribution| Some(d.p99_ns as f64)),
        Column::new("max", Kind::Time, |d: &Distribution| Some(d.max_ns as f64)),
    ]
}

type Steps = BTreeMap<String, Distribution>;

pub(super) fn steps(subject: &Subject<'_>) -> Section {
    of_all(subject, "Steps of successful operations", |s| &s.steps)
}

pub(super) fn connecting(subject: &Subject<'_>) -> Section {
    of_all(subject, "Steps of connecting", |s| &s.connects.steps)
}

fn of_all(subject: &Subject<'_>, heading: &str, of: fn(&StreamRecord) -> &Steps) -> Section {
    let mut entries: Vec<Entry<'_, Distribution>> = Vec::new();
    for group in &subject.groups {
        let names: BTreeSet<&str> = group.all.iter().flat_map(|s| of(s).keys()).map(String::as_str).collect();
        let mut first = true;
        for name in names {
            let entry = subject.entry(group, |s| of(s).get(name).filter(|d| d.count > 0));
            if let Some(mut entry) = entry {
                entry.title.push(clean(name));
                if !std::mem::take(&mut first) {
                    entry.title[0].clear();
                }
                entries.push(entry);
            }
        }
    }
    let (table, unit) = figures(&["stream", "step"], &entries, &times());
    let mut section = Section::new(format!("{heading}, in {}", unit.name()));
    section.table(table);
    section
}

pub(super) fn kinds(subject: &Subject<'_>) -> Section {
    let mut entries: Vec<Entry<'_, Operations>> = Vec::new();
    for group in &subject.groups {
        let names: BTreeSet<&str> =
            group.all.iter().flat_map(|s| s.operations.keys()).map(String::as_str).collect();
        let mut first = true;
        for name in names {
            if let Some(mut entry) = subject.entry(group, |s| s.operations.get(name)) {
                entry.title.push(clean(name));
                if !std::mem::take(&mut first) {
                    entry.title[0].clear();
                }
                entries.push(entry);
            }
        }
    }
    let time = |head, get: fn(&Distribution) -> f64| {
        Column::new(head, Kind::Time, move |o: &Operations| sample(&o.service).map(get))
    };
    let columns = [
        Column::new("succeeded", Kind::Count, |o: &Operations| Some(o.count as f64)),
        Column::new("failed", Kind::Count, |o: &Operations| Some(o.failed as f64)),
        time("mean", |d| d.mean_ns),
        time("P50", |d| d.p50_ns as f64),
        time("P95", |d| d.p95_ns as f64),
        time("P99", |d| d.p99_ns as f64),
        time("max", |d| d.max_ns as f64),
    ];
    let (table, unit) = figures(&["stream", "kind"], &entries, &columns);
    let mut section = Section::new(format!("Kinds of operations: service time in {}", unit.name()));
    section.table(table);
    section
}
