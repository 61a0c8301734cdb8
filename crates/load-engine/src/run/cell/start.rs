//! The beginning of a cell: workers, connections, and when it measures.

use super::{Cell, GRACE, LEAD_NS, Line};
use crate::{
    RunError,
    plan::ns,
    run::{Stage, watch::Watch, windows::WindowSet},
    seed,
    worker::{self, Control, FeedPlan, Message, Part, Probe, Probes, Times, WorkerConfig},
};
use std::{
    sync::{
        Arc,
        atomic::AtomicU32,
        mpsc::{RecvTimeoutError, Sender},
    },
    time::Duration,
};
use tokio::sync::watch;

impl Cell<'_> {
    pub(super) fn spawn(
        &mut self,
        listen: watch::Receiver<Control>,
        to: Sender<Message>,
    ) -> Result<(), RunError> {
        let virtual_time = self.plan.virtual_time.is_some();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut configs: Vec<Vec<FeedPlan>> = Vec::new();
        let mut probes = Vec::new();
        for (number, stream) in self.plan.streams.iter().filter(|s| self.which.has(s)).enumerate() {
            let load = self.which.load(stream).clone();
            // By its name, so that a stream has the same seed in whatever phase it runs.
            let place = self.plan.streams.iter().position(|s| s.name() == stream.name()).unwrap_or(number);
            let workers = load.worker_count(cores);
            let warned = Arc::new(AtomicU32::new(0));
            let own: Vec<_> = (0..workers).map(|_| Arc::new(Probe::default())).collect();
            for (worker, probe) in own.iter().enumerate() {
                let feed = FeedPlan {
                    feed: self.feeds.len(),
                    stream: stream.clone(),
                    load: load.clone(),
                    worker,
                    workers,
                    count: self.plan.count,
                    seed: seed::mix(self.plan.seed.wrapping_add(u64::from(self.which.round)), place as u64),
                    warned: warned.clone(),
                    probe: probe.clone(),
                };
                self.feeds.push(number);
                // In virtual time everything lives on one thread, whose idleness moves the clock.
                match configs.first_mut() {
                    Some(all) if virtual_time => all.push(feed),
                    _ => configs.push(vec![feed]),
                }
            }
            probes.push(own);
            self.lines.push(Line {
                stream: stream.clone(),
                load,
                workers,
                part: Part::default(),
                windows: WindowSet::new(workers),
                probes: Probes::default(),
                stopped_at: 0,
                drained_at: 0,
                sessions: 0,
            });
        }
        self.watch = Watch::new(probes);
        self.over = vec![false; self.lines.len()];
        let dispatch = tracing::dispatcher::get_default(Clone::clone);
        for (index, feeds) in configs.into_iter().enumerate() {
            self.workers.push(feeds.iter().map(|f| self.feeds[f.feed]).collect());
            let config = WorkerConfig {
                index,
                clock: self.clock.clone(),
                feeds,
                connect_timeout: self.plan.connect_timeout,
                window_ns: ns(self.plan.window),
                classifiers: self.plan.classifiers.clone().into(),
                control: listen.clone(),
                to: to.clone(),
            };
            let dispatch = dispatch.clone();
            std::thread::Builder::new()
                .name(format!("load-{index}"))
                .spawn(move || tracing::dispatcher::with_default(&dispatch, || worker::main(config)))
                .map_err(|error| RunError::Worker { worker: index, why: format!("no thread: {error}") })?;
        }
        Ok(())
    }

    /// Waits until every session has tried to connect; answers whether to go on.
    pub(super) fn connect(&mut self) -> Result<bool, RunError> {
        self.tell(Stage::Connecting, 0, None);
        let started = self.clock.now();
        let limit = ns(self.plan.connect_timeout + Duration::from_secs(1) + GRACE);
        let mut ready = vec![false; self.workers.len()];
        let mut causes: Vec<Option<String>> = vec![None; self.lines.len()];
        while let Some(waiting) = ready.iter().position(|r| !r) {
            let now = self.look();
            match self.from.recv_timeout(Duration::from_millis(10)) {
                Ok(Message::Ready { worker, thread, failures }) => {
                    ready[worker] = true;
                    for (feed, failure) in failures {
                        causes[self.feeds[feed]].get_or_insert(failure);
                    }
                    if let Some(threads) = self.threads {
                        threads.add(format!("load-{worker}"), thread.clone());
                    }
                    self.watch.add_thread(thread);
                }
                Ok(Message::Broken { worker, why }) => return Err(RunError::Worker { worker, why }),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => {
                    if self.stopper.is_stopped() {
                        let _ = self.control.send(Control::Quit);
                        return Ok(false);
                    }
                    // Who could not run could not connect.
                    let due = started.saturating_add(limit).max(self.gaps.grace_end());
                    if self.plan.virtual_time.is_none() && now > due {
                        return Err(self.stuck(waiting, Duration::from_nanos(now - started)));
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.lost(waiting)),
            }
        }
        // The last of them may be what ended a gap.
        self.look();
        for (number, line) in self.lines.iter().enumerate() {
            let (open, asked) = (self.watch.open(number), line.load.session_count() as u64);
            if open == 0 || (self.plan.strict_connections && open < asked) {
                let late = || format!("not connected within {:?}", self.plan.connect_timeout);
                let cause = causes[number].clone().unwrap_or_else(late);
                let _ = self.control.send(Control::Quit);
                return Err(RunError::Connect { stream: line.stream.name().into(), open, asked, cause });
            }
        }
        Ok(true)
    }

    /// The time; notices when this process stood still until now.
    pub(super) fn look(&mut self) -> u64 {
        let now = self.clock.now();
        if self.plan.virtual_time.is_none() {
            self.gaps.look(now);
        }
        now
    }

    pub(super) fn times(&self) -> Times {
        let start = self.clock.now() + if self.plan.virtual_time.is_some() { 0 } else { LEAD_NS };
        let measure = start + ns(self.plan.warmup);
        let limit = self.plan.measure_limit().unwrap_or(crate::DEFAULT_COUNT_LIMIT);
        Times { start, measure, stop: measure + ns(limit), drain: ns(self.plan.drain) }
    }
}
