//! The time limit of an operation.

use std::{
    future::Future,
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    task::coop::unconstrained,
    time::{Instant, Sleep},
};

/// One timer for all operations of a session.
///
/// Moving tokio's timer for each operation would take its lock and change its wheel twice. So the timer stays where it is
/// until it fires, and only then is moved on to when the operation that runs must end: once for each `limit` that passes.
/// What an operation pays is an addition, as its start is known already, and one look at the timer each time it has to wait.
#[derive(Debug)]
pub(crate) struct Deadline {
    limit: Option<Duration>,
    /// The same instant on tokio's clock and on the run's, in ns.
    origin: (Instant, u64),
    /// When the operation must end, in ns of the run's clock.
    due: u64,
    timer: Option<Pin<Box<Sleep>>>,
}

/// As good as never, and far from where arithmetic ends.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

impl Deadline {
    /// `now` is the reading of the run's clock.
    pub(crate) fn new(limit: Option<Duration>, now: u64) -> Deadline {
        Deadline {
            limit: limit.map(|l| l.min(LONGEST)),
            origin: (Instant::now(), now),
            due: now,
            timer: None,
        }
    }

    /// An operation has started at this time of the run's clock.
    #[inline]
    pub(crate) fn start(&mut self, started: u64) {
        if let Some(limit) = self.limit {
            self.due = started + limit.as_nanos() as u64;
        }
    }

    /// When the operation must end.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.limit.map(|_| self.instant())
    }

    fn instant(&self) -> Instant {
        to_instant(self.origin, self.due)
    }

    pub(crate) fn limit(&self) -> Duration {
        self.limit.unwrap_or_default()
    }

    /// Whether the operation's time is up; else the task is woken when it is.
    #[inline]
    pub(crate) fn poll_over(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.limit.is_none() {
            return Poll::Pending;
        }
        if self.timer.is_none() {
            self.timer = Some(Box::pin(tokio::time::sleep_until(self.instant())));
        }
        let timer = self.timer.as_mut().expect("just set or seen");
        loop {
            // A server that sends without end uses up the task's budget each time. Without the time to look at the clock there
            // would be no end to it.
            std::task::ready!(pin!(unconstrained(timer.as_mut())).poll(cx));
            let due = to_instant(self.origin, self.due);
            if timer.deadline() >= due {
                return Poll::Ready(());
            }
            timer.as_mut().reset(due);
        }
    }

    /// Runs a future until it ends or the time is up.
    pub(crate) async fn within<T>(&mut self, future: impl Future<Output = T>) -> Option<T> {
        let mut future = pin!(future);
        std::future::poll_fn(|cx| match future.as_mut().poll(cx) {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            Poll::Pending => self.poll_over(cx).map(|()| None),
        })
        .await
    }
}

fn to_instant((instant, ns): (Instant, u64), due: u64) -> Instant {
    instant + Duration::from_nanos(due.saturating_sub(ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<T>(future: impl Future<Output = T>) -> T {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_time().start_paused(true).build().unwrap();
        runtime.block_on(future)
    }

    #[test]
    fn every_operation_has_the_whole_limit_though_the_timer_is_not_moved() {
        run(async {
            let limit = Duration::from_millis(100);
            let origin = Instant::now();
            // Another origin than tokio's.
            let now = || 77 + origin.elapsed().as_nanos() as u64;
            let mut deadline = Deadline::new(Some(limit), now());
            // The timer is armed by the first and fires in the middle of the third.
            for _ in 0..5 {
                deadline.start(now());
                assert_eq!(deadline.within(tokio::time::sleep(Duration::from_millis(40))).await, Some(()));
            }
            tokio::time::sleep(Duration::from_millis(250)).await;
            let start = Instant::now();
            deadline.start(now());
            assert_eq!(deadline.within(std::future::pending::<()>()).await, None);
            let took = start.elapsed();
            assert!((100..=102).contains(&took.as_millis()), "{took:?}");
        });
    }

    #[test]
    fn without_a_limit_nothing_is_cut_short() {
        run(async {
            let mut deadline = Deadline::new(None, 0);
            deadline.start(0);
            assert_eq!(deadline.within(tokio::time::sleep(Duration::from_secs(9999))).await, Some(()));
        });
    }

    #[test]
    fn the_longest_limit_is_not_too_long() {
        run(async {
            let mut deadline = Deadline::new(Some(Duration::MAX), u64::MAX / 4);
            deadline.start(u64::MAX / 4);
            assert_eq!(deadline.within(tokio::time::sleep(Duration::from_secs(9999))).await, Some(()));
        });
    }
}
