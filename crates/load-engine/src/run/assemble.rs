//! Makes records of what the workers measured.

use super::{
    calibrate::Calibration,
    cell::{CellDone, StreamDone, Which},
    evidence,
};
use crate::{Plan, plan::ns, worker::Failures};
use load_core::{
    Histogram,
    record::{Connects, Distribution, FailureCount, LoadRecord, Method, Operations, StreamRecord, Warmup},
};
use std::collections::BTreeMap;

/// The method of a plan.
pub(super) fn method(plan: &Plan) -> Method {
    let mut method = Method::default();
    method.warmup_ns = ns(plan.warmup);
    method.measure_ns = plan.measure_limit().map(ns);
    method.measure_count = plan.count;
    method.drain_limit_ns = ns(plan.drain);
    method.window_ns = ns(plan.window);
    method.rounds = plan.rounds;
    method.levels = plan.levels.iter().map(|(level, _)| level.clone()).collect();
    method.level_order = "rotated".into();
    method.percentile_rule = "nearest rank (hdrhistogram), within the exact minimum and maximum".into();
    method.settings = plan.settings.clone();
    method
}

/// The record of one stream of a cell.
pub(super) fn stream(
    plan: &Plan,
    which: Which<'_>,
    cell: &CellDone,
    done: &StreamDone,
    calibration: Calibration,
) -> StreamRecord {
    let part = &done.part;
    let books = *part.measured();
    let counted = by_count(plan, cell, done);
    let stop = done.stopped_at.min(cell.stop.max(cell.times.measure));
    let elapsed_ns = if counted {
        part.last_end.saturating_sub(part.first_start.min(part.last_end))
    } else {
        stop - cell.times.measure
    };
    let per_s = |n: u64| if elapsed_ns > 0 { n as f64 * 1e9 / elapsed_ns as f64 } else { 0.0 };
    let (succeeded, failed) =
        if counted { (books.succeeded, books.failed) } else { (part.succeeded_within, part.failed_within) };
    let open = done.load.is_open();
    let mut record = StreamRecord::default();
    record.name = done.stream.name().into();
    record.workload = done.stream.workload().into();
    record.phase = which.phase_name().into();
    record.level = match which.level {
        Some((level, _)) => level.clone(),
        None => done.load.session_count().to_string(),
    };
    record.round = which.round;
    record.load = load(done);
    record.accounting = books;
    record.offered_per_s = per_s(books.scheduled);
    record.succeeded_per_s = per_s(succeeded);
    record.completed_per_s = per_s(succeeded + failed);
    record.elapsed_ns = elapsed_ns;
    record.drain_ns = done.drained_at.saturating_sub(stop).min(cell.times.drain);
    record.bytes_in = part.bytes_in;
    record.bytes_out = part.bytes_out;
    record.units = part.units;
    record.failed_units = part.failed_units;
    record.connects = connects(done);
    record.carried_in = part.carried_in;
    record.warmup = warmup(done);
    record.operations = part.kinds.iter().map(|(name, kind)| (name.to_string(), operations(kind))).collect();
    record.response = Distribution::of(&part.response);
    record.service = Distribution::of(if open { &part.service } else { &part.response });
    record.wait = if open { Distribution::of(&part.wait) } else { no_wait(part.response.count()) };
    record.lateness = Distribution::of(&part.lateness);
    record.dispatch = Distribution::of(&part.dispatch);
    record.loop_lag = Distribution::of(&part.loop_lag);
    record.failed_service = Distribution::of(&part.failed_service);
    record.censored = Distribution::of(&part.censored);
    record.steps = steps(&part.steps);
    record.failures = failures(&part.failures);
    record.counters = part.counters.iter().map(|(name, n)| (name.to_string(), *n)).collect();
    if part.steps_lost > 0 {
        record.counters.insert("steps_lost".into(), part.steps_lost);
    }
    record.facts = facts(done);
    record.windows = done.windows.clone();
    let evidence = evidence::of(cell, done, calibration, elapsed_ns);
    record.verdict = evidence::judge(cell, done, evidence, elapsed_ns);
    if let Some(count) = plan.count.filter(|count| books.scheduled < *count) {
        let text =
            format!("count not reached: {} of {count} operations until the phase was ended", books.scheduled);
        record.verdict.findings.push(text);
    }
    record
}

/// Whether a count ended the stream, and not the time or a stop before it.
fn by_count(plan: &Plan, cell: &CellDone, done: &StreamDone) -> bool {
    plan.count.is_some() && !cell.interrupted && done.stopped_at < cell.stop
}

fn load(done: &StreamDone) -> LoadRecord {
    let mut load = LoadRecord::default();
    load.concurrency = done.load.session_count() as u64;
    load.workers = done.workers as u64;
    load.kind = if done.load.is_open() { "open" } else { "closed" }.into();
    if let Some(schedule) = done.load.schedule() {
        load.schedule = Some(schedule.describe());
        load.overload = Some(done.load.overload_policy().describe());
    }
    load
}

fn connects(done: &StreamDone) -> Connects {
    let mut connects = Connects::default();
    connects.ok = done.part.connects_ok;
    connects.failed = done.part.connects_failed;
    connects.open_at_start = done.open_at_start;
    connects.failures = failures(&done.part.connect_failures);
    connects.time = Distribution::of(&done.part.connect_time);
    connects.steps = steps(&done.part.connect_steps);
    connects
}

fn warmup(done: &StreamDone) -> Warmup {
    let mut warmup = Warmup::default();
    warmup.accounting = *done.part.warmup();
    warmup
}

fn operations(kind: &crate::worker::KindPart) -> Operations {
    let mut operations = Operations::default();
    operations.count = kind.count;
    operations.failed = kind.failed;
    operations.service = Distribution::of(&kind.service);
    operations
}

fn steps(all: &BTreeMap<&'static str, Histogram>) -> BTreeMap<String, Distribution> {
    all.iter().filter_map(|(name, h)| Some((name.to_string(), Distribution::of(h)?))).collect()
}

/// In a closed loop nothing waits for a session.
fn no_wait(n: u64) -> Option<Distribution> {
    let mut h = Histogram::new();
    h.record_n(0, n);
    Distribution::of(&h)
}

fn failures(all: &Failures) -> Vec<FailureCount> {
    let mut counts: Vec<_> = all
        .iter()
        .map(|((class, code), (n, example))| FailureCount::new(*class, code.clone(), *n, example.clone()))
        .collect();
    counts.sort_by_key(|f| std::cmp::Reverse(f.count));
    counts
}

fn facts(done: &StreamDone) -> BTreeMap<String, String> {
    let join =
        |texts: &std::collections::BTreeSet<String>| texts.iter().cloned().collect::<Vec<_>>().join(", ");
    done.part.facts.iter().map(|(name, texts)| (name.to_string(), join(texts))).collect()
}
