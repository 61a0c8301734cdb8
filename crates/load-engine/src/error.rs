//! Why a run could not be done.

use load_core::{ConfigError, Record};
use std::time::Duration;

/// A run that could not be done, or not to its end. A run that was done and is not to be believed is no error: its record
/// says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The plan has a setting that cannot be meant. Nothing was connected.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// No session of a stream could connect (in strict mode: not all).
    #[error("stream {stream:?}: {open} of {asked} sessions connected; first failure: {cause}")]
    Connect {
        /// The stream.
        stream: String,
        /// Sessions that were open when the connect limit was over.
        open: u64,
        /// Sessions asked for.
        asked: u64,
        /// The first failure, in words.
        cause: String,
    },
    /// A worker thread did not answer: a session blocks it. The thread cannot be ended and is left behind.
    #[error(
        "worker {worker} has not answered for {after:?}: a session blocks its thread (streams on it: {streams})"
    )]
    Stuck {
        /// The number of the worker.
        worker: usize,
        /// How long it was waited for.
        after: Duration,
        /// The streams on the worker.
        streams: String,
        /// What was measured until then; `None` when nothing was.
        partial: Option<Box<Record>>,
    },
    /// A worker could not be set up.
    #[error("worker {worker} could not run: {why}")]
    Worker {
        /// The number of the worker.
        worker: usize,
        /// The reason.
        why: String,
    },
    /// A limit of the plan stopped the run in its first warm-up, before anything was measured.
    #[error("stopped before anything was measured: stream {stream:?}: {why}")]
    Aborted {
        /// The stream that was beyond the limit.
        stream: String,
        /// The limit and what was found.
        why: String,
    },
    /// The run was stopped before anything was measured.
    #[error("the run was stopped before anything was measured")]
    Cancelled,
}

impl RunError {
    /// What was measured before the error.
    pub fn partial(&self) -> Option<&Record> {
        match self {
            RunError::Stuck { partial, .. } => partial.as_deref(),
            _ => None,
        }
    }
}
