//! When operations are meant to start: pure data, testable without a clock.

mod adjustable;
mod arrivals;
mod build;
mod combine;
mod curve;
mod data;
mod part;
mod poisson;
mod process;
mod segment;
mod shard;
mod sine;

pub use adjustable::RateHandle;
pub use arrivals::{Arrivals, ScheduledArrival};
pub use process::{ArrivalProcess, ArrivalStream};
pub use shard::Shard;

use crate::ConfigError;
use curve::Curve;
use part::{Part, describe_all};
use poisson::Spacing;
use std::{fmt, sync::Arc, time::Duration};

/// The intended starts of an open loop: pure data, from which the n-th start is an offset from the start of the
/// measured phase, computed from n itself, so that nothing drifts.
///
/// Made from [rates](Schedule::constant), [ramps](Schedule::ramp), [steps](Schedule::steps), [sines](Schedule::sine),
/// [spikes](Schedule::spike), [pauses](Schedule::pause) and [given offsets](Schedule::replay), put together by
/// [`then`](Schedule::then), [`repeat`](Schedule::repeat), [`lasting`](Schedule::lasting) and
/// [`scale`](Schedule::scale). Arrivals are evenly spaced, or random at the same rates after
/// [`poisson`](Schedule::poisson). Anything else is an [`ArrivalProcess`], taken by [`process`](Schedule::process) or
/// [`from_fn`](Schedule::from_fn); one whose rate is changed during the run is made by
/// [`adjustable`](Schedule::adjustable).
///
/// ```
/// use load_core::Schedule;
/// use std::time::Duration;
/// let schedule = Schedule::constant("30/s")?;
/// assert_eq!(schedule.count_within(Duration::from_secs(30)), 900);
/// let ramp = Schedule::ramp("10/s", "100/s", Duration::from_secs(20))?;
/// assert_eq!(ramp.count(), Some(1100));
/// # Ok::<(), load_core::ConfigError>(())
/// ```
///
/// # The rule
///
/// Let F(t) be the integral of the rate over [0, t). Arrival n, counted from 0, is at the last t with F(t) ≤ n: for a
/// constant rate n / rate, for a ramp the root of a quadratic, for a sine a root found to 1 ns. Intervals are
/// half-open: 30/s for 30 s is 900 arrivals, the first at 0 and none at 30 s; a schedule that ends has as many
/// arrivals as there are whole numbers below F(end). An F(end) within 10⁻⁹ of a whole number, or within the roundings
/// of its own computation, is taken for that number. Nothing arrives in a pause: what is due when it begins arrives
/// when it ends.
///
/// Offsets are whole nanoseconds, rounded to the nearest (but never up to the schedule's end), and right to 1 ns
/// within 48 days of the start of a part; a year into it they are right to 4 ns. Times end at 2⁶⁴ ns, 584 years: a
/// longer schedule is refused, and one without end has no arrivals beyond it.
///
/// # As data
///
/// It serializes with serde, rates as text (`"0.5/s"`) and times as whole nanoseconds, so that what is read back is
/// equal to what was written; the plan's hash covers all of it. A schedule that holds an [`ArrivalProcess`] is
/// written with the process's description and cannot be read back.
#[derive(Clone)]
pub struct Schedule {
    kind: Kind,
    spacing: Spacing,
}

#[derive(Clone)]
enum Kind {
    Data { parts: Vec<Part>, curve: Arc<Curve> },
    Process(Arc<dyn ArrivalProcess>),
}

impl Schedule {
    /// How many arrivals it has; `None` when it has no end or is a process. Of [Poisson](Schedule::poisson) arrivals:
    /// how many evenly spaced ones there would be, which is the expectation rounded up.
    pub fn count(&self) -> Option<u64> {
        self.curve()?.count()
    }

    /// How many arrivals lie within the first `duration`, its end excluded. Of Poisson arrivals as
    /// [`count`](Schedule::count); of a process 0.
    pub fn count_within(&self, duration: Duration) -> u64 {
        self.curve().map_or(0, |curve| curve.count_before(saturating_ns(duration)))
    }

