//! A worker: a thread with a single-threaded runtime, one driver and one task for each session.

mod arrival;
mod driver;
mod feed;
mod hub;
mod part;
mod probe;
mod recorder;
mod release;
mod session;
mod windows;

pub(crate) use arrival::{Arrival, Times};
pub(crate) use feed::{Feed, Slot};
pub(crate) use hub::Hub;
pub(crate) use part::{Failures, KindPart, Part};
pub(crate) use probe::Probe;
pub(crate) use recorder::Recorder;
pub(crate) use session::{Shared, run as run_session};
pub(crate) use windows::WindowPart;

use crate::stream::Stream;
use load_core::{Classify, Clock};
use sampler::ThreadClock;
use std::{
    sync::{Arc, atomic::AtomicU32, mpsc::Sender},
    time::Duration,
};
use tokio::sync::watch;

/// What a worker is to do.
pub(crate) struct WorkerConfig {
    pub(crate) index: usize,
    pub(crate) clock: Clock,
    pub(crate) feeds: Vec<FeedPlan>,
    pub(crate) connect_timeout: Duration,
    pub(crate) window_ns: u64,
    pub(crate) classifiers: Arc<[Classify]>,
    pub(crate) control: watch::Receiver<Control>,
    pub(crate) to: Sender<Message>,
}

/// One stream's share on a worker.
pub(crate) struct FeedPlan {
    /// The number of the feed in the cell.
    pub(crate) feed: usize,
    pub(crate) stream: Arc<Stream>,
    pub(crate) load: load_core::Load,
    /// Which of the stream's workers this is, and of how many.
    pub(crate) worker: usize,
    pub(crate) workers: usize,
    /// Operations of the whole stream in the measured phase, when their number ends it.
    pub(crate) count: Option<u64>,
    /// The seed of the round and stream.
    pub(crate) seed: u64,
    pub(crate) warned: Arc<AtomicU32>,
    pub(crate) probe: Arc<Probe>,
}

/// What the coordinator tells its workers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Control {
    Wait,
    Go(Times),
    /// Stop measuring now; operations in flight are drained.
    Stop,
    /// End at once.
    Quit,
}

/// What a worker tells the coordinator.
#[derive(Debug)]
pub(crate) enum Message {
    /// Every session has connected, or failed to, once.
    Ready {
        worker: usize,
        thread: ThreadClock,
        /// The first failure to connect of each feed that had one, in words.
        failures: Vec<(usize, String)>,
    },
    Window(WindowPart),
    /// The overload policy `Abort` found no session free.
    Aborted {
        worker: usize,
    },
    Done {
        worker: usize,
        feeds: Vec<FeedDone>,
    },
    /// The worker could not run at all.
    Broken {
        worker: usize,
        why: String,
    },
}

/// One feed's results.
#[derive(Debug)]
pub(crate) struct FeedDone {
    pub(crate) feed: usize,
    pub(crate) part: Part,
    /// When nothing was in flight any more, or the rest was given up.
    pub(crate) drained_at: u64,
    /// When the feed stopped: the planned end, or earlier when a count or a stop ended it.
    pub(crate) stopped_at: u64,
    /// Samples of what was in flight that the driver took (in virtual time): number, sum in flight, sum engaged.
    pub(crate) probes: Probes,
    /// Sessions at the end, those that were added too.
    pub(crate) sessions: u64,
}

/// Samples of the sessions of a stream.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Probes {
    pub(crate) count: u64,
    pub(crate) calling: u64,
    pub(crate) engaged: u64,
    pub(crate) reconnecting: u64,
}

impl Probes {
    pub(crate) fn take<'a>(&mut self, probes: impl IntoIterator<Item = &'a Probe>) {
        self.count += 1;
        for probe in probes {
            self.calling += probe.calling();
            self.engaged += probe.engaged();
            self.reconnecting += probe.reconnecting();
        }
    }
}

/// The thread's main function.
pub(crate) fn main(config: WorkerConfig) {
    let (worker, to) = (config.index, config.to.clone());
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all();
    if let Clock::Virtual(time) = &config.clock {
        let time = time.clone();
        // Nothing can run: time moves to the next sleeper.
        builder.on_thread_park(move || {
            time.advance();
        });
    }
    match builder.build_local(tokio::runtime::LocalOptions::default()) {
        Ok(runtime) => {
            runtime.block_on(driver::drive(config));
            // Dropping it would wait for a blocking call that hangs, such as a look-up of a name.
            runtime.shutdown_background();
        }
        Err(error) => {
            let _ = to.send(Message::Broken { worker, why: format!("no runtime: {error}") });
        }
    }
}
