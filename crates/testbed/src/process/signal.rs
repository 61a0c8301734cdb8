//! How a server is asked to end.

use rustix::process::Signal;
use serde::{Deserialize, Serialize};

/// The signal that asks a server to end in an orderly way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StopSignal {
    /// `SIGTERM`, which most servers understand.
    #[default]
    Term,
    /// `SIGINT`: PostgreSQL's fast shutdown.
    Int,
    /// `SIGQUIT`: PostgreSQL's immediate shutdown, nginx's graceful one.
    Quit,
}

impl StopSignal {
    pub(crate) fn signal(self) -> Signal {
        match self {
            Self::Term => Signal::TERM,
            Self::Int => Signal::INT,
            Self::Quit => Signal::QUIT,
        }
    }
}
