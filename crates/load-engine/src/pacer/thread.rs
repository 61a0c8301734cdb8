//! Elsewhere: a thread that sleeps, and wakes the worker.

use std::{
    future::poll_fn,
    io,
    sync::{Arc, Condvar, Mutex},
    task::{Poll, Waker},
    time::{Duration, Instant},
};

/// A thread that waits for an instant with the system's own timer. Some 10 % more CPU than a timerfd.
#[derive(Debug)]
pub(crate) struct SleepThread(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    origin: Instant,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Ns from the origin; `None` when nobody waits.
    at: Option<u64>,
    waker: Option<Waker>,
    fired: bool,
    closed: bool,
}

impl SleepThread {
    pub(crate) fn new(origin: Instant) -> io::Result<SleepThread> {
        let shared = Arc::new(Shared { origin, state: Mutex::default(), changed: Condvar::new() });
        let own = shared.clone();
        std::thread::Builder::new().name("openloop-pacer".into()).spawn(move || own.run())?;
        Ok(SleepThread(shared))
    }

    pub(crate) async fn until(&mut self, at: u64) {
        let mut armed = false;
        poll_fn(|cx| {
            let mut state = self.0.state.lock().expect("no panic while held");
            if !armed {
                (state.at, state.fired) = (Some(at), false);
                armed = true;
                self.0.changed.notify_one();
            }
            if state.fired {
                return Poll::Ready(());
            }
            state.waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

impl Drop for SleepThread {
    fn drop(&mut self) {
        if let Ok(mut state) = self.0.state.lock() {
            state.closed = true;
        }
        self.0.changed.notify_one();
    }
}

impl Shared {
    fn run(&self) {
        let mut state = self.state.lock().expect("no panic while held");
        while !state.closed {
            let Some(at) = state.at else {
                state = self.changed.wait(state).expect("no panic while held");
                continue;
            };
            let left = Duration::from_nanos(at).saturating_sub(self.origin.elapsed());
            if left.is_zero() {
                (state.at, state.fired) = (None, true);
                if let Some(waker) = state.waker.take() {
                    waker.wake();
                }
            } else {
                // An earlier instant may be asked for meanwhile, which a plain sleep would miss.
                state = self.changed.wait_timeout(state, left).expect("no panic while held").0;
            }
        }
    }
}
