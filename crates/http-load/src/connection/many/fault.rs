//! From errors of HTTP/2 to a class and a code.

use crate::HttpError;
use h2::{Error, Reason};
use load_core::{Class, Failure, io_class};
use std::io;

/// Class and code of an error that came while `step` was waited for.
pub(super) fn of(step: &'static str, error: &Error) -> Failure {
    if let Some(io) = error.get_io() {
        return match io.kind() {
            // What the library says to streams of a connection that the server has closed.
            io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof if io.raw_os_error().is_none() => {
                Failure::new(Class::Closed, step).with_source(HttpError::Closed { step })
            }
            kind => {
                let (class, code, _) = io_class(io);
                let source = io.raw_os_error().map_or_else(|| kind.into(), io::Error::from_raw_os_error);
                Failure::new(class, code).with_source(HttpError::Broken { step, source })
            }
        };
    }
    let reason = error.reason().map_or("an error".into(), |reason| format!("{reason:?}"));
    let whole = |what: &str| HttpError::Other(format!("{step}: {what}: {error}"));
    if error.is_remote() && error.is_reset() {
        return Failure::new(Class::Reset, format!("stream: {reason}")).with_source(whole("stream reset"));
    }
    if error.is_remote() && error.is_go_away() {
        return Failure::new(Class::Closed, format!("going away: {reason}")).with_source(whole("going away"));
    }
    Failure::new(Class::Protocol, reason).with_source(whole("not understood"))
}

/// The connection was made, but what came over it, if anything, is something else.
pub(super) fn not_spoken(error: Option<Error>) -> Failure {
    let failure = match error {
        None => Failure::new(Class::Closed, "connect").with_source(HttpError::Closed { step: "connect" }),
        Some(error) if error.get_io().is_some() => of("connect", &error),
        Some(error) => {
            let what = format!("the server does not speak HTTP/2 on this port: {error}");
            Failure::new(Class::Protocol, "not HTTP/2").with_source(HttpError::Other(what))
        }
    };
    failure.reconnect()
}

/// Whether the server says that it has not looked at the request, and never will.
pub(super) fn is_refused(error: &Error) -> bool {
    error.is_remote() && error.is_reset() && error.reason() == Some(Reason::REFUSED_STREAM)
}

/// Whether the connection is being closed in good order. A stream that ends with this was very probably not looked at,
/// but the library does not say up to which stream the server has gone.
pub(super) fn is_going_away(error: &Error) -> bool {
    error.is_remote() && error.is_go_away() && error.reason() == Some(Reason::NO_ERROR)
}

/// Whether the server has had enough of a request: it has answered and does not want the rest.
pub(super) fn is_enough(error: &Error) -> bool {
    error.is_remote() && error.is_reset() && error.reason() == Some(Reason::NO_ERROR)
}