    /// How long it lasts; `None` when it has no end or is a process.
    pub fn duration(&self) -> Option<Duration> {
        self.curve()?.end_ns().map(Duration::from_nanos)
    }

    /// The rate at its start, per second: 0 when it starts with a pause or a ramp from nothing.
    pub fn initial_rate(&self) -> f64 {
        self.rate_at(Duration::ZERO)
    }

    /// The rate at an offset, per second; 0 after the end. Of a replayed list: its mean rate. Of a process: what it
    /// says.
    pub fn rate_at(&self, offset: Duration) -> f64 {
        match &self.kind {
            Kind::Data { curve, .. } => curve.rate(saturating_ns(offset)),
            Kind::Process(process) => process.rate_at(offset),
        }
    }

    /// What a warm-up runs: the [initial rate](Schedule::initial_rate) without end, evenly spaced or Poisson as this
    /// is. `None` when the initial rate is 0: there is nothing to warm up with.
    pub fn warmup(&self) -> Option<Schedule> {
        let constant = Schedule::constant(self.initial_rate()).ok()?;
        Some(Schedule { spacing: self.spacing, ..constant })
    }

    /// The offset of arrival `n` (from 0) in ns; `None` after the end. Of Poisson arrivals: where an evenly spaced
    /// one would be. A process does not know: `None`.
    pub fn at(&self, n: u64) -> Option<u64> {
        self.curve()?.at(n)
    }

    /// The arrivals of one shard, in order. [`Shard::whole`] is all of them. For those of a random schedule or of a
    /// process, give the run's seed by [`Arrivals::seeded`].
    pub fn arrivals(&self, shard: Shard) -> Arrivals {
        Arrivals::new(self, shard)
    }

    /// Whether another run with the same seed gets the same arrivals. Not so for a process that says so, such as an
    /// [adjustable](Schedule::adjustable) one.
    pub fn is_replayable(&self) -> bool {
        match &self.kind {
            Kind::Data { .. } => true,
            Kind::Process(process) => process.is_replayable(),
        }
    }

    /// A short text for reports.
    pub fn describe(&self) -> String {
        let text = match &self.kind {
            Kind::Data { parts, .. } => describe_all(parts),
            Kind::Process(process) => process.describe(),
        };
        if self.spacing == Spacing::Even { text } else { format!("Poisson, {text}") }
    }

    /// Checks what could not be checked when it was put together. [`Load::validate`](crate::Load::validate) does.
    ///
    /// # Errors
    /// When Poisson arrivals are asked for where the times are given, or when there is no arrival at all.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let given = match &self.kind {
            Kind::Data { parts, .. } => parts.iter().any(Part::replays),
            Kind::Process(_) => true,
        };
        if given && self.spacing != Spacing::Even {
            let reason = "a replayed list or a process has its own times";
            return Err(ConfigError::invalid("schedule.poisson", self.describe(), reason));
        }
        if self.count() == Some(0) {
            return Err(ConfigError::invalid("schedule", self.describe(), "it has no arrivals"));
        }
        Ok(())
    }

    fn curve(&self) -> Option<&Curve> {
        match &self.kind {
            Kind::Data { curve, .. } => Some(curve),
            Kind::Process(_) => None,
        }
    }

    fn of(parts: Vec<Part>, spacing: Spacing) -> Result<Schedule, ConfigError> {
        let curve = Arc::new(Curve::of(&parts)?);
        Ok(Schedule { kind: Kind::Data { parts, curve }, spacing })
    }
}

/// By what they are made of; two processes are equal when they are the same one.
impl PartialEq for Schedule {
    fn eq(&self, other: &Schedule) -> bool {
        let same = match (&self.kind, &other.kind) {
            (Kind::Data { parts, .. }, Kind::Data { parts: others, .. }) => parts == others,
            (Kind::Process(a), Kind::Process(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        same && self.spacing == other.spacing
    }
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Schedule({})", self.describe())
    }
}

fn saturating_ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
