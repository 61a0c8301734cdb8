//! What the client itself can do: the same workload, at the same concurrency, against a target that does nothing.

use super::{
    Progress, Stopper,
    cell::{self, CellDone, Which},
};
use crate::{Plan, stream::Stream};
use load_core::{Clock, Load};
use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::watch;

/// The delay of the target that shows whether the concurrency is kept: so long that neither the precision of timers matters
/// nor the few milliseconds that a thread waits for its turn on a busy machine.
const LEAST_DELAY: Duration = Duration::from_millis(20);
/// At least so many answers one after the other.
const ROUND_TRIPS: u32 = 8;
/// The longest a calibration may take.
const LONGEST: Duration = Duration::from_secs(3);

/// What was found. `None` is "not measured".
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Calibration {
    /// Operations per second against a target that answers at once.
    pub(super) ceiling: Option<f64>,
    /// Rate against a target that answers after d, over concurrency / d.
    pub(super) kept: Option<f64>,
}

/// Workload, sessions, workers, length.
type Key = ((TypeId, String), usize, usize, Duration);

/// What `Workload::describe` says by default, alone or as a part: two such workloads may differ in all but their type.
const UNDESCRIBED: &str = "custom workload";

/// One calibration at a time: two runs that begin together would halve each other's ceiling, for good.
static ALONE: Mutex<()> = Mutex::new(());
/// A process measures the same thing once.
static KNOWN: Mutex<Option<HashMap<Key, Calibration>>> = Mutex::new(None);

/// The calibration of a stream under a load; measured now, unless this process has done so.
pub(super) fn of(plan: &Plan, stream: &Arc<Stream>, load: &Load, stopper: &Stopper) -> Calibration {
    if plan.calibration.is_zero() || plan.virtual_time.is_some() || stopper.is_stopped() {
        return Calibration::default();
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (sessions, workers) = (load.session_count(), load.worker_count(cores));
    let key = (stream.kind(), sessions, workers, plan.calibration);
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let told_apart = !stream.workload().contains(UNDESCRIBED);
    if told_apart
        && let Some(known) =
            KNOWN.lock().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(|k| k.get(&key))
    {
        return *known;
    }
    let closed = Load::closed(sessions).workers(workers);
    let rate = |delay: Duration, length: Duration| match run(plan, stream, &closed, delay, length, stopper) {
        Ok(rate) => rate,
        Err(why) => {
            tracing::warn!(stream = stream.name(), "not calibrated: {why}");
            None
        }
    };
    let Some(ceiling) = rate(Duration::ZERO, plan.calibration) else { return Calibration::default() };
    // At an eighth of what the client can do at all its processor is not the limit, so that what is left is whether it keeps
    // all its operations going at once (at half of it an honest client is held up by its own bursts, as all sessions are
    // answered at once). The shortest service time seen is no use for a fast server: the rate that it
    // asks for, concurrency / a few microseconds, is beyond any client.
    let delay = LEAST_DELAY.max(Duration::from_secs_f64((8.0 * sessions as f64 / ceiling).min(1.0)));
    let length = plan.calibration.max(delay * ROUND_TRIPS).min(LONGEST);
    let kept = rate(delay, length).map(|rate| rate * delay.as_secs_f64() / sessions as f64);
    let calibration = Calibration { ceiling: Some(ceiling), kept };
    if told_apart {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.get_or_insert_with(HashMap::new).insert(key, calibration);
    }
    calibration
}

/// Operations per second against a null target; `None` when the workload has none.
fn run(
    plan: &Plan,
    stream: &Arc<Stream>,
    load: &Load,
    delay: Duration,
    length: Duration,
    stopper: &Stopper,
) -> Result<Option<f64>, String> {
    let Some((mut nulled, guard)) = stream.nulled(delay).map_err(|error| error.to_string())? else {
        return Ok(None);
    };
    nulled.load = load.clone();
    let mut small = Plan::new().warmup(length / 3).measure(length).drain(LONGEST).seed(plan.seed);
    small.classifiers = plan.classifiers.clone();
    small.connect_timeout = plan.connect_timeout;
    small.streams.push(Arc::new(nulled));
    let (nobody, _) = watch::channel(Progress::default());
    let which = Which { round: 0, level: None, phase: None };
    let done = cell::run(&small, which, &Clock::real(), stopper, &nobody, None)
        .map_err(|error| error.to_string())?;
    drop(guard);
    Ok(done.and_then(rate))
}

/// In flight over service time, which is the rate by Little's law. A count of what ended within the phase would lose most of
/// a round trip: against a target that answers late the sessions go in step.
fn rate(done: CellDone) -> Option<f64> {
    let phase = done.stop.checked_sub(done.times.measure).filter(|ns| *ns > 0)?;
    let part = &done.streams.first()?.part;
    let usable = part.measured().failed == 0 && !done.interrupted;
    let service = part.response.mean().filter(|ns| *ns > 0.0 && usable)?;
    Some(part.in_flight_ns as f64 / phase as f64 * 1e9 / service)
}
