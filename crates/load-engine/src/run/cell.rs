//! One cell of the plan: all streams together, at one level, in one round. Connect, barrier, warm-up, measure, drain.

use super::{
    Progress, Stage, Stopper, StreamProgress,
    abort::Following,
    gaps::{Gap, Gaps},
    watch::{PROBE_NS, Shares, Watch},
    windows::WindowSet,
};
use crate::{
    Plan, RunError,
    plan::ns,
    seed,
    stream::Stream,
    worker::{self, Control, FeedPlan, Message, Part, Probe, Probes, Times, WindowPart, WorkerConfig},
};
use load_core::{Load, VirtualTime, record::Window};
use sampler::GeneratorThreads;
use std::{
    future::Future,
    pin::pin,
    sync::{
        Arc,
        atomic::AtomicU32,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    task::{Context, Waker},
    time::Duration,
};
use tokio::sync::watch;

/// What a worker may take beyond what its limits allow before it counts as stuck.
const GRACE: Duration = Duration::from_secs(3);
/// The same, with the second that closing sessions may take.
const GRACE_NS: u64 = 4_000_000_000;
/// From "everyone is ready" to the start, so that workers can get to their timers.
const LEAD_NS: u64 = 2_000_000;

/// Which cell it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Which<'a> {
    pub(super) round: u32,
    pub(super) level: Option<&'a (String, Load)>,
    /// Name and streams; all of them without one.
    pub(super) phase: Option<&'a (String, Vec<String>)>,
}

impl Which<'_> {
    pub(super) fn phase_name(&self) -> &str {
        self.phase.map_or("measure", |(name, _)| name)
    }

    fn has(&self, stream: &Stream) -> bool {
        self.phase.is_none_or(|(_, streams)| streams.iter().any(|s| s == stream.name()))
    }

    /// The load of a stream at this level.
    pub(super) fn load<'b>(&'b self, stream: &'b Stream) -> &'b Load {
        self.level.map_or(&stream.load, |(_, load)| load)
    }
}

/// What came of a cell.
#[derive(Debug)]
pub(super) struct CellDone {
    pub(super) times: Times,
    /// When measuring ended: planned, or earlier when it was stopped.
    pub(super) stop: u64,
    pub(super) shares: Shares,
    pub(super) streams: Vec<StreamDone>,
    pub(super) interrupted: bool,
    /// Why the run was stopped from within, in words.
    pub(super) aborted: Option<Abort>,
    /// When the load generator itself stood still.
    pub(super) gaps: Vec<Gap>,
}

/// Why a run stops itself.
#[derive(Debug, Clone)]
pub(super) struct Abort {
    pub(super) stream: String,
    pub(super) why: String,
}

/// What came of one stream.
#[derive(Debug)]
pub(super) struct StreamDone {
    pub(super) stream: Arc<Stream>,
    pub(super) load: Load,
    pub(super) workers: usize,
    pub(super) part: Part,
    pub(super) windows: Vec<Window>,
    pub(super) probes: Probes,
    pub(super) open_at_start: u64,
    /// The most sessions that were open at once, as far as they were looked at.
    pub(super) open_most: u64,
    /// Sessions at the end: more than asked when the policy added some.
    pub(super) sessions: u64,
    pub(super) stopped_at: u64,
    pub(super) drained_at: u64,
}

/// A cell under way.
struct Cell<'a> {
    plan: &'a Plan,
    which: Which<'a>,
    clock: load_core::Clock,
    stopper: &'a Stopper,
    report: &'a watch::Sender<Progress>,
    /// Where the sampler learns of the engine's threads.
    threads: Option<&'a GeneratorThreads>,
    control: watch::Sender<Control>,
    from: Receiver<Message>,
    lines: Vec<Line>,
    /// For each worker, the streams on it, for messages.
    workers: Vec<Vec<usize>>,
    watch: Watch,
    feeds: Vec<usize>,
    /// For each stream, whether one of its workers has ended.
    over: Vec<bool>,
    progress: Progress,
    /// When the current stage began.
    stage_start: u64,
    following: Vec<Following<'a>>,
    aborted: Option<Abort>,
    gaps: Gaps,
}

/// One stream of the cell.
struct Line {
    stream: Arc<Stream>,
    load: Load,
    workers: usize,
    part: Part,
    windows: WindowSet,
    probes: Probes,
    stopped_at: u64,
    drained_at: u64,
    sessions: u64,
}

