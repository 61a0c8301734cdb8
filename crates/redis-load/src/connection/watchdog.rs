//! A time limit for each exchange that costs no timer for each.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::{Instant, Sleep, sleep_until};

/// One timer for the connection's life. It is armed for the end of some exchange and left alone by those after it: only
/// when it goes off is it set anew, to the end of the one that runs then. So it is set once per limit, not per exchange.
#[derive(Debug)]
pub(super) struct Watchdog {
    deadline: Instant,
    limit: Duration,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Watchdog {
    pub(super) fn new() -> Watchdog {
        Watchdog { deadline: Instant::now(), limit: Duration::ZERO, sleep: None }
    }

    /// The exchange that begins now may take `limit`.
    #[inline]
    pub(super) fn start(&mut self, limit: Duration) {
        self.deadline = Instant::now() + limit;
        // A shorter limit than before could end before the timer that is armed.
        if limit < self.limit {
            self.sleep = None;
        }
        self.limit = limit;
    }

    /// Whether the time is over; if not, the task is woken when it may be.
    #[inline]
    pub(super) fn has_expired(&mut self, cx: &mut Context<'_>) -> bool {
        let deadline = self.deadline;
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        loop {
            match sleep.as_mut().poll(cx) {
                Poll::Pending => return false,
                Poll::Ready(()) if Instant::now() >= deadline => return true,
                Poll::Ready(()) => sleep.as_mut().reset(deadline),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    async fn expiry(dog: &mut Watchdog) {
        poll_fn(|cx| if dog.has_expired(cx) { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    #[test]
    fn each_exchange_has_its_own_end() {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let mut dog = Watchdog::new();
            let second = Duration::from_secs(1);
            dog.start(second);
            assert!(poll_fn(|cx| Poll::Ready(!dog.has_expired(cx))).await);
            tokio::time::sleep(second * 9 / 10).await;
            // The timer goes off 0.1 s into this exchange, which must not end it.
            let start = Instant::now();
            dog.start(second);
            expiry(&mut dog).await;
            assert_eq!(start.elapsed(), second);
            // One that begins after its end, and one that may take less.
            dog.start(second);
            expiry(&mut dog).await;
            let start = Instant::now();
            dog.start(second / 10);
            expiry(&mut dog).await;
            assert_eq!(start.elapsed(), second / 10);
        });
    }
}
