//! Sees a plan through: rounds, and in each the levels in rotated order.

use super::{
    Progress, Stage, Stopper, assemble,
    cell::{self, Which},
};
use crate::{Plan, RunError};
use load_core::{Clock, Record, record::Phase};
use std::time::SystemTime;
use tokio::sync::watch;

/// Runs the plan to its end, on the calling thread.
pub(super) fn run(
    plan: Plan,
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
    let result = rounds(&plan, &clock, stopper, report, &mut record);
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
            let now = clock.now();
            record.events.push(load_core::record::Event::new(now, "run ended early", error.to_string()));
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
    record: &mut Record,
) -> Result<(), RunError> {
    for round in 1..=plan.rounds {
        let span = tracing::info_span!("round", round);
        let _round = span.enter();
        for level in order(plan, round) {
            let which = Which { round, level };
            let name = level.map_or("", |(level, _)| level.as_str());
            let span = tracing::info_span!("phase", level = name);
            let _phase = span.enter();
            let Some(done) = cell::run(plan, which, clock, stopper, report)? else {
                record.interrupted = true;
                return Ok(());
            };
            record.phases.push(Phase::new("measure", round, done.times.measure, done.stop));
            for stream in &done.streams {
                record.streams.push(assemble::stream(plan, which, &done, stream));
            }
            if done.interrupted || stopper.is_stopped() {
                record.interrupted = true;
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The levels in the order of a round: each round begins one further on.
fn order(plan: &Plan, round: u32) -> Vec<Option<&(String, load_core::Load)>> {
    if plan.levels.is_empty() {
        return vec![None];
    }
    let first = (round - 1) as usize % plan.levels.len();
    let (before, after) = plan.levels.split_at(first);
    after.iter().chain(before).map(Some).collect()
}
