//! A space, as users see it.

use super::{
    keeper::{self, Keeper, Opened, Opening},
    sweep::Swept,
};
use crate::{RedisError, Target, commands::Prefix};
use load_core::record::Check;
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::sync::oneshot;

/// How to open a [`Space`]; see [`Target::isolate`].
#[derive(Debug, Clone)]
#[must_use = "nothing is opened before `open`"]
pub struct Isolation {
    pub(super) target: Target,
    pub(super) allowed: Vec<String>,
    pub(super) wait_ready: Duration,
    pub(super) cleanup_limit: Duration,
}

impl Target {
    /// Makes ready to open a part of the database that is the run's own.
    pub fn isolate(&self) -> Isolation {
        Isolation {
            target: self.clone(),
            allowed: Vec::new(),
            wait_ready: Duration::ZERO,
            cleanup_limit: Duration::from_secs(30),
        }
    }
}

impl Isolation {
    /// Lets the run share the database with keys of this name, or of this beginning when it ends in `*`. They are never
    /// touched. `"*"` allows any, and spares the walk over the database that looks for them.
    pub fn allow_foreign(mut self, pattern: impl Into<String>) -> Isolation {
        self.allowed.push(pattern.into());
        self
    }

    /// Waits for a server that is starting or loading its data, at most this long; not at all by default.
    pub fn wait_ready(mut self, limit: Duration) -> Isolation {
        self.wait_ready = limit;
        self
    }

    /// How long the cleanup may take, waiting for a server that is down included; 30 s by default.
    pub fn cleanup_limit(mut self, limit: Duration) -> Isolation {
        self.cleanup_limit = limit;
        self
    }

    /// Opens it: removes what dead runs have left, refuses a database with foreign keys, and claims a key prefix. Runs on
    /// a thread of its own, which lives until the space is closed; any async runtime can wait for it, as can
    /// [`open_blocking`](Isolation::open_blocking).
    ///
    /// # Errors
    /// [`RedisError::Config`] before anything connects; [`RedisError::Server`] and [`RedisError::Refused`] when the server
    /// cannot be used (not there, wrong password, no such database, a read-only replica, out of memory);
    /// [`RedisError::ForeignKeys`].
    pub async fn open(self) -> Result<Space, RedisError> {
        let target = self.target.to_string();
        let (opening, keeper) = self.start()?;
        Space::from_opened(opening.await, keeper, target)
    }

    /// [`open`](Isolation::open) for programs without a runtime.
    ///
    /// # Errors
    /// The same.
    ///
    /// # Panics
    /// Inside an async runtime.
    pub fn open_blocking(self) -> Result<Space, RedisError> {
        let target = self.target.to_string();
        let (opening, keeper) = self.start()?;
        Space::from_opened(opening.blocking_recv(), keeper, target)
    }

    fn start(self) -> Result<(Opening, Keeper), RedisError> {
        self.target.check()?;
        if self.cleanup_limit.is_zero() {
            return Err(RedisError::config("cleanup_limit", "0 s", "give a time above 0"));
        }
        let target = self.target.to_string();
        keeper::start(self)
            .map_err(|error| RedisError::Server { target, what: format!("no thread for its lease: {error}") })
    }
}

/// What sessions need to know of a space.
#[derive(Debug)]
pub(crate) struct SpaceInfo {
    pub(crate) target: Target,
    pub(crate) prefix: Prefix,
    /// Nothing may be written any more.
    pub(super) closed: AtomicBool,
}

impl SpaceInfo {
    pub(super) fn new(target: Target, prefix: Prefix) -> SpaceInfo {
        SpaceInfo { target, prefix, closed: AtomicBool::new(false) }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

/// A part of a database that is the run's own: all keys have its prefix, and all of them are gone when it is closed.
///
/// The prefix takes the place of `key:`, so that keys are as long as redis-benchmark's. An entry in the hash `openloop:runs` says
/// whose it is; when the program dies without closing it, the next run in the database removes the keys and says so.
///
/// Call [`cleanup`](Space::cleanup) at the end and put the check into the record. A space that is dropped is closed too (the
/// drop waits for it, at most the cleanup limit), but then nobody learns how it went. On Ctrl-C let the engine stop the run, and
/// close the space after it as always.
#[must_use = "a space is closed when it is dropped"]
pub struct Space {
    pub(crate) info: Arc<SpaceInfo>,
    swept: Vec<Swept>,
    keeper: Option<Keeper>,
}

impl Space {
    fn from_opened(
        opened: Result<Result<Opened, RedisError>, oneshot::error::RecvError>,
        keeper: Keeper,
        target: String,
    ) -> Result<Space, RedisError> {
        let lost = |_| RedisError::Server { target, what: "the thread of its lease ended".into() };
        let Opened { info, swept } = opened.map_err(lost)??;
        Ok(Space { info, swept, keeper: Some(keeper) })
    }

    /// The four bytes with which all keys begin.
    pub fn prefix(&self) -> &str {
        self.info.prefix.text()
    }

    /// The server it is on.
    pub fn target(&self) -> &Target {
        &self.info.target
    }

    /// A key of the run's own with a name: `~abc:name`. What [`cleanup`](Space::cleanup) removes has such names, those of the
    /// listed commands, or those of [`numbered_key`](Space::numbered_key).
    pub fn key(&self, name: &str) -> String {
        format!("{}:{name}", self.prefix())
    }

    /// The key that commands use for this number: `~abc000000000042`.
    pub fn numbered_key(&self, number: u64) -> String {
        format!("{}{number:012}", self.prefix())
    }

    /// What dead runs had left in the database and was removed.
    pub fn swept(&self) -> &[Swept] {
        &self.swept
    }

    /// Removes the run's keys in batches (`SCAN` and `UNLINK`), looks whether any is left, and gives up the prefix. Sessions
    /// should be closed by then; none can be opened afterwards.
    pub async fn cleanup(self) -> Check {
        let answer = self.order();
        Space::check(answer.await)
    }

    /// [`cleanup`](Space::cleanup) for programs without a runtime.
    ///
    /// # Panics
    /// Inside an async runtime.
    pub fn cleanup_blocking(self) -> Check {
        let answer = self.order();
        Space::check(answer.blocking_recv())
    }

    fn order(&self) -> oneshot::Receiver<Check> {
        let (tx, rx) = oneshot::channel();
        if let Some(keeper) = &self.keeper {
            let _ = keeper.orders.send(tx);
        }
        rx
    }

    fn check(answer: Result<Check, oneshot::error::RecvError>) -> Check {
        answer.unwrap_or_else(|_| Check::new("cleanup.redis", false, 0, "the thread of the lease ended"))
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        if let Some(Keeper { orders, thread }) = self.keeper.take() {
            drop(orders);
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Space").field("info", &self.info).field("swept", &self.swept).finish_non_exhaustive()
    }
}
