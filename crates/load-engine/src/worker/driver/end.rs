//! How streams end on a worker: by time, by count, and when the books are closed.

use super::Driver;
use crate::worker::{FeedDone, Message, Times};

impl Driver {
    pub(super) fn stop(&mut self, now: u64, times: Times) {
        for line in &mut self.lines {
            if line.stopped_at.is_none() {
                line.feed.stop(now);
                line.stopped_at = Some(times.stop);
            }
            line.feed.recorder.borrow_mut().roll(now);
        }
    }

    /// Stops the streams whose count has been handed out, when the last operation has ended or the drain limit is over.
    pub(super) fn stop_counted(&mut self, now: u64, times: Times) {
        for line in &mut self.lines {
            line.feed.recorder.borrow_mut().roll(now);
            if line.stopped_at.is_some() || !line.feed.is_handed_out() {
                continue;
            }
            let since = *line.handed_out_at.get_or_insert(now);
            if line.plan.probe.calling() == 0 || now >= since.saturating_add(times.drain) {
                line.feed.stop(now);
                line.feed.give_up_in_flight(now);
                (line.stopped_at, line.drained_at) = (Some(now), Some(now));
            }
        }
    }

    pub(super) fn note_drained(&mut self, now: u64) {
        for line in self.lines.iter_mut().filter(|l| l.drained_at.is_none()) {
            if line.plan.probe.calling() == 0 {
                line.drained_at = Some(now);
            }
        }
    }

    /// Closes the books: what is still in flight is censored, not forgotten.
    pub(super) fn end(mut self) {
        let now = self.clock.now();
        let mut feeds = Vec::new();
        for line in self.lines.drain(..) {
            line.feed.stop(now);
            line.feed.give_up_in_flight(now);
            let part = line.feed.recorder.borrow_mut().finish(&line.shared.names.all());
            feeds.push(FeedDone {
                feed: line.plan.feed,
                part,
                drained_at: line.drained_at.unwrap_or(now),
                stopped_at: line.stopped_at.unwrap_or(now),
                probes: line.probes,
                sessions: line.feed.slots.borrow().len() as u64,
            });
        }
        let _ = self.to.send(Message::Done { worker: self.worker, feeds });
    }
}