/// Runs a cell to its end; `Ok(None)` when it was stopped before anything was measured.
pub(super) fn run(
    plan: &Plan,
    which: Which<'_>,
    clock: &load_core::Clock,
    stopper: &Stopper,
    report: &watch::Sender<Progress>,
    threads: Option<&GeneratorThreads>,
) -> Result<Option<CellDone>, RunError> {
    let (control, listen) = watch::channel(Control::Wait);
    let (to, from) = mpsc::channel();
    let mut cell = Cell {
        plan,
        which,
        clock: clock.clone(),
        stopper,
        report,
        threads,
        control,
        from,
        lines: Vec::new(),
        workers: Vec::new(),
        watch: Watch::new(Vec::new()),
        feeds: Vec::new(),
        over: Vec::new(),
        progress: Progress {
            round: which.round,
            rounds: plan.rounds,
            level: which.level.map_or_else(String::new, |(level, _)| level.clone()),
            ..Progress::default()
        },
        stage_start: 0,
        following: plan.aborts.iter().map(Following::new).collect(),
        aborted: None,
        gaps: Gaps::new(clock.now()),
    };
    cell.spawn(listen, to)?;
    // Workers end when the channel closes, however this function is left.
    if !cell.connect()? {
        return Ok(None);
    }
    let times = cell.times();
    let _ = cell.control.send(Control::Go(times));
    cell.measure(times)
}

