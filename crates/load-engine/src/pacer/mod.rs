//! Waking a worker at an instant. tokio's timers round up to the next millisecond, which is no pacing.

#[cfg(target_os = "linux")]
mod timerfd;
// The portable one is compiled and tested everywhere, so that it does not rot.
#[cfg_attr(target_os = "linux", allow(dead_code))]
mod thread;

use load_core::Clock;
use std::io;

/// Wakes a worker at an absolute instant of the run's clock. One for each worker.
#[derive(Debug)]
pub(crate) enum Pacer {
    #[cfg(target_os = "linux")]
    Timerfd(timerfd::Timerfd),
    #[cfg_attr(target_os = "linux", allow(dead_code))]
    Thread(thread::SleepThread),
    Virtual(load_core::VirtualTime),
}

impl Pacer {
    /// The best one for this clock and system. Must be called within a runtime with I/O enabled.
    pub(crate) fn new(clock: &Clock) -> io::Result<Pacer> {
        match clock {
            Clock::Virtual(time) => Ok(Pacer::Virtual(time.clone())),
            #[cfg(target_os = "linux")]
            Clock::Real(origin) => timerfd::Timerfd::new(*origin).map(Pacer::Timerfd),
            #[cfg(not(target_os = "linux"))]
            Clock::Real(origin) => thread::SleepThread::new(*origin).map(Pacer::Thread),
        }
    }

    /// Returns at or soon after `at` ns of the clock. May be dropped before its end.
    pub(crate) async fn until(&mut self, at: u64) {
        match self {
            #[cfg(target_os = "linux")]
            Pacer::Timerfd(timer) => timer.until(at).await,
            Pacer::Thread(thread) => thread.until(at).await,
            Pacer::Virtual(time) => time.sleep_until(at).await,
        }
    }

    /// The least time between two wake-ups that is worth its cost: wake-ups are coalesced, more above some 20,000
    /// arrivals a second (`gap_ns` between arrivals), where they would cost most of a core.
    pub(crate) fn tick(&self, gap_ns: u64) -> u64 {
        match self {
            Pacer::Virtual(_) => 0,
            _ if gap_ns < 50_000 => 100_000,
            _ => 50_000,
        }
    }
}

/// What the pacers of this system promise, measured in `benches/`: used by documentation only.
#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn lateness(mut pacer: Pacer, clock: &Clock, n: u64) -> Vec<u64> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let start = clock.now();
        runtime.block_on(async {
            let mut late = Vec::new();
            for i in 1..=n {
                let at = start + i * 300_000;
                pacer.until(at).await;
                late.push(clock.now().checked_sub(at).expect("never early"));
            }
            late
        })
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_timerfd_is_never_early() {
        let origin = Instant::now();
        let clock = Clock::Real(origin);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let late = runtime.block_on(async {
            let mut pacer = Pacer::new(&clock).unwrap();
            let mut late = Vec::new();
            for i in 1..=50 {
                // Also instants that have passed, and a wait that is dropped and armed again.
                let at = (i * 400_000) + 1_000_000 * (i % 2);
                tokio::select! { biased; _ = pacer.until(at + 50_000_000) => panic!("too early"), _ = std::future::ready(()) => {} }
                pacer.until(at).await;
                late.push(clock.now().checked_sub(at).expect("never early"));
            }
            late
        });
        assert_eq!(late.len(), 50);
    }

    #[test]
    fn the_portable_pacer_is_never_early() {
        let origin = Instant::now();
        let clock = Clock::Real(origin);
        let pacer = Pacer::Thread(thread::SleepThread::new(origin).unwrap());
        assert_eq!(lateness(pacer, &clock, 50).len(), 50);
    }
}
