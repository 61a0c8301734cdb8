//! The handle to a run.

use super::{Progress, coordinator};
use crate::{Plan, RunError};
use load_core::Record;
use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll},
};
use tokio::sync::{oneshot, watch};

/// A run that is under way on threads of its own. It is a future, on any executor; plain programs call
/// [`wait`](Running::wait). Dropping it stops the run: workers end their sessions in good order, in the background.
#[derive(Debug)]
#[must_use = "dropping the handle stops the run"]
pub struct Running {
    result: oneshot::Receiver<Result<Record, RunError>>,
    stopper: Stopper,
    progress: watch::Receiver<Progress>,
    finished: bool,
}

/// Stops a run from anywhere, for instance from a handler of Ctrl-C. What was measured until then is kept, and the record
/// is marked `interrupted`.
#[derive(Debug, Clone, Default)]
pub struct Stopper(Arc<AtomicBool>);

impl Stopper {
    /// Stops the run, within some milliseconds and the drain limit. Stopping twice is the same as once.
    pub fn stop(&self) {
        self.0.store(true, Relaxed);
    }

    /// Whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Relaxed)
    }
}

impl Running {
    /// Waits for the end of the run, blocking the thread.
    ///
    /// # Errors
    /// As [`RunError`] lists them. A run that was stopped gives `Ok` with a record marked `interrupted`, or
    /// [`RunError::Cancelled`] when nothing had been measured.
    ///
    /// # Panics
    /// On a thread that drives a tokio runtime, such as in an `async fn main`: there, `.await` the handle. The run is
    /// stopped.
    pub fn wait(mut self) -> Result<Record, RunError> {
        let (_, nothing) = oneshot::channel();
        let result = std::mem::replace(&mut self.result, nothing).blocking_recv();
        self.finished = true;
        result.unwrap_or(Err(RunError::Cancelled))
    }

    /// A handle that stops the run.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Follows the run: the latest state, at least once a window while it measures.
    pub fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.clone()
    }
}

impl Future for Running {
    type Output = Result<Record, RunError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let poll = Pin::new(&mut self.result).poll(cx);
        poll.map(|result| {
            self.finished = true;
            result.unwrap_or(Err(RunError::Cancelled))
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.finished {
            self.stopper.stop();
        }
    }
}

pub(crate) fn start(plan: Plan) -> Running {
    let (send, result) = oneshot::channel();
    let (report, progress) = watch::channel(Progress::default());
    let stopper = Stopper::default();
    let (stop, dispatch) = (stopper.clone(), tracing::dispatcher::get_default(Clone::clone));
    // Kept outside, so that it can tell when no thread could be made.
    let send = Arc::new(std::sync::Mutex::new(Some(send)));
    let own = send.clone();
    let answer = move |result| {
        if let Some(send) = own.lock().expect("no panic while held").take() {
            let _ = send.send(result);
        }
    };
    let spawned = std::thread::Builder::new().name("openloop".into()).spawn(move || {
        let run = || tracing::dispatcher::with_default(&dispatch, || coordinator::run(plan, &stop, &report));
        // A fault of ours must not look as if the caller had cancelled.
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        let why = "the coordinator panicked; please report it".to_string();
        answer(result.unwrap_or(Err(RunError::Worker { worker: 0, why })));
    });
    if let Err(error) = spawned
        && let Some(send) = send.lock().expect("no panic while held").take()
    {
        let _ = send.send(Err(RunError::Worker { worker: 0, why: format!("no thread: {error}") }));
    }
    Running { result, stopper, progress, finished: false }
}
