//! What can go wrong with a throw-away server.

use std::path::PathBuf;
use std::time::Duration;

/// Why a server could not be started, stopped or changed.
///
/// No message contains a password; those of a server's log are masked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server's program is not installed.
    #[error("{program} was not found (looked in {looked_in}); {hint}")]
    Missing {
        /// Name of the program, such as `nginx`.
        program: String,
        /// The directories searched, separated by `:`.
        looked_in: String,
        /// What to install.
        hint: String,
    },
    /// A setting cannot be used; found before anything was started.
    #[error("{field}: {value:?} {why}")]
    Config {
        /// The setting.
        field: &'static str,
        /// Its value.
        value: String,
        /// What is wrong with it.
        why: String,
    },
    /// The server's program refuses its configuration; `message` is what it said.
    #[error("{name} refuses its configuration:\n{message}")]
    Refused {
        /// Name of the server.
        name: String,
        /// The program's own words.
        message: String,
    },
    /// The directory for leases cannot be used.
    #[error("{}: {why}", path.display())]
    State {
        /// The directory.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// The server ended before it answered.
    #[error("{name} ended ({status}) before it answered; the end of its log:\n{log}")]
    Exited {
        /// Name of the server.
        name: String,
        /// Exit status or signal, in words.
        status: String,
        /// The last lines of the server's log.
        log: String,
    },
    /// The server runs, but did not answer in time. It has been stopped.
    #[error("{name} did not answer within {after:?} ({last}); the end of its log:\n{log}")]
    NotReady {
        /// Name of the server.
        name: String,
        /// How long was waited.
        after: Duration,
        /// What the last attempt met.
        last: String,
        /// The last lines of the server's log.
        log: String,
    },
    /// The process is not running, so it cannot be asked to do this.
    #[error("{name} is not running")]
    NotRunning {
        /// Name of the server.
        name: String,
    },
    /// The server runs already, or has been given up by its owner.
    #[error("{name} cannot be started: {why}")]
    NotStartable {
        /// Name of the server.
        name: String,
        /// Why not.
        why: String,
    },
    /// The operating system refused something.
    #[error("{what}: {source}")]
    Io {
        /// What was tried, and on what.
        what: String,
        /// The system's answer.
        source: std::io::Error,
    },
}

impl Error {
    /// Whether the only thing wrong is that a program is not installed: a test may then be skipped.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing { .. })
    }

    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
