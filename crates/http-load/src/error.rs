//! What goes wrong with a request, in words.

use std::{io, time::Duration};

/// What stands behind a [`Failure`](load_core::Failure) of this crate. It never holds a header value, a body or a query.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The host has no address.
    #[error("{host} cannot be resolved: {source}")]
    Resolve {
        /// The name.
        host: String,
        /// Why.
        source: io::Error,
    },
    /// No address of the host took the connection; this is about the last one that was tried.
    #[error("connecting to {address}: {source}")]
    Connect {
        /// The address, or the path of a unix socket.
        address: String,
        /// Why.
        source: io::Error,
    },
    /// This machine had nothing left to connect with.
    #[error("connecting to {address}: {source}; {hint}")]
    Local {
        /// The address, or the path of a unix socket.
        address: String,
        /// Why.
        source: io::Error,
        /// What limits it, and what can be done about it.
        hint: String,
    },
    /// No agreement on how to encrypt.
    #[error("{reason}")]
    Tls {
        /// Why, and what can be done about it.
        reason: String,
    },
    /// The time of the operation was up.
    #[error("not done within {limit:?}, still waiting for: {step}")]
    TimedOut {
        /// The time that the operation had.
        limit: Duration,
        /// The step that it was in: `"resolve"`, `"connect"`, `"tls"`, `"first byte"`, `"head"` or `"body"`.
        step: &'static str,
    },
    /// The connection broke.
    #[error("{step}: {source}")]
    Broken {
        /// What was being done.
        step: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The server closed the connection before the answer was complete.
    #[error("the server closed the connection, still to come: {step}")]
    Closed {
        /// The step that the operation was in.
        step: &'static str,
    },
    /// What came is not HTTP/1.
    #[error("{reason}{}", begins_with(sample))]
    NotHttp {
        /// What the parser says.
        reason: String,
        /// The first line of what came instead of a head, cut and escaped; empty when it was the body that could not be
        /// read.
        sample: String,
    },
    /// The head of the answer is larger than this client takes.
    #[error("the head of the answer is too large: at most {headers} headers and {bytes} bytes are taken")]
    HeadTooLarge {
        /// How many headers are taken.
        headers: usize,
        /// How many bytes are taken.
        bytes: usize,
    },
    /// An error of the HTTP library that is none of these.
    #[error("{0}")]
    Other(String),
}

fn begins_with(sample: &str) -> String {
    if sample.is_empty() { String::new() } else { format!("; it begins with {sample:?}") }
}
