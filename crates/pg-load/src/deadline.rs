//! The time limit of a statement.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};
use tokio::time::{Instant, Sleep, sleep_until};

/// One timer for all statements of a session.
///
/// Moving tokio's timer for each statement would take its lock and change its wheel twice. So it stays where it is until
/// it fires, and is then moved on to when the statement that runs must end: once for each `limit` that passes. It is not
/// looked at either while it would wake who waits now. What a statement pays is one clock reading.
#[derive(Debug)]
pub(crate) struct Deadline {
    limit: Option<Duration>,
    timer: Option<Pin<Box<Sleep>>>,
    /// Whom the timer wakes when it fires.
    wakes: Option<Waker>,
}

impl Deadline {
    pub(crate) fn new(limit: Option<Duration>) -> Deadline {
        Deadline { limit, timer: None, wakes: None }
    }

    /// Runs a future until it ends or the time is up, which is `None`. Where it lies it stays: to move a client's future, a
    /// kilobyte or two, would cost each statement more than the limit does.
    #[inline]
    pub(crate) async fn within<F: Future>(&mut self, mut future: Pin<&mut F>) -> Option<F::Output> {
        let Some(limit) = self.limit else { return Some(future.await) };
        let mut due = None;
        poll_fn(|cx| {
            if let Poll::Ready(value) = future.as_mut().poll(cx) {
                return Poll::Ready(Some(value));
            }
            let due = *due.get_or_insert_with(|| Instant::now() + limit);
            if self.is_set_for(cx) || self.set(due, cx).is_pending() {
                Poll::Pending
            } else {
                Poll::Ready(None)
            }
        })
        .await
    }

    /// Whether the timer has yet to fire and wakes this task then.
    #[inline]
    fn is_set_for(&self, cx: &Context<'_>) -> bool {
        self.wakes.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()))
            && self.timer.as_ref().is_some_and(|timer| !timer.is_elapsed())
    }

    #[cold]
    fn set(&mut self, due: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(due)));
        self.wakes = None;
        while timer.as_mut().poll(cx).is_ready() {
            if timer.deadline() >= due {
                return Poll::Ready(());
            }
            timer.as_mut().reset(due);
        }
        self.wakes = Some(cx.waker().clone());
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
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
                assert_eq!(deadline.within(pin!(sleep(Duration::from_millis(40)))).await, Some(()));
            }
            sleep(Duration::from_millis(250)).await;
            for _ in 0..2 {
                let start = Instant::now();
                assert_eq!(deadline.within(pin!(std::future::pending::<()>())).await, None);
                let took = start.elapsed().as_millis();
                assert!((100..=102).contains(&took), "{took}");
            }
        });
    }

    #[test]
    fn without_a_limit_nothing_is_cut_short() {
        run(async {
            assert_eq!(Deadline::new(None).within(pin!(sleep(Duration::from_secs(9999)))).await, Some(()));
        });
    }
}
