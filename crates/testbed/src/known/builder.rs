//! The script of a server.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio::sync::{Semaphore, watch};

use super::Known;
use super::connection::serve;
use super::reply::{Content, Reply};
use super::script::{DelayBy, Rendered, Shared, Which};
use super::stats::Stats;
use crate::Error;
use crate::local::Local;

/// What counts as one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// An HTTP/1 request.
    Http,
    /// Whatever one read returns.
    Any,
}

/// Describes a [`Known`] server.
#[must_use]
pub struct KnownBuilder {
    framing: Framing,
    port: u16,
    reply: Reply,
    exceptions: Vec<(Which, Reply)>,
    delay_by: Option<DelayBy>,
    stalls: Vec<Range<Duration>>,
    max_connections: Option<u64>,
    at_once: Option<usize>,
}

impl KnownBuilder {
    pub(super) fn new(framing: Framing, reply: Reply) -> Self {
        Self {
            framing,
            port: 0,
            reply,
            exceptions: Vec::new(),
            delay_by: None,
            stalls: Vec::new(),
            max_connections: None,
            at_once: None,
        }
    }

    /// The port of 127.0.0.1; a free one by default.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Answers this, instead of what the kind of server answers by default. A delay set before is forgotten.
    pub fn reply(mut self, reply: Reply) -> Self {
        self.reply = reply;
        self
    }

    /// The status of an HTTP answer.
    pub fn status(mut self, code: u16) -> Self {
        if let Content::Http { status, .. } = &mut self.reply.content {
            *status = code;
        }
        self
    }

    /// Adds a header line to an HTTP answer.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.reply = self.reply.header(name, value);
        self
    }

    /// The body of an HTTP answer.
    pub fn body(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        if let Content::Http { body, .. } = &mut self.reply.content {
            *body = bytes.into();
        }
        self
    }

    /// Every answer takes this long (those of [`every`](Self::every) and [`first`](Self::first) too, unless they have a
    /// delay of their own). The delays of several connections run at the same time; see [`at_once`](Self::at_once).
    pub fn delay(mut self, delay: Duration) -> Self {
        self.reply = self.reply.delay(delay);
        self
    }

    /// Request number n (from 1, over all connections) takes this long: a distribution of service times, say.
    pub fn delay_by(mut self, delay: impl Fn(u64) -> Duration + Send + Sync + 'static) -> Self {
        self.delay_by = Some(Box::new(delay));
        self
    }

    /// Sends bodies byte by byte, with this pause before each.
    pub fn drip(mut self, pause: Duration) -> Self {
        self.reply = self.reply.drip(pause);
        self
    }

    /// Closes the connection after each answer.
    pub fn close(mut self) -> Self {
        self.reply = self.reply.close();
        self
    }

    /// Resets the connection (RST) after each answer.
    pub fn reset(mut self) -> Self {
        self.reply = self.reply.reset();
        self
    }

    /// Requests number n, 2n, 3n ... over all connections are answered like this. Of several exceptions that fit, the
    /// one given first counts.
    pub fn every(mut self, n: u64, reply: Reply) -> Self {
        self.exceptions.push((Which::Every(n), reply));
        self
    }

    /// The first n requests over all connections are answered like this.
    pub fn first(mut self, n: u64, reply: Reply) -> Self {
        self.exceptions.push((Which::First(n), reply));
        self
    }

    /// From and to these times after the first request nothing is answered; requests are read and counted, and
    /// answered when the stall ends. Can be given several times.
    pub fn stall(mut self, range: Range<Duration>) -> Self {
        self.stalls.push(range);
        self
    }

    /// Only so many connections are served over the life of the server; further ones are reset.
    pub fn max_connections(mut self, count: u64) -> Self {
        self.max_connections = Some(count);
        self
    }

    /// At most so many requests are worked on (delayed) at once; the others wait in the order of their arrival. With a
    /// delay d this server's capacity is `count / d`.
    pub fn at_once(mut self, count: usize) -> Self {
        self.at_once = Some(count);
        self
    }

    /// Starts the server.
    ///
    /// # Errors
    /// [`Error::Config`] for a zero or an empty stall; [`Error::Io`] if the port is taken or no thread can be started.
    pub fn start(self) -> Result<Known, Error> {
        let invalid = |field, value: String, why: &str| Error::Config { field, value, why: why.to_owned() };
        if self.exceptions.iter().any(|(which, _)| matches!(which, Which::Every(0))) {
            return Err(invalid("every", "0".to_owned(), "must be at least 1"));
        }
        if self.at_once.is_some_and(|count| count == 0 || count > Semaphore::MAX_PERMITS) {
            return Err(invalid(
                "at_once",
                format!("{:?}", self.at_once),
                "must be at least 1 and no more than fits",
            ));
        }
        if let Some(stall) = self.stalls.iter().find(|stall| stall.is_empty()) {
            return Err(invalid("stall", format!("{stall:?}"), "must end after it begins"));
        }
        let shared = Arc::new(Shared {
            framing: self.framing,
            reply: Rendered::new(&self.reply),
            exceptions: self.exceptions.iter().map(|(which, reply)| (*which, Rendered::new(reply))).collect(),
            delay_by: self.delay_by,
            stalls: self.stalls,
            max_connections: self.max_connections,
            at_once: self.at_once.map(Semaphore::new),
            paused: watch::Sender::new(false),
            stats: Stats::default(),
            numbered: AtomicU64::new(0),
            first_request: OnceLock::new(),
        });
        let for_thread = Arc::clone(&shared);
        let local = Local::start("known server", self.port, move |listener, timer| {
            serve(listener, timer, for_thread)
        })?;
        Ok(Known { local, shared })
    }
}

impl fmt::Debug for KnownBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownBuilder")
            .field("framing", &self.framing)
            .field("reply", &self.reply)
            .finish_non_exhaustive()
    }
}
