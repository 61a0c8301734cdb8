//! Reads sources, each at its own interval, on a thread of its own.

mod book;
mod erased;
mod thread;

use crate::{
    Cgroup, FreeSpace, HostCpu, HostDisks, HostLoad, HostMemory, HostNetwork, HostPressure, ThreadClock,
};
use book::Book;
use erased::Erased;
use load_core::{
    Clock, Source,
    record::{Event, Series},
};
use std::{
    sync::{Arc, Mutex, PoisonError, mpsc},
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// How long [`Sampling::stop`] waits for a source that blocks the thread.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why sampling could not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SamplerError {
    /// An interval of zero.
    #[error("interval: {interval:?} of {origin} is not allowed: it must be at least 10 ms")]
    Interval {
        /// Which source.
        origin: String,
        /// What was asked.
        interval: Duration,
    },
    /// The clock of the run is a virtual one; readings of a real machine have no place on it.
    #[error("clock: a virtual one is not allowed: readings are taken of a real machine")]
    VirtualTime,
    /// The system gave no thread or no event queue.
    #[error("the sampler's thread could not be started: {0}")]
    Thread(#[from] std::io::Error),
}

/// Sources that are to be read during a run.
///
/// Each has a task of its own on the sampler's thread: one that is slow or gives no answer leaves gaps in its own series
/// and holds up no other. A reading is given up when it takes five times its interval (5 s at least, 60 s at most), and
/// dropped where it waits; a source must bear that.
#[derive(Debug, Default)]
pub struct Sampler {
    sources: Vec<(Erased, Duration)>,
}

impl Sampler {
    /// Nothing yet.
    pub fn new() -> Sampler {
        Sampler::default()
    }

    /// Adds a source, read at its own interval.
    pub fn source(self, source: impl Source) -> Sampler {
        let interval = source.interval();
        self.source_every(source, interval)
    }

    /// Adds a source, read at this interval.
    pub fn source_every(mut self, source: impl Source, interval: Duration) -> Sampler {
        self.sources.push((Erased::new(source), interval));
        self
    }

    /// Adds all that is known of the host: CPU, load, memory, pressure, disks, network, the space on `/`, and the limits
    /// of the cgroup that this process is in (as `cgroup.own`).
    pub fn host(self) -> Sampler {
        self.source(HostCpu::new())
            .source(HostLoad::new())
            .source(HostMemory::new())
            .source(HostPressure::new())
            .source(HostDisks::new())
            .source(HostNetwork::new())
            .source(FreeSpace::new("root", "/"))
            .source(Cgroup::own("own"))
    }

    /// Begins: every source is read at once, and then at whole multiples of its interval from now. Times of readings are
    /// those of their ends on `clock`.
    ///
    /// # Errors
    /// [`SamplerError`]; nothing has been read then.
    pub fn start(self, clock: Clock) -> Result<Sampling, SamplerError> {
        if let Some((source, interval)) = self.sources.iter().find(|(_, i)| *i < Duration::from_millis(10)) {
            return Err(SamplerError::Interval { origin: source.origin(), interval: *interval });
        }
        if matches!(clock, Clock::Virtual(_)) {
            return Err(SamplerError::VirtualTime);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let book = Arc::new(Mutex::new(Book::default()));
        let (stop, stopped) = watch::channel(false);
        let (done, ended) = mpsc::channel();
        let (sources, shared) = (self.sources, book.clone());
        let (send, receive) = mpsc::channel();
        let thread = std::thread::Builder::new().name("sampler".into()).spawn(move || {
            let _ = send.send(ThreadClock::current());
            thread::run(runtime, sources, &clock, &shared, stopped);
            drop(done);
        })?;
        let cost = receive.recv().ok().and_then(|clock| Some((clock.read()?.cpu_ns, clock)));
        Ok(Sampling { book, stop, ended, thread: Some(thread), cost, from: Instant::now() })
    }
}

/// What was read since it was last asked.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Samples {
    /// The series. A series begins with its first value; a source that never gave any is a series named after its origin,
    /// with a gap that says why. A stretch of gaps for one reason is given by its first and its last.
    pub series: Vec<Series>,
    /// What happened.
    pub events: Vec<Event>,
    /// CPU time of the sampler's own thread since it began, share of a core; without the programs that it runs. `None`
    /// where threads' times cannot be read. As a series it is `sampler.cpu`.
    pub cost: Option<f64>,
}

impl Samples {
    /// Adds later ones of the same sampler.
    pub fn extend(&mut self, later: Samples) {
        for mut series in later.series {
            match self.series.iter_mut().find(|s| (&s.name, &s.source) == (&series.name, &series.source)) {
                Some(known) => {
                    known.points.append(&mut series.points);
                    known.gaps.append(&mut series.gaps);
                }
                None => self.series.push(series),
            }
        }
        self.events.extend(later.events);
        self.cost = later.cost.or(self.cost);
    }
}

/// Sampling that goes on. Dropped, it ends without waiting.
#[derive(Debug)]
pub struct Sampling {
    book: Arc<Mutex<Book>>,
    stop: watch::Sender<bool>,
    ended: mpsc::Receiver<()>,
    thread: Option<std::thread::JoinHandle<()>>,
    cost: Option<(u64, ThreadClock)>,
    from: Instant,
}

impl Sampling {
    /// What was read since the last call; for a journal.
    pub fn take(&self) -> Samples {
        let (series, events) = self.book.lock().unwrap_or_else(PoisonError::into_inner).take();
        Samples { series, events, cost: self.cost() }
    }

    /// Ends: reads every source once more, so that also the end of a run is covered, and gives what was not yet taken.
    /// Takes about half a second at most when sources do not answer, and 2 s when one blocks the thread (there is an
    /// event then).
    pub fn stop(mut self) -> Samples {
        let cost = self.cost();
        let _ = self.stop.send(true);
        // The channel never carries anything: it closes when the thread ends.
        let blocked = self.ended.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout);
        if let Some(thread) = self.thread.take()
            && !blocked
        {
            let _ = thread.join();
        }
        let mut samples = self.take();
        samples.cost = cost;
        if blocked {
            let at = samples.series.iter().flat_map(|s| s.points.last().map(|p| p.0)).max().unwrap_or(0);
            samples.events.push(Event::new(at, "sampler did not end", "a source blocks its thread"));
        }
        samples
    }

    fn cost(&self) -> Option<f64> {
        let (start, clock) = self.cost.as_ref()?;
        let used = clock.read()?.cpu_ns.saturating_sub(*start);
        Some(used as f64 / self.from.elapsed().as_nanos().max(1) as f64)
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
    }
}

#[cfg(test)]
mod runner_test;
