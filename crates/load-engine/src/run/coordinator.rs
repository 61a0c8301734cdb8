//! Sees a plan through: rounds, in each the levels in rotated order, in each the phases.

use super::{
    Progress, Stage, Stopper, assemble,
    calibrate::{self, Calibration},
    cell::{self, CellDone, Which},
    scaling, until,
};
use crate::{Plan, RunError};
use load_core::{
    Clock, ConfigError, Load, Record,
    record::{Check, Event, Phase},
};
use sampler::{Generator, GeneratorThreads, Others};
use std::{collections::HashMap, time::SystemTime};
use tokio::sync::watch;

/// Runs the plan to its end, on the calling thread.
pub(super) fn run(
    mut plan: Plan,
    stopper: &Stopper,
    report: &watch::Sender<Progress>,
) -> Result<Record, RunError> {
    plan.validate()?;
    let span = tracing::info_span!("run", experiment = %plan.experiment);
    let _run = span.enter();
    let clock = match &plan.virtual_time {
        Some(time) => Clock::Virtual(time.clone()),
        None => Clock::real(),
    };
    let mut record = new_record(&plan);
    // On a virtual clock nothing lasts long enough to say who else was busy.
    let others = plan.virtual_time.is_none().then(Others::watch);
    let (sampling, threads) = match plan.sampler.take() {
        None => (None, None),
        Some(sampler) => {
            // The generator itself is always among what is watched.
            let generator = Generator::new();
            let threads = generator.threads();
            let started = sampler.source(generator).start(clock.clone());
            let sampling =
                started.map_err(|e| ConfigError::invalid("sample", "the sampler", e.to_string()))?;
            (Some(sampling), Some(threads))
        }
    };
    let result = rounds(&plan, &clock, stopper, report, threads.as_ref(), &mut record);
    if let Some(others) = others {
        others.record(&mut record.environment);
    }
    if let Some(sampling) = sampling {
        let samples = sampling.stop();
        record.series = samples.series;
        record.events.extend(samples.events);
        record.events.sort_by_key(|event| event.t_ns);
    }
    scaling::judge(&mut record);
    record.judge();
    report.send_modify(|p| p.stage = Stage::Ended);
    match result {
        Ok(()) if record.interrupted && record.streams.is_empty() => Err(RunError::Cancelled),
        Ok(()) => Ok(record),
        Err(RunError::Stuck { worker, after, streams, .. }) => {
            record.interrupted = true;
            let partial = (!record.streams.is_empty()).then(|| Box::new(record));
            Err(RunError::Stuck { worker, after, streams, partial })
        }
        // What earlier levels measured is not lost when a later one cannot connect.
        Err(error) if !record.streams.is_empty() => {
            record.interrupted = true;
            record.events.push(Event::new(clock.now(), "run ended early", error.to_string()));
            if let RunError::Aborted { stream, why } = &error {
                record.checks.push(Check::new(format!("abort.{stream}"), false, 0, why.clone()));
            }
            Ok(record)
        }
        Err(error) => Err(error),
    }
}

fn new_record(plan: &Plan) -> Record {
    let started_at = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
    let mut record = Record::new(plan.experiment.clone(), started_at);
    record.seed = plan.seed;
    record.plan_hash = plan.hash();
    record.labels = plan.labels.clone();
    record.method = assemble::method(plan);
    record.environment = sampler::environment();
    record.environment.servers = plan.environment.servers.clone();
    record
}

fn rounds(
    plan: &Plan,
    clock: &Clock,
    stopper: &Stopper,
    report: &watch::Sender<Progress>,
    threads: Option<&GeneratorThreads>,
    record: &mut Record,
) -> Result<(), RunError> {
    let known = calibrate_all(plan, stopper, report);
    for round in 1..=plan.rounds {
        let span = tracing::info_span!("round", round);
        let _round = span.enter();
        for (level, phase) in order(plan, round) {
            let which = Which { round, level, phase };
            let name = level.map_or("", |(level, _)| level.as_str());
            let span = tracing::info_span!("phase", name = which.phase_name(), level = name);
            let _phase = span.enter();
            let Some(done) = cell::run(plan, which, clock, stopper, report, threads)? else {
                record.interrupted = true;
                return Ok(());
            };
            add(plan, which, &done, &known, record);
            if done.interrupted || stopper.is_stopped() {
                record.interrupted = true;
                return Ok(());
            }
        }
        if plan.until.is_some_and(|width| until::known(record, width)) {
            return Ok(());
        }
    }
    if let Some(width) = plan.until {
        let detail = format!("after {} rounds the median is not known to {width} of it", plan.rounds);
        record.events.push(Event::new(clock.now(), "rounds used up", detail));
    }
    Ok(())
}

/// Calibrations by stream, sessions and workers.
type Known = HashMap<(String, usize, Option<usize>), Calibration>;

fn key(name: &str, load: &Load) -> (String, usize, Option<usize>) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (name.into(), load.session_count(), Some(load.worker_count(cores)))
}

/// Calibrates every stream at every level, while nothing else runs.
fn calibrate_all(plan: &Plan, stopper: &Stopper, report: &watch::Sender<Progress>) -> Known {
    let mut known = Known::new();
    report.send_modify(|p| (p.stage, p.rounds) = (Stage::Calibrating, plan.rounds));
    for stream in &plan.streams {
        let loads = plan.levels.iter().map(|(_, load)| load);
        let own = plan.levels.is_empty().then_some(&stream.load);
        for load in loads.chain(own) {
            known
                .entry(key(stream.name(), load))
                .or_insert_with(|| calibrate::of(plan, stream, load, stopper));
        }
    }
    known
}

/// Adds what a cell measured.
fn add(plan: &Plan, which: Which<'_>, done: &CellDone, known: &Known, record: &mut Record) {
    record.phases.push(Phase::new(which.phase_name(), which.round, done.times.measure, done.stop));
    for stream in &done.streams {
        let calibration = known.get(&key(stream.stream.name(), &stream.load)).copied().unwrap_or_default();
        record.streams.push(assemble::stream(plan, which, done, stream, calibration));
    }
    for gap in &done.gaps {
        record.events.push(Event::new(gap.start, gap.what(), format!("for {:.2} s", gap.seconds())));
    }
    if let Some(abort) = &done.aborted {
        record.events.push(Event::new(done.stop, "run aborted", format!("{}: {}", abort.stream, abort.why)));
        record.checks.push(Check::new(format!("abort.{}", abort.stream), false, 0, abort.why.clone()));
    }
}

type Cells<'a> = Vec<(Option<&'a (String, Load)>, Option<&'a (String, Vec<String>)>)>;

/// The cells of a round: each begins one level further on than the last.
fn order(plan: &Plan, round: u32) -> Cells<'_> {
    let levels: Vec<_> = match plan.levels.len() {
        0 => vec![None],
        n => {
            let (before, after) = plan.levels.split_at((round - 1) as usize % n);
            after.iter().chain(before).map(Some).collect()
        }
    };
    let phases: Vec<_> =
        if plan.phases.is_empty() { vec![None] } else { plan.phases.iter().map(Some).collect() };
    levels.into_iter().flat_map(|level| phases.iter().map(move |phase| (level, *phase))).collect()
}
