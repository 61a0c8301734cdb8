//! Ctrl-C: the first ends what is under way in good order, the second ends the program at once.

use crate::Failed;
use openloop::Stopper;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use tokio::sync::Notify;

/// What the first signal finds, and whether it has come.
struct State {
    asked: bool,
    stage: Stage,
}

enum Stage {
    /// Nobody listens; a signal ends the program as it does any other.
    Deaf,
    /// Servers are started, data are loaded: nothing is lost by giving up.
    Preparing,
    /// A run is under way.
    Measuring(Stopper),
    /// Nothing is left to do but to clean up and to report.
    Finishing,
}

static STATE: Mutex<State> = Mutex::new(State { asked: false, stage: Stage::Deaf });
static ASKED: Notify = Notify::const_new();

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Listens for SIGINT and SIGTERM from now on, on a thread of its own, to the end of the program.
pub(crate) fn listen() {
    if !matches!(state().stage, Stage::Deaf) {
        return;
    }
    let (ready, listening) = mpsc::channel();
    let listen = move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            let Ok(mut signals) = Signals::new() else { return };
            state().stage = Stage::Preparing;
            let _ = ready.send(());
            signals.next().await;
            first();
            signals.next().await;
            eprintln!("ended at once; what is left behind is removed by the next run");
            std::process::exit(130);
        });
    };
    // Without the thread Ctrl-C ends the program as it does any other.
    let _ = std::thread::Builder::new().name("signals".into()).spawn(listen);
    // Only then is something made that has to be removed. An error when the thread has given up.
    let _ = listening.recv();
}

fn first() {
    let mut state = state();
    state.asked = true;
    let what = match &state.stage {
        Stage::Measuring(stopper) => {
            stopper.stop();
            "stopping: what was measured is kept"
        }
        Stage::Finishing => "cleaning up",
        Stage::Deaf | Stage::Preparing => "stopping",
    };
    eprintln!("\n{what} (once more ends at once)");
    ASKED.notify_waiters();
}

/// A run begins: a signal stops it. One that has come already leaves nothing to begin.
pub(crate) fn begin(stopper: Stopper) {
    let mut state = state();
    if state.asked {
        stopper.stop();
    }
    state.stage = Stage::Measuring(stopper);
}

/// The run has ended, as has what a signal could spare.
pub(crate) fn end() {
    state().stage = Stage::Finishing;
}

/// Goes on unless a signal has come: for between two steps that must each come to an end.
///
/// # Errors
/// When it has.
pub fn check_interrupted() -> Result<(), Failed> {
    if state().asked { Err(Failed::interrupted()) } else { Ok(()) }
}

/// Does `work`, or gives it up when a signal comes: for what leaves nothing behind when it is dropped.
///
/// # Errors
/// Those of `work`, and when the signal has come.
pub async fn unless_interrupted<T, E>(work: impl Future<Output = Result<T, E>>) -> Result<T, Failed>
where
    Failed: From<E>,
{
    // Made before looking: it does not miss a signal from then on.
    let asked = ASKED.notified();
    check_interrupted()?;
    tokio::select! {
        result = work => Ok(result?),
        () = asked => Err(Failed::interrupted()),
    }
}

/// Listens from its creation on, so that a second signal right after the first is not lost.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! { _ = self.interrupt.recv() => {} _ = self.terminate.recv() => {} }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Signals> {
        Ok(Signals)
    }

    async fn next(&mut self) {
        drop(tokio::signal::ctrl_c().await);
    }
}
