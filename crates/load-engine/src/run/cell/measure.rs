//! The measured part of a cell, from the start to the end of the drain.

use super::{Abort, Cell, CellDone, GRACE_NS};
use crate::{
    RunError,
    run::{Stage, watch::PROBE_NS},
    worker::{Control, Times},
};
use load_core::VirtualTime;
use std::{
    future::Future,
    pin::pin,
    sync::mpsc::RecvTimeoutError,
    task::{Context, Waker},
    time::Duration,
};

impl Cell<'_> {
    pub(super) fn measure(mut self, times: Times) -> Result<Option<CellDone>, RunError> {
        let virtual_time = self.plan.virtual_time.is_some();
        let mut done = vec![false; self.workers.len()];
        let (mut begun, mut ended, mut interrupted) = (false, false, false);
        let mut stop = times.stop;
        self.tell(Stage::WarmingUp, times.start, Some(times.measure - times.start));
        // A phase without streams has no workers and lasts its time.
        while !done.iter().all(|d| *d) || (done.is_empty() && self.clock.now() < stop) {
            let waiting = done.iter().position(|d| !d).unwrap_or(0);
            let now = self.look();
            if !virtual_time {
                if !begun && now >= times.measure {
                    begun = true;
                    self.watch.begin(now);
                    self.tell(Stage::Measuring, times.measure, Some(times.stop - times.measure));
                } else if !begun {
                    self.watch.look_before();
                    self.count_failures();
                } else if !ended {
                    // Not when the first worker is done: a count may end one stream long before another.
                    ended = now >= stop;
                    self.count_failures();
                    self.watch.sample(now, ended, &self.over);
                    if ended {
                        self.tell(Stage::Draining, stop, Some(times.drain));
                    }
                }
                // Who could not run could not end.
                let due = stop.saturating_add(times.drain).saturating_add(GRACE_NS);
                if now > due.max(self.gaps.grace_end()) {
                    let after = Duration::from_nanos(now - stop);
                    let _ = self.control.send(Control::Quit);
                    return Err(self.stuck(waiting, after));
                }
            }
            if self.stopper.is_stopped() && !interrupted && !ended {
                interrupted = true;
                stop = now.min(stop);
                let _ = self.control.send(Control::Stop);
            }
            let wake = if begun || virtual_time { now + PROBE_NS } else { times.measure.min(now + PROBE_NS) };
            match self.from.recv_timeout(Duration::from_nanos(wake.saturating_sub(now).max(1_000))) {
                Ok(message) => self.take(message, &mut done)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if done.is_empty() => match &self.plan.virtual_time {
                    Some(time) => jump(time, stop),
                    None => std::thread::sleep(Duration::from_nanos(wake.saturating_sub(now))),
                },
                Err(RecvTimeoutError::Disconnected) => return Err(self.lost(waiting)),
            }
            while let Ok(message) = self.from.try_recv() {
                self.take(message, &mut done)?;
            }
            if self.aborted.is_some() && !self.stopper.is_stopped() {
                self.stopper.stop();
            }
        }
        let now = self.look();
        if begun && !ended {
            self.watch.sample(now, true, &self.over);
        }
        if interrupted && stop <= times.measure {
            return match self.aborted {
                Some(Abort { stream, why }) => Err(RunError::Aborted { stream, why }),
                None => Ok(None),
            };
        }
        Ok(Some(self.finish(times, stop, interrupted)))
    }
}

/// Moves virtual time, where no worker does it.
fn jump(time: &VirtualTime, at: u64) {
    let mut sleep = pin!(time.sleep_until(at));
    let waiting = sleep.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending();
    while waiting && time.now() < at && time.advance() {}
}
