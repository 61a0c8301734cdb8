//! Why a connection is of no more use.

use crate::resp::ProtocolError;
use load_core::{Class, Failure, io_class};
use std::io;

/// Why an exchange did not end.
#[derive(Debug)]
pub(crate) enum Lost {
    /// Not all replies came in time.
    Timeout,
    /// The server closed the connection after something was sent.
    Closed,
    /// The server had closed the connection before anything was sent.
    ClosedBefore,
    /// The socket failed.
    Io(io::Error),
    /// What came was no RESP, or not what was asked for.
    Protocol(ProtocolError),
    /// An earlier exchange did not end.
    Owing,
}

impl Lost {
    /// As a failed operation that needs a new session. Its effect is unknown when anything was sent.
    pub(crate) fn into_failure(self, sent: u64) -> Failure {
        let failure = match self {
            Lost::Timeout => Failure::new(Class::Timeout, "command"),
            Lost::Closed => Failure::new(Class::Closed, "before the reply"),
            Lost::ClosedBefore => Failure::new(Class::Closed, "before the request"),
            Lost::Io(error) => {
                let (class, code, _) = io_class(&error);
                Failure::new(class, code).with_source(error)
            }
            Lost::Protocol(error) => Failure::new(Class::Protocol, error.code()).with_source(error),
            Lost::Owing => Failure::new(Class::Cancelled, "an earlier operation did not end"),
        };
        let failure = if sent > 0 { failure.unknown_outcome() } else { failure };
        failure.reconnect()
    }
}
