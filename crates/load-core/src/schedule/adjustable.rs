//! A rate that is changed while the load runs.

use super::{ArrivalProcess, ArrivalStream, Schedule};
use crate::{ConfigError, IntoRate, Rate};
use std::{
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

impl Schedule {
    /// Evenly spaced arrivals at a rate that the handle changes during the run: for an interactive test, or a loop
    /// that seeks a limit. Such a run cannot be replayed from its plan ([`is_replayable`](Schedule::is_replayable));
    /// what was offered is kept by the handle ([`RateHandle::changes`]).
    ///
    /// ```
    /// # use load_core::{Load, Schedule};
    /// let (schedule, rate) = Schedule::adjustable("100/s")?;
    /// let load = Load::open(schedule);
    /// rate.set("250/s")?;      // at any time, from any thread
    /// # Ok::<(), load_core::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// When the rate is not a rate.
    pub fn adjustable(rate: impl IntoRate) -> Result<(Schedule, RateHandle), ConfigError> {
        let rate = rate.into_rate()?;
        let state = State { rate, runs: Vec::new() };
        let shared = Arc::new(Shared { initial: rate, version: AtomicU64::new(0), state: Mutex::new(state) });
        Ok((Schedule::process(Adjustable(shared.clone())), RateHandle(shared)))
    }
}

/// Changes the rate of an [adjustable](Schedule::adjustable) schedule. Clones change the same one.
#[derive(Debug, Clone)]
pub struct RateHandle(Arc<Shared>);

impl RateHandle {
    /// Sets the rate, from the moment at which a worker notices: within some 10 ms, even while it waits for a far
    /// arrival of a low rate. The part of an arrival that the old rate had built up by then is kept. All workers of a
    /// stream count from the same moment. Before the run starts, and between rounds, it is the rate from the start.
    ///
    /// # Errors
    /// When the rate is not a rate.
    pub fn set(&self, rate: impl IntoRate) -> Result<(), ConfigError> {
        let rate = rate.into_rate()?;
        let mut state = self.0.lock();
        state.rate = rate;
        if let Some(run) = state.runs.last_mut() {
            run.wanted = Some(rate);
        }
        self.0.version.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// The rate that was set last.
    pub fn rate(&self) -> Rate {
        self.0.lock().rate
    }

    /// The rates of the newest round and the offsets from which they held, the first from 0. Empty before the first.
    pub fn changes(&self) -> Vec<(Duration, Rate)> {
        let state = self.0.lock();
        let changes = state.runs.last().map_or(&[][..], |run| &run.changes);
        changes.iter().map(|(at, rate)| (Duration::from_nanos(*at), *rate)).collect()
    }
}

#[derive(Debug)]
struct Shared {
    initial: Rate,
    /// How often a rate was set; all that a worker reads while nothing changes.
    version: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    rate: Rate,
    /// One for each seed: the workers of a round share it, rounds do not.
    runs: Vec<Run>,
}

#[derive(Debug)]
struct Run {
    seed: u64,
    /// Set but not yet noticed by a worker.
    wanted: Option<Rate>,
    changes: Vec<(u64, Rate)>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic while held")
    }
}

struct Adjustable(Arc<Shared>);

impl ArrivalProcess for Adjustable {
    fn start(&self, seed: u64) -> Box<dyn ArrivalStream> {
        let mut state = self.0.lock();
        let rate = state.rate;
        let known = state.runs.iter().position(|run| run.seed == seed);
        let run = known.unwrap_or_else(|| {
            state.runs.push(Run { seed, wanted: None, changes: vec![(0, rate)] });
            state.runs.len() - 1
        });
        let rate = state.runs[run].changes[0].1.per_second();
        let shared = self.0.clone();
        // No version is so high: the first look finds what other workers noticed before this one started.
        Box::new(Stream {
            shared,
            run,
            version: u64::MAX,
            seen: 1,
            rate,
            base_ns: 0.0,
            base: 0.0,
            n: 0,
            last: 0.0,
        })
    }

    fn describe(&self) -> String {
        format!("adjustable, {} at first", self.0.initial)
    }

    fn rate_at(&self, _: Duration) -> f64 {
        self.0.lock().rate.per_second()
    }
}

struct Stream {
    shared: Arc<Shared>,
    run: usize,
    version: u64,
    /// How many of the run's changes are taken into account.
    seen: usize,
    rate: f64,
    /// Where the present rate began, and the count there.
    base_ns: f64,
    base: f64,
    /// The number of the next arrival.
    n: u64,
    /// The offset of the last one.
    last: f64,
}

impl Stream {
    /// Takes changes into account; whether there were any.
    fn notice(&mut self, now: f64) -> bool {
        let version = self.shared.version.load(Ordering::Acquire);
        if version == self.version {
            return false;
        }
        self.version = version;
        let shared = self.shared.clone();
        let mut state = shared.lock();
        let run = &mut state.runs[self.run];
        if let Some(rate) = run.wanted.take() {
            let at = run.changes.last().map_or(0, |(at, _)| *at).max(now as u64);
            run.changes.push((at, rate));
        }
        let changed = self.seen < run.changes.len();
        for (at, rate) in &run.changes[self.seen..] {
            self.base += (*at as f64 - self.base_ns) / 1e9 * self.rate;
            (self.base_ns, self.rate) = (*at as f64, rate.per_second());
        }
        self.seen = run.changes.len();
        changed
    }

    fn offset(&self, n: u64) -> f64 {
        self.base_ns + (n as f64 - self.base) / self.rate * 1e9
    }
}

impl ArrivalStream for Stream {
    fn next(&mut self) -> Option<u64> {
        self.notice(self.last);
        self.last = self.offset(self.n).max(self.base_ns).max(self.last);
        self.n += 1;
        (self.last < u64::MAX as f64).then_some(self.last.round() as u64)
    }

    fn skip(&mut self) -> bool {
        self.n += 1;
        true
    }

    fn revise(&mut self, now: u64) -> Option<u64> {
        if self.n == 0 || !self.notice(now as f64) {
            return None;
        }
        self.last = self.offset(self.n - 1).max(self.base_ns);
        Some(self.last.round() as u64)
    }
}
