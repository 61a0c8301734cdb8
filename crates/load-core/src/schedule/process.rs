//! Arrivals that no schedule of rates can say.

use super::{Kind, Schedule, poisson::Spacing};
use std::{sync::Arc, time::Duration};

/// A user's own arrival process: bursts of random size, a trace that is computed, a feedback loop. Taken wherever a
/// schedule is ([`Load::open`](crate::Load::open), [`Schedule::process`]).
///
/// For one that only needs an iterator of offsets there is [`Schedule::from_fn`].
///
/// ```
/// use load_core::{ArrivalProcess, ArrivalStream, Load};
/// use std::time::Duration;
///
/// /// Pairs of arrivals, a pair every `gap` ns.
/// struct Pairs { gap: u64 }
/// struct Stream { gap: u64, n: u64 }
///
/// impl ArrivalProcess for Pairs {
///     fn start(&self, _seed: u64) -> Box<dyn ArrivalStream> {
///         Box::new(Stream { gap: self.gap, n: 0 })
///     }
///     fn describe(&self) -> String {
///         format!("pairs every {} ns", self.gap)
///     }
///     fn rate_at(&self, _: Duration) -> f64 {
///         2e9 / self.gap as f64
///     }
///     fn is_replayable(&self) -> bool {
///         true
///     }
/// }
///
/// impl ArrivalStream for Stream {
///     fn next(&mut self) -> Option<u64> {
///         self.n += 1;
///         Some((self.n - 1) / 2 * self.gap)
///     }
/// }
///
/// let load = Load::open(Pairs { gap: 1_000_000 });
/// ```
pub trait ArrivalProcess: Send + Sync + 'static {
    /// Begins the process: all its arrivals from the first, whatever was drawn before.
    ///
    /// Called once for each worker in each round, on any thread. Each worker walks the whole process and keeps its
    /// share, so equal seeds must give equal arrivals; the seed is the same on all workers of a stream and differs
    /// from round to round.
    fn start(&self, seed: u64) -> Box<dyn ArrivalStream>;

    /// A short text for reports. It stands for the process in the plan's hash, so it says all that tells this one
    /// from others.
    fn describe(&self) -> String;

    /// Arrivals per second at an offset from the start, as far as it is known: at 0 it is the rate of the warm-up,
    /// later the one that a [catch-up cap](crate::Overload::queue_capped) is a multiple of. 0, the default, is "not
    /// known": no warm-up arrivals.
    fn rate_at(&self, offset: Duration) -> f64 {
        let _ = offset;
        0.0
    }

    /// Whether the same seed gives the same arrivals in another run. `false` unless told otherwise.
    fn is_replayable(&self) -> bool {
        false
    }
}

/// The arrivals of an [`ArrivalProcess`], in order.
pub trait ArrivalStream: Send {
    /// The offset of the next arrival, in ns from the start; `None` at the end, and from then on. One that is before
    /// the last is taken to be at the same time as it.
    fn next(&mut self) -> Option<u64>;

    /// Passes over an arrival that is another worker's; `false` at the end. Worth writing when
    /// [`next`](ArrivalStream::next) is costly.
    fn skip(&mut self) -> bool {
        self.next().is_some()
    }

    /// The arrival that [`next`](ArrivalStream::next) gave last, anew, when something has changed since. `now` is the
    /// offset of the present. The engine asks while it waits for an arrival that is not due, some hundred times a
    /// second, so the usual answer, `None`, should be cheap.
    fn revise(&mut self, now: u64) -> Option<u64> {
        let _ = now;
        None
    }
}

impl Schedule {
    /// A user's own arrival process.
    pub fn process(process: impl ArrivalProcess) -> Schedule {
        Schedule { kind: Kind::Process(Arc::new(process)), spacing: Spacing::Even }
    }

    /// Arrivals from an iterator of offsets that do not decrease, made anew from a seed for each worker and round.
    /// `name` stands for them in reports and in the plan's hash. The same seed must give the same offsets.
    ///
    /// ```
    /// # use load_core::{Schedule, Shard};
    /// # use std::time::Duration;
    /// let squares = Schedule::from_fn("at the squares", |_seed| (0u32..10).map(|n| Duration::from_millis(u64::from(n * n))));
    /// assert_eq!(squares.arrivals(Shard::whole()).last().unwrap().offset, 81_000_000);
    /// ```
    pub fn from_fn<F, I>(name: impl Into<String>, offsets: F) -> Schedule
    where
        F: Fn(u64) -> I + Send + Sync + 'static,
        I: IntoIterator<Item = Duration>,
        I::IntoIter: Send + 'static,
    {
        Schedule::process(FromFn { name: name.into(), offsets })
    }
}

impl<P: ArrivalProcess> From<P> for Schedule {
    fn from(process: P) -> Schedule {
        Schedule::process(process)
    }
}

struct FromFn<F> {
    name: String,
    offsets: F,
}

impl<F, I> ArrivalProcess for FromFn<F>
where
    F: Fn(u64) -> I + Send + Sync + 'static,
    I: IntoIterator<Item = Duration>,
    I::IntoIter: Send + 'static,
{
    fn start(&self, seed: u64) -> Box<dyn ArrivalStream> {
        Box::new(Offsets((self.offsets)(seed).into_iter()))
    }

    fn describe(&self) -> String {
        self.name.clone()
    }

    fn is_replayable(&self) -> bool {
        true
    }
}

struct Offsets<I>(I);

impl<I: Iterator<Item = Duration> + Send> ArrivalStream for Offsets<I> {
    fn next(&mut self) -> Option<u64> {
        // Beyond 584 years is the end.
        u64::try_from(self.0.next()?.as_nanos()).ok()
    }
}
