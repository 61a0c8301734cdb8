//! Keeps a task from being woken by its own doing.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU8, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

/// Nobody needs to be woken: the task runs, or no exchange does.
const QUIET: u8 = 0;
/// As before, but something asked for it.
const ASKED: u8 = 1;
/// An exchange waits.
const WAITING: u8 = 2;

/// Stands between a connection and the task that drives it.
///
/// The HTTP library talks to whoever drives a connection through channels that wake the receiving task. Here both ends are
/// polled by the same task, one after the other, so each of those wake-ups would only run the task a second time for
/// nothing, once for every request. Wake-ups that come while it runs are remembered and passed on only if it goes to wait
/// without having looked again; those that come between two exchanges are not needed, as the next one looks first.
#[derive(Debug)]
pub(crate) struct Gate {
    inner: Arc<Inner>,
    waker: Waker,
}

#[derive(Debug)]
struct Inner {
    state: AtomicU8,
    task: Mutex<Waker>,
}

impl Gate {
    pub(crate) fn new() -> Gate {
        let inner = Arc::new(Inner { state: AtomicU8::new(QUIET), task: Mutex::new(Waker::noop().clone()) });
        Gate { waker: Waker::from(Arc::clone(&inner)), inner }
    }

    /// What the connection is to be polled with.
    pub(crate) fn waker(&self) -> &Waker {
        &self.waker
    }

    /// What was asked for so far is about to be looked at.
    #[inline]
    pub(crate) fn look(&self) {
        self.inner.state.store(QUIET, Ordering::Release);
    }

    /// The task goes to wait: from now on wake-ups reach it, and at once if there was one since the last look.
    #[inline]
    pub(crate) fn wait<T>(&self, cx: &mut Context<'_>) -> Poll<T> {
        {
            let mut task = self.inner.task.lock().expect("no panic while held");
            if !task.will_wake(cx.waker()) {
                task.clone_from(cx.waker());
            }
        }
        if self.inner.state.swap(WAITING, Ordering::AcqRel) == ASKED {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl Wake for Inner {
    fn wake(self: Arc<Inner>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Inner>) {
        let mark = self.state.compare_exchange(QUIET, ASKED, Ordering::AcqRel, Ordering::Acquire);
        if mark == Err(WAITING) {
            self.task.lock().expect("no panic while held").wake_by_ref();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Count>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn only_a_waiting_task_is_woken_and_no_wake_up_is_lost() {
        let count = Arc::new(Count::default());
        let woken = || count.0.load(Ordering::SeqCst);
        let task = Waker::from(Arc::clone(&count));
        let mut cx = Context::from_waker(&task);
        let gate = Gate::new();
        gate.waker().wake_by_ref();
        assert_eq!(woken(), 0, "nothing waits");
        assert!(gate.wait::<()>(&mut cx).is_pending());
        assert_eq!(woken(), 1, "it was asked for before it went to wait");
        gate.look();
        gate.waker().wake_by_ref();
        gate.look();
        assert!(gate.wait::<()>(&mut cx).is_pending());
        assert_eq!(woken(), 1, "it looked again after that");
        gate.waker().wake_by_ref();
        gate.waker().wake_by_ref();
        assert_eq!(woken(), 3, "it waits");
    }
}
