//! Waiting for the same short time again and again, to some 50 µs.

use std::{io, time::Duration};

/// Everybody who waits here waits equally long, so who came first leaves first.
#[cfg(target_os = "linux")]
pub(super) use precise::Delay;

#[cfg(not(target_os = "linux"))]
pub(super) use coarse::Delay;

#[cfg(target_os = "linux")]
mod precise {
    use super::{Duration, io};
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use std::{
        cell::RefCell,
        collections::VecDeque,
        os::fd::OwnedFd,
        rc::Rc,
        task::{Poll, Waker},
        time::Instant,
    };
    use tokio::net::unix::pipe;

    /// A queue, and one timerfd that is set to its head. tokio's own timer rounds up to the next millisecond.
    #[derive(Clone)]
    pub(crate) struct Delay(Rc<Line>);

    struct Line {
        delay: Duration,
        fd: OwnedFd,
        waiting: RefCell<VecDeque<(Instant, Waker)>>,
    }

    impl Delay {
        /// To be called in a local runtime: a task there wakes those who have waited long enough.
        pub(crate) fn new(delay: Duration) -> io::Result<Delay> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let fd = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            // The safe way to have tokio poll a descriptor of another kind; it is read as a pipe is.
            let readable = pipe::Receiver::from_owned_fd_unchecked(fd.try_clone()?)?;
            let line = Rc::new(Line { delay, fd, waiting: RefCell::default() });
            let woken = Rc::clone(&line);
            tokio::task::spawn_local(async move {
                while readable.readable().await.is_ok() {
                    let _ = readable.try_read(&mut [0; 8]);
                    woken.wake_due();
                }
            });
            Ok(Delay(line))
        }

        pub(crate) async fn wait(&self) {
            let line = &self.0;
            let due = Instant::now() + line.delay;
            let mut queued = false;
            std::future::poll_fn(|cx| {
                if queued {
                    // Woken by something else than the timer, it goes on waiting at its place.
                    return if Instant::now() >= due { Poll::Ready(()) } else { Poll::Pending };
                }
                queued = true;
                let mut waiting = line.waiting.borrow_mut();
                waiting.push_back((due, cx.waker().clone()));
                if waiting.len() == 1 {
                    line.arm(due);
                }
                Poll::Pending
            })
            .await;
        }
    }

    impl Line {
        fn wake_due(&self) {
            let now = Instant::now();
            let mut waiting = self.waiting.borrow_mut();
            while let Some((due, _)) = waiting.front() {
                if *due > now {
                    return self.arm(*due);
                }
                if let Some((_, waker)) = waiting.pop_front() {
                    waker.wake();
                }
            }
        }

        fn arm(&self, due: Instant) {
            let left = due.saturating_duration_since(Instant::now());
            let once = Itimerspec {
                it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
                it_value: Timespec {
                    tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                    // All zero would switch it off.
                    tv_nsec: i64::from(left.subsec_nanos()).max(1),
                },
            };
            // Fails only for a time that is not one.
            let _ = timerfd_settime(&self.fd, TimerfdTimerFlags::empty(), &once);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod coarse {
    use super::{Duration, io};

    #[derive(Clone)]
    pub(crate) struct Delay(Duration);

    impl Delay {
        pub(crate) fn new(delay: Duration) -> io::Result<Delay> {
            Ok(Delay(delay))
        }

        pub(crate) async fn wait(&self) {
            tokio::time::sleep(self.0).await;
        }
    }
}
