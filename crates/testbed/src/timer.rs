//! Sleeping to some 0.1 ms within one thread; tokio's own timer rounds up to the next millisecond.

#[cfg(not(target_os = "linux"))]
pub(crate) use coarse::Timer;
#[cfg(target_os = "linux")]
pub(crate) use precise::Timer;

#[cfg(target_os = "linux")]
mod precise {
    use std::cell::RefCell;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;
    use std::future::Future;
    use std::io;
    use std::os::fd::OwnedFd;
    use std::pin::Pin;
    use std::rc::Rc;
    use std::task::{Context, Poll, Waker};
    use std::time::Instant;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::net::unix::pipe;

    /// One timerfd for all sleepers of a thread, set to the earliest of them.
    #[derive(Clone)]
    pub(crate) struct Timer(Rc<Shared>);

    struct Shared {
        fd: OwnedFd,
        sleepers: RefCell<BinaryHeap<Reverse<Sleeper>>>,
    }

    struct Sleeper {
        until: Instant,
        waker: Waker,
    }

    impl PartialEq for Sleeper {
        fn eq(&self, other: &Self) -> bool {
            self.until == other.until
        }
    }
    impl Eq for Sleeper {}
    impl PartialOrd for Sleeper {
        fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
            Some(self.cmp(other))
        }
    }
    impl Ord for Sleeper {
        fn cmp(&self, other: &Self) -> std::cmp::Ordering {
            self.until.cmp(&other.until)
        }
    }

    impl Timer {
        /// To be called in a local runtime of tokio; a task there wakes the sleepers.
        pub(crate) fn new() -> io::Result<Self> {
            let fd =
                timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
            // The safe way to have tokio poll a descriptor of another kind; reading one is the same.
            let readable = pipe::Receiver::from_owned_fd_unchecked(fd.try_clone()?)?;
            let timer = Self(Rc::new(Shared { fd, sleepers: RefCell::default() }));
            let shared = Rc::clone(&timer.0);
            tokio::task::spawn_local(async move {
                while readable.readable().await.is_ok() {
                    let _ = readable.try_read(&mut [0; 8]);
                    shared.wake_due();
                }
            });
            Ok(timer)
        }

        pub(crate) fn sleep_until(&self, until: Instant) -> impl Future<Output = ()> + use<> {
            Sleep { until, shared: Rc::clone(&self.0), registered: None }
        }
    }

    impl Shared {
        fn wake_due(&self) {
            let now = Instant::now();
            let mut sleepers = self.sleepers.borrow_mut();
            while sleepers.peek().is_some_and(|Reverse(next)| next.until <= now) {
                if let Some(Reverse(due)) = sleepers.pop() {
                    due.waker.wake();
                }
            }
            if let Some(Reverse(next)) = sleepers.peek() {
                self.arm(next.until, now);
            }
        }

        fn arm(&self, until: Instant, now: Instant) {
            // A zero would switch the timer off.
            let nanos = until.saturating_duration_since(now).as_nanos().max(1);
            let split =
                |n: u128| (i64::try_from(n / 1_000_000_000).unwrap_or(i64::MAX), (n % 1_000_000_000) as i64);
            let (tv_sec, tv_nsec) = split(nanos);
            let once = Itimerspec {
                it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
                it_value: Timespec { tv_sec, tv_nsec },
            };
            // Fails only for a time that is not one.
            let _ = timerfd_settime(&self.fd, TimerfdTimerFlags::empty(), &once);
        }
    }

    struct Sleep {
        until: Instant,
        shared: Rc<Shared>,
        registered: Option<Waker>,
    }

    impl Future for Sleep {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            let now = Instant::now();
            if now >= self.until {
                return Poll::Ready(());
            }
            if !self.registered.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
                let waker = cx.waker().clone();
                self.registered = Some(waker.clone());
                let mut sleepers = self.shared.sleepers.borrow_mut();
                let first = sleepers.peek().is_none_or(|Reverse(next)| self.until < next.until);
                sleepers.push(Reverse(Sleeper { until: self.until, waker }));
                if first {
                    self.shared.arm(self.until, now);
                }
            }
            Poll::Pending
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod coarse {
    use std::future::Future;
    use std::io;
    use std::time::Instant;

    /// tokio's timer.
    #[derive(Clone)]
    pub(crate) struct Timer;

    impl Timer {
        pub(crate) fn new() -> io::Result<Self> {
            Ok(Self)
        }

        pub(crate) fn sleep_until(&self, until: Instant) -> impl Future<Output = ()> + use<> {
            tokio::time::sleep_until(until.into())
        }
    }
}
