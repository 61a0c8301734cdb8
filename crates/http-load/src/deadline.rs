//! The time limit of an operation.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::{Instant, Sleep};

/// One timer for all operations of a session.
///
/// Moving tokio's timer for each operation would take its lock and change its wheel twice. So the timer stays where it is
/// until it fires, and only then is moved on to when the operation that runs must end: once for each `limit` that passes.
/// What an operation pays is one clock reading, and one look at the timer each time it has to wait.
#[derive(Debug)]
pub(crate) struct Deadline {
    limit: Option<Duration>,
    due: Instant,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Deadline {
    pub(crate) fn new(limit: Option<Duration>) -> Deadline {
        Deadline { limit, due: Instant::now(), timer: None }
    }

    /// An operation starts now.
    #[inline]
    pub(crate) fn start(&mut self) {
        if let Some(limit) = self.limit {
            self.due = Instant::now() + limit;
        }
    }

    /// When the operation must end.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.limit.map(|_| self.due)
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
        let due = self.due;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due)));
        loop {
            match timer.as_mut().poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(()) if timer.deadline() >= due => return Poll::Ready(()),
                Poll::Ready(()) => timer.as_mut().reset(due),
            }
        }
    }

    /// Runs a future until it ends or the time is up.
    pub(crate) async fn within<T>(&mut self, future: impl Future<Output = T>) -> Option<T> {
        let mut future = std::pin::pin!(future);
        std::future::poll_fn(|cx| match future.as_mut().poll(cx) {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            Poll::Pending => self.poll_over(cx).map(|()| None),
        })
        .await
    }
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
            let mut deadline = Deadline::new(Some(limit));
            // The timer is armed by the first and fires in the middle of the third.
            for _ in 0..5 {
                deadline.start();
                assert_eq!(deadline.within(tokio::time::sleep(Duration::from_millis(40))).await, Some(()));
            }
            tokio::time::sleep(Duration::from_millis(250)).await;
            let start = Instant::now();
            deadline.start();
            assert_eq!(deadline.within(std::future::pending::<()>()).await, None);
            let took = start.elapsed();
            assert!((100..=102).contains(&took.as_millis()), "{took:?}");
        });
    }

    #[test]
    fn without_a_limit_nothing_is_cut_short() {
        run(async {
            let mut deadline = Deadline::new(None);
            deadline.start();
            assert_eq!(deadline.within(tokio::time::sleep(Duration::from_secs(9999))).await, Some(()));
        });
    }
}
