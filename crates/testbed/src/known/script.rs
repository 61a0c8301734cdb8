//! Which request gets which answer, and when.

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, watch};

use super::builder::Framing;
use super::reply::{Content, End, Reply};
use super::stats::Stats;

/// An answer made ready once.
#[derive(Debug)]
pub(super) struct Rendered {
    pub(super) bytes: Vec<u8>,
    pub(super) body_at: usize,
    pub(super) delay: Option<Duration>,
    pub(super) drip: Option<Duration>,
    pub(super) end: End,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bytes,
    Echo,
    Silent,
}

impl Rendered {
    pub(super) fn new(reply: &Reply) -> Self {
        let (bytes, body_at) = reply.render();
        let kind = match reply.content {
            Content::Echo => Kind::Echo,
            Content::Silent => Kind::Silent,
            Content::Http { .. } | Content::Raw(_) => Kind::Bytes,
        };
        Self { bytes, body_at, delay: reply.delay, drip: reply.drip, end: reply.end, kind }
    }
}

/// Which requests an exception is for; they are numbered from 1.
#[derive(Debug, Clone, Copy)]
pub(super) enum Which {
    Every(u64),
    First(u64),
}

impl Which {
    fn has(self, number: u64) -> bool {
        match self {
            Self::Every(n) => number.is_multiple_of(n),
            Self::First(n) => number <= n,
        }
    }
}

/// How long request number n takes.
pub(super) type DelayBy = Box<dyn Fn(u64) -> Duration + Send + Sync>;

/// What the server's thread and its owner share.
pub(super) struct Shared {
    pub(super) framing: Framing,
    pub(super) reply: Rendered,
    pub(super) exceptions: Vec<(Which, Rendered)>,
    pub(super) delay_by: Option<DelayBy>,
    pub(super) stalls: Vec<Range<Duration>>,
    pub(super) max_connections: Option<u64>,
    pub(super) at_once: Option<Semaphore>,
    pub(super) paused: watch::Sender<bool>,
    pub(super) stats: Stats,
    pub(super) numbered: AtomicU64,
    pub(super) first_request: OnceLock<Instant>,
}

impl Shared {
    /// The number of a request that has just been read.
    pub(super) fn arrived(&self) -> u64 {
        let now = Instant::now();
        self.stats.arrival(now);
        self.first_request.get_or_init(|| now);
        self.numbered.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The answer to request `number`, and how long it takes.
    pub(super) fn answer(&self, number: u64) -> (&Rendered, Duration) {
        let exception = self.exceptions.iter().find(|(which, _)| which.has(number));
        let reply = exception.map_or(&self.reply, |(_, reply)| reply);
        let server_s = || self.delay_by.as_ref().map(|delay| delay(number)).or(self.reply.delay);
        (reply, reply.delay.filter(|_| exception.is_some()).or_else(server_s).unwrap_or_default())
    }

    /// When the stall that covers this moment ends.
    pub(super) fn stalled_until(&self) -> Option<Instant> {
        let origin = *self.first_request.get()?;
        let since = origin.elapsed();
        self.stalls.iter().find(|stall| stall.contains(&since)).map(|stall| origin + stall.end)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("framing", &self.framing)
            .field("stats", &self.stats.read())
            .finish_non_exhaustive()
    }
}
