//! What the feeds of one worker share: the next due instant, and signals to the driver.

use super::Feed;
use load_core::Clock;
use std::{
    cell::{Cell, RefCell},
    rc::{Rc, Weak},
    time::Duration,
};
use tokio::sync::Notify;

/// A sleep that ends so much too late did so because nothing ran here: the process was stopped, or its thread held up.
const HELD_UP_NS: u64 = 500_000_000;
/// What others get then to show what they did meanwhile.
const RESPITE: Duration = Duration::from_secs(1);

/// One for each worker.
#[derive(Debug)]
pub(crate) struct Hub {
    clock: Clock,
    due: Cell<u64>,
    feeds: RefCell<Vec<Weak<Feed>>>,
    aborted: Cell<bool>,
    exhausted: Cell<bool>,
    /// Wakes the driver: a session has connected or failed to, ended, or handed out the last operation.
    pub(crate) changed: Notify,
}

impl Hub {
    pub(crate) fn new(clock: Clock) -> Hub {
        Hub {
            clock,
            due: Cell::new(u64::MAX),
            feeds: RefCell::default(),
            aborted: Cell::new(false),
            exhausted: Cell::new(false),
            changed: Notify::new(),
        }
    }

    pub(crate) fn add(&self, feed: &Rc<Feed>) {
        self.feeds.borrow_mut().push(Rc::downgrade(feed));
    }

    /// The instant from which something is due.
    #[inline]
    pub(crate) fn due(&self) -> u64 {
        self.due.get()
    }

    /// Releases what is due on the whole worker. Answers when to come again, and the smallest gap between arrivals.
    pub(crate) fn release(&self, now: u64) -> (u64, u64) {
        let (mut at, mut gap) = (u64::MAX, u64::MAX);
        for feed in self.feeds.borrow().iter().filter_map(Weak::upgrade) {
            if let Some((next, g)) = feed.release(now) {
                (at, gap) = (at.min(next), gap.min(g));
            }
        }
        self.due.set(at);
        (at, gap)
    }

    /// The overload policy `Abort` found no session free.
    pub(super) fn abort(&self) {
        self.aborted.set(true);
        self.changed.notify_one();
    }

    pub(crate) fn is_aborted(&self) -> bool {
        self.aborted.get()
    }

    /// A quota was handed out.
    pub(super) fn exhausted(&self) {
        if !self.exhausted.replace(true) {
            self.changed.notify_one();
        }
    }

    /// Ends when others have had `limit` for what they were asked. When nothing ran here as it passed, an answer may have
    /// been there long ago: a while more is given, so that what this process did not see is not taken for a failure.
    pub(crate) async fn over(&self, limit: Duration) {
        let due = self.clock.now().saturating_add(limit.as_nanos() as u64);
        self.sleep(limit).await;
        if self.clock.now() >= due.saturating_add(HELD_UP_NS) {
            self.sleep(limit.min(RESPITE)).await;
        }
    }

    /// Sleeps, coarsely, on the run's clock: for back-off and limits, never for pacing.
    pub(crate) async fn sleep(&self, duration: Duration) {
        match &self.clock {
            Clock::Real(_) => tokio::time::sleep(duration).await,
            Clock::Virtual(time) => time.sleep(duration).await,
        }
    }
}
