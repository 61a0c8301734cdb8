//! What runs on the sampler's thread.

use super::{book::Book, erased::Erased};
use crate::{ThreadClock, probe};
use load_core::{Clock, Readings, Source, SourceError};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    runtime::Runtime,
    sync::watch,
    task::LocalSet,
    time::{Instant, sleep, sleep_until, timeout},
};

/// How long a reading may still take when sampling ends.
const LAST: Duration = Duration::from_millis(250);

pub(super) fn run(
    runtime: Runtime,
    sources: Vec<(Erased, Duration)>,
    clock: &Clock,
    book: &Arc<Mutex<Book>>,
    stop: watch::Receiver<bool>,
) {
    let own = (Erased::new(Cost { clock: ThreadClock::current(), last: None }), Duration::from_secs(1));
    LocalSet::new().block_on(&runtime, async {
        let tasks: Vec<_> = sources
            .into_iter()
            .chain([own])
            .enumerate()
            .map(|(number, (source, interval))| {
                let task = Task { number, source, interval, clock: clock.clone(), book: book.clone() };
                tokio::task::spawn_local(task.watched(stop.clone()))
            })
            .collect();
        for task in tasks {
            let _ = task.await;
        }
    });
    // Children that were killed when their reading was given up are not waited for any longer.
    runtime.shutdown_background();
}

struct Task {
    number: usize,
    source: Erased,
    interval: Duration,
    clock: Clock,
    book: Arc<Mutex<Book>>,
}

impl Task {
    /// Runs; a source that panics ends its own series, and no other.
    async fn watched(self, stop: watch::Receiver<bool>) {
        let (number, origin) = (self.number, self.source.origin());
        let (clock, book) = (self.clock.clone(), self.book.clone());
        if tokio::task::spawn_local(self.run(stop)).await.is_err_and(|e| e.is_panic()) {
            tracing::error!(origin, "a source panicked; it is not read any more");
            lock(&book).missing(number, &origin, clock.now(), "the source panicked", true);
        }
    }

    async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let start = Instant::now();
        let mut tick = 0u32;
        let mut last;
        let start_ns = self.clock.now();
        loop {
            let limit = (self.interval * 5).clamp(Duration::from_secs(5), Duration::from_secs(60));
            let result = self.read(limit, &mut stop).await;
            last = Instant::now();
            if matches!(result, Err(SourceError::Unavailable(_))) {
                return;
            }
            // Whole multiples of the interval from the start, however long the reading took.
            let next = (start.elapsed().as_nanos() / self.interval.as_nanos()) as u32 + 1;
            if next - tick > 1 && result.is_ok() {
                let missed = start_ns + (self.interval * (tick + 1)).as_nanos() as u64;
                let why = format!("not read in time: {} readings missed", next - tick - 1);
                lock(&self.book).missing(self.number, &self.source.origin(), missed, &why, false);
            }
            tick = next;
            tokio::select! {
                biased;
                _ = ended(&mut stop) => break,
                () = sleep_until(start + self.interval * tick) => {}
            }
        }
        // The end of the run, unless it has just been read.
        if last.elapsed() >= Duration::from_millis(20) {
            let _ = self.read(LAST, &mut stop).await;
        }
    }

    /// Reads once, into the book.
    async fn read(&mut self, limit: Duration, stop: &mut watch::Receiver<bool>) -> Result<(), SourceError> {
        let mut readings = Readings::new();
        let result = {
            let reading = timeout(limit, self.source.read(&mut readings));
            tokio::select! {
                biased;
                result = reading => result.unwrap_or_else(|_| {
                    Err(SourceError::Failed(format!("no answer within {limit:?}")))
                }),
                () = async { ended(stop).await; sleep(LAST).await } => {
                    Err(SourceError::Failed("no answer before sampling ended".into()))
                }
            }
        };
        let origin = self.source.origin();
        let t = self.clock.now();
        lock(&self.book).reading(self.number, &origin, t, &readings, &result);
        result
    }
}

fn lock(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns when sampling is to end, or when nobody holds it any more.
async fn ended(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

/// What the sampler's own thread costs.
struct Cost {
    clock: ThreadClock,
    last: Option<(Duration, u64)>,
}

impl Source for Cost {
    fn origin(&self) -> String {
        "/proc/self/task".into()
    }

    async fn read(&mut self, readings: &mut Readings) -> Result<(), SourceError> {
        let why = || SourceError::Unavailable("threads' times cannot be read".into());
        let (now, cpu_ns) = (probe::now(), self.clock.read().ok_or_else(why)?.cpu_ns);
        if let Some((before, last_ns)) = self.last.replace((now, cpu_ns))
            && now - before >= Duration::from_millis(10)
        {
            let share = cpu_ns.saturating_sub(last_ns) as f64 / (now - before).as_nanos() as f64;
            readings.value("sampler.cpu", "1", share);
        }
        Ok(())
    }
}
