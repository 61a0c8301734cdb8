//! Servers whose behaviour is known in advance, inside this process.

mod builder;
mod connection;
mod reply;
mod request;
mod script;
mod stats;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

pub use builder::KnownBuilder;
pub use reply::Reply;
pub use stats::KnownStats;

use crate::local::Local;
use builder::Framing;
use script::Shared;

/// A scripted server with a thread of its own on 127.0.0.1; stopped, with all its connections, on drop.
///
/// One thread serves all connections, so the server itself takes turns: a few microseconds for each request, and more
/// for large bodies.
#[derive(Debug)]
pub struct Known {
    local: Local,
    shared: Arc<Shared>,
}

impl Known {
    /// Answers HTTP/1 requests, by default at once with status 200 and the body `ok`. Keeps connections open unless
    /// the client asks otherwise; understands pipelining and request bodies.
    pub fn http() -> KnownBuilder {
        KnownBuilder::new(Framing::Http, Reply::http(200, "ok"))
    }

    /// Answers `reply` to whatever comes: one for each piece of data read, whatever the protocol.
    pub fn raw(reply: impl Into<Vec<u8>>) -> KnownBuilder {
        KnownBuilder::new(Framing::Any, Reply::raw(reply))
    }

    /// Sends back what it gets.
    pub fn echo() -> KnownBuilder {
        KnownBuilder::new(Framing::Any, Reply::echo())
    }

    /// Reads everything and never answers.
    pub fn silent() -> KnownBuilder {
        KnownBuilder::new(Framing::Any, Reply::silent())
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.local.addr()
    }

    /// `http://127.0.0.1:PORT/`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.addr())
    }

    /// What it has seen and done so far.
    #[must_use]
    pub fn stats(&self) -> KnownStats {
        self.shared.stats.read()
    }

    /// When requests arrived (when the server had read them whole), in that order; the first 1,048,576 of them.
    #[must_use]
    pub fn arrivals(&self) -> Vec<Instant> {
        self.shared.stats.arrivals()
    }

    /// Counts from zero again; connections stay open, and requests are numbered on.
    pub fn forget(&self) {
        self.shared.stats.forget();
    }

    /// Answers nothing until [`resume`](Self::resume); requests are read and counted meanwhile.
    pub fn pause(&self) {
        self.shared.paused.send_replace(true);
    }

    /// Answers what it held back, and goes on.
    pub fn resume(&self) {
        self.shared.paused.send_replace(false);
    }
}
