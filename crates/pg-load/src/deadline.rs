//! The time limit of a statement.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};
use tokio::time::{Instant, Sleep, sleep_until};

/// One timer for all statements of a session.
///
/// Moving tokio's timer for each statement would take its lock and change its wheel twice. So it stays where it is until
/// it fires, and is then moved on to when the statement that runs must end: once for each `limit` that passes. What a
/// statement pays is one clock reading, and one look at the timer each time it has to wait.
#[derive(Debug)]
pub(crate) struct Deadline {
    limit: Option<Duration>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Deadline {
    pub(crate) fn new(limit: Option<Duration>) -> Deadline {
        Deadline { limit, timer: None }
    }

    /// Runs a future until it ends or the time is up, which is `None`.
    #[inline]
    pub(crate) async fn within<T>(&mut self, future: impl Future<Output = T>) -> Option<T> {
        let Some(limit) = self.limit else { return Some(future.await) };
        let mut future = pin!(future);
        let mut due = None;
        poll_fn(|cx| {
            if let Poll::Ready(value) = future.as_mut().poll(cx) {
                return Poll::Ready(Some(value));
            }
            let due = *due.get_or_insert_with(|| Instant::now() + limit);
            let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(due)));
            loop {
                match timer.as_mut().poll(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(()) if timer.deadline() >= due => return Poll::Ready(None),
                    Poll::Ready(()) => timer.as_mut().reset(due),
                }
            }
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::sleep;

    fn run<T>(future: impl Future<Output = T>) -> T {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_time().start_paused(true).build().unwrap().block_on(future)
    }

    #[test]
    fn every_statement_has_the_whole_limit_though_the_timer_is_not_moved() {
        run(async {
            let mut deadline = Deadline::new(Some(Duration::from_millis(100)));
            // Armed by the first, it fires in the middle of the third.
            for _ in 0..5 {
                assert_eq!(deadline.within(sleep(Duration::from_millis(40))).await, Some(()));
            }
            sleep(Duration::from_millis(250)).await;
            for _ in 0..2 {
                let start = Instant::now();
                assert_eq!(deadline.within(std::future::pending::<()>()).await, None);
                let took = start.elapsed().as_millis();
                assert!((100..=102).contains(&took), "{took}");
            }
        });
    }

    #[test]
    fn without_a_limit_nothing_is_cut_short() {
        run(async {
            assert_eq!(Deadline::new(None).within(sleep(Duration::from_secs(9999))).await, Some(()));
        });
    }
}
