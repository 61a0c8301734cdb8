//! Linux: an absolute timerfd on the worker's own runtime, some 30 µs late at the median.

use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};
use std::{io, os::fd::AsFd, time::Instant};
use tokio::net::unix::pipe;

/// A timerfd read through tokio's pipe receiver: reading eight bytes from a non-blocking descriptor is all that either
/// needs, and it takes neither `unsafe` nor a deprecated call.
#[derive(Debug)]
pub(crate) struct Timerfd {
    fd: pipe::Receiver,
    /// CLOCK_MONOTONIC at the origin of the run's clock, in ns.
    origin: i64,
}

impl Timerfd {
    pub(crate) fn new(origin: Instant) -> io::Result<Timerfd> {
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        Ok(Timerfd { fd: pipe::Receiver::from_owned_fd_unchecked(fd)?, origin: monotonic_at(origin) })
    }

    pub(crate) async fn until(&mut self, at: u64) {
        // Errors are not expected of a valid timer; returning early only costs a turn of the driver.
        if self.arm(at).is_err() {
            return;
        }
        let mut expirations = [0u8; 8];
        loop {
            if self.fd.readable().await.is_err() {
                return;
            }
            match self.fd.try_read(&mut expirations) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                _ => return,
            }
        }
    }

    fn arm(&self, at: u64) -> io::Result<()> {
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        // Zero would disarm it.
        let ns = self.origin.saturating_add_unsigned(at).max(1);
        let value = Timespec { tv_sec: ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 };
        timerfd_settime(
            self.fd.as_fd(),
            TimerfdTimerFlags::ABSTIME,
            &Itimerspec { it_interval: zero, it_value: value },
        )?;
        Ok(())
    }
}

/// `Instant` does not tell its absolute value: read both clocks together, and keep the tightest of a few tries.
fn monotonic_at(origin: Instant) -> i64 {
    let once = || {
        let before = Instant::now();
        let clock = clock_gettime(ClockId::Monotonic);
        let width = before.elapsed().as_nanos() as i64;
        let ns = clock.tv_sec * 1_000_000_000 + clock.tv_nsec;
        // The later end of what is possible, so that the timer is never early.
        (width, ns - before.duration_since(origin).as_nanos() as i64)
    };
    (0..9).map(|_| once()).min().map_or(0, |(_, at)| at)
}
