//! One cell of the plan: all streams together, at one level, in one round. Connect, barrier, warm-up, measure, drain.

mod finish;
mod measure;
mod messages;
mod start;

use super::{
    Progress, Stage, Stopper,
    abort::Following,
    gaps::{Gap, Gaps},
    watch::{Shares, Watch},
    windows::WindowSet,
};
use crate::{
    Plan, RunError,
    stream::Stream,
    worker::{Control, Message, Part, Probes, Times},
};
use load_core::{Load, record::Window};
use sampler::GeneratorThreads;
use std::{
    sync::{
        Arc,
        mpsc::{self, Receiver},
    },
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
    fn tell(&mut self, stage: Stage, start: u64, length: Option<u64>) {
        self.stage_start = start;
        self.progress.stage = stage;
        self.progress.elapsed = Duration::ZERO;
        self.progress.length = length.map(Duration::from_nanos);
        self.progress.phase = self.which.phase_name().into();
        self.report.send_replace(self.progress.clone());
    }

    fn stuck(&self, worker: usize, after: Duration) -> RunError {
        let names: Vec<_> = self.workers[worker].iter().map(|s| self.lines[*s].stream.name()).collect();
        RunError::Stuck { worker, after, streams: names.join(", "), partial: None }
    }

    fn lost(&self, worker: usize) -> RunError {
        RunError::Worker { worker, why: "its thread ended before its time".into() }
    }
}