impl Cell<'_> {
    fn spawn(&mut self, listen: watch::Receiver<Control>, to: Sender<Message>) -> Result<(), RunError> {
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
    fn connect(&mut self) -> Result<bool, RunError> {
        self.tell(Stage::Connecting, 0, None);
        let started = self.clock.now();
        let limit = ns(self.plan.connect_timeout + Duration::from_secs(1) + GRACE);
        let mut ready = vec![false; self.workers.len()];
        let mut causes: Vec<Option<String>> = vec![None; self.lines.len()];
        while let Some(waiting) = ready.iter().position(|r| !r) {
            let now = self.clock.now();
            if self.plan.virtual_time.is_none() {
                self.gaps.look(now);
            }
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

    fn times(&self) -> Times {
        let start = self.clock.now() + if self.plan.virtual_time.is_some() { 0 } else { LEAD_NS };
        let measure = start + ns(self.plan.warmup);
        let limit = self.plan.measure_limit().unwrap_or(crate::DEFAULT_COUNT_LIMIT);
        Times { start, measure, stop: measure + ns(limit), drain: ns(self.plan.drain) }
    }

    fn measure(mut self, times: Times) -> Result<Option<CellDone>, RunError> {
        let virtual_time = self.plan.virtual_time.is_some();
        let mut done = vec![false; self.workers.len()];
        let (mut begun, mut ended, mut interrupted) = (false, false, false);
        let mut stop = times.stop;
        self.tell(Stage::WarmingUp, times.start, Some(times.measure - times.start));
        // A phase without streams has no workers and lasts its time.
        while !done.iter().all(|d| *d) || (done.is_empty() && self.clock.now() < stop) {
            let waiting = done.iter().position(|d| !d).unwrap_or(0);
            let now = self.clock.now();
            if !virtual_time {
                self.gaps.look(now);
                if !begun && now >= times.measure {
                    begun = true;
                    self.watch.begin(now);
                    self.tell(Stage::Measuring, times.measure, Some(times.stop - times.measure));
                } else if !begun {
                    self.watch.look_before();
                    self.count_failures();
                } else if !ended {
                    // Not when the first worker is done: a count may end one stream long before another.
                    ended = now >= stop;
                    self.count_failures();
                    self.watch.sample(now, ended, &self.over);
                    if ended {
                        self.tell(Stage::Draining, stop, Some(times.drain));
                    }
                }
                // Who could not run could not end.
                let due = stop.saturating_add(times.drain).saturating_add(GRACE_NS);
                if now > due.max(self.gaps.grace_end()) {
                    let after = Duration::from_nanos(now - stop);
                    let _ = self.control.send(Control::Quit);
                    return Err(self.stuck(waiting, after));
                }
            }
            if self.stopper.is_stopped() && !interrupted && !ended {
                interrupted = true;
                stop = now.min(stop);
                let _ = self.control.send(Control::Stop);
            }
            let wake = if begun || virtual_time { now + PROBE_NS } else { times.measure.min(now + PROBE_NS) };
            match self.from.recv_timeout(Duration::from_nanos(wake.saturating_sub(now).max(1_000))) {
                Ok(message) => self.take(message, &mut done)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if done.is_empty() => match &self.plan.virtual_time {
                    Some(time) => jump(time, stop),
                    None => std::thread::sleep(Duration::from_nanos(wake.saturating_sub(now))),
                },
                Err(RecvTimeoutError::Disconnected) => return Err(self.lost(waiting)),
            }
            while let Ok(message) = self.from.try_recv() {
                self.take(message, &mut done)?;
            }
            if self.aborted.is_some() && !self.stopper.is_stopped() {
                self.stopper.stop();
            }
        }
        if begun && !ended {
            self.watch.sample(self.clock.now(), true, &self.over);
        }
        if interrupted && stop <= times.measure {
            return match self.aborted {
                Some(Abort { stream, why }) => Err(RunError::Aborted { stream, why }),
                None => Ok(None),
            };
        }
        Ok(Some(self.finish(times, stop, interrupted)))
    }

    fn take(&mut self, message: Message, done: &mut [bool]) -> Result<(), RunError> {
        match message {
            Message::Window(part) => self.window(part),
            Message::Done { worker, feeds } => {
                done[worker] = true;
                for feed in feeds {
                    self.over[self.feeds[feed.feed]] = true;
                    let line = &mut self.lines[self.feeds[feed.feed]];
                    line.part.add(feed.part);
                    line.stopped_at = line.stopped_at.max(feed.stopped_at);
                    line.drained_at = line.drained_at.max(feed.drained_at);
                    line.sessions += feed.sessions;
                    line.probes.count = line.probes.count.max(feed.probes.count);
                    line.probes.calling += feed.probes.calling;
                    line.probes.engaged += feed.probes.engaged;
                    line.probes.reconnecting += feed.probes.reconnecting;
                }
            }
            Message::Aborted { worker } => {
                let stream =
                    self.workers[worker].first().map_or("", |s| self.lines[*s].stream.name()).to_string();
                self.abort(stream, "the overload policy stopped the run: no session was free".into());
            }
            Message::Broken { worker, why } => return Err(RunError::Worker { worker, why }),
            Message::Ready { .. } => {}
        }
        Ok(())
    }

    fn abort(&mut self, stream: String, why: String) {
        if self.aborted.is_none() {
            tracing::warn!(stream, "{why}");
            self.aborted = Some(Abort { stream, why });
        }
    }

    /// The limit on a stream's failures.
    fn count_failures(&mut self) {
        let Some(limit) = self.plan.failure_limit else { return };
        let broken = (0..self.lines.len()).find(|number| self.watch.failures(*number) >= limit);
        if let Some(number) = broken {
            let (stream, n) = (self.lines[number].stream.name().to_string(), self.watch.failures(number));
            self.abort(stream, format!("{n} operations failed, and {limit} were the limit"));
        }
    }

    fn window(&mut self, part: WindowPart) {
        let number = self.feeds[part.feed];
        let in_flight = self.watch.in_flight(number);
        let line = &mut self.lines[number];
        if let Some(window) = line.windows.add(part).filter(|w| !w.drain) {
            let name = line.stream.name();
            let broken: Vec<_> = self
                .following
                .iter_mut()
                .filter_map(|f| f.breaks(name, window).then(|| (name.to_string(), f.limit.describe())))
                .collect();
            let stream = StreamProgress {
                name: line.stream.name().into(),
                succeeded_per_s: window.per_s,
                failed: window.failed,
                p95: window.p95_ns.map(Duration::from_nanos),
                in_flight,
            };
            let streams = &mut self.progress.streams;
            match streams.iter_mut().find(|s| s.name == stream.name) {
                Some(old) => *old = stream,
                None => streams.push(stream),
            }
            self.progress.elapsed = Duration::from_nanos(window.end_ns.saturating_sub(self.stage_start));
            self.report.send_replace(self.progress.clone());
            for (stream, why) in broken {
                self.abort(stream, why);
            }
        }
    }

    fn tell(&mut self, stage: Stage, start: u64, length: Option<u64>) {
        self.stage_start = start;
        self.progress.stage = stage;
        self.progress.elapsed = Duration::ZERO;
        self.progress.length = length.map(Duration::from_nanos);
        self.progress.phase = self.which.phase_name().into();
        self.report.send_replace(self.progress.clone());
    }

    fn finish(self, times: Times, stop: u64, interrupted: bool) -> CellDone {
        let virtual_time = self.plan.virtual_time.is_some();
        let streams = self
            .lines
            .into_iter()
            .enumerate()
            .map(|(number, line)| {
                // A stream that was stopped with the run has the run's stop; one that a count ended has its own.
                let stopped_at = line.stopped_at.min(times.stop);
                StreamDone {
                    windows: line.windows.finish(stopped_at),
                    probes: if virtual_time { line.probes } else { self.watch.probes(number) },
                    open_most: self.watch.open_most.get(number).copied().unwrap_or(0),
                    sessions: line.sessions,
                    open_at_start: match self.watch.open_at_start.get(number) {
                        Some(open) => *open,
                        None => line.part.connects_ok.min(line.load.session_count() as u64),
                    },
                    stream: line.stream,
                    load: line.load,
                    workers: line.workers,
                    part: line.part,
                    stopped_at,
                    drained_at: line.drained_at,
                }
            })
            .collect();
        let shares = if virtual_time { Shares::default() } else { self.watch.shares() };
        let (aborted, gaps) = (self.aborted, self.gaps.found);
        CellDone { times, stop, shares, streams, interrupted, aborted, gaps }
    }

    fn stuck(&self, worker: usize, after: Duration) -> RunError {
        let names: Vec<_> = self.workers[worker].iter().map(|s| self.lines[*s].stream.name()).collect();
        RunError::Stuck { worker, after, streams: names.join(", "), partial: None }
    }

    fn lost(&self, worker: usize) -> RunError {
        RunError::Worker { worker, why: "its thread ended before its time".into() }
    }
}

/// Moves virtual time, where no worker does it.
fn jump(time: &VirtualTime, at: u64) {
    let mut sleep = pin!(time.sleep_until(at));
    let waiting = sleep.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending();
    while waiting && time.now() < at && time.advance() {}
}
