//! Windows: what ended in each stretch of the phase. A worker hands each one over when it has ended, empty ones too, so that
//! the coordinator knows when a window is complete.

use super::Times;
use load_core::Histogram;
use std::sync::mpsc::Sender;

/// One window of one worker. A histogram is sent only when there is something in it.
#[derive(Debug)]
pub(crate) struct WindowPart {
    /// Which feed of the cell it is from.
    pub(crate) feed: usize,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) drain: bool,
    pub(crate) failed: u64,
    pub(crate) response: Option<Box<Histogram>>,
}

#[derive(Debug)]
pub(crate) struct Windows {
    feed: usize,
    width: u64,
    times: Times,
    start: u64,
    end: u64,
    failed: u64,
    response: Box<Histogram>,
    to: Sender<crate::worker::Message>,
}

impl Windows {
    pub(crate) fn new(feed: usize, width: u64, to: Sender<crate::worker::Message>) -> Windows {
        let times = Times { start: 0, measure: u64::MAX, stop: u64::MAX, drain: 0 };
        Windows { feed, width, times, start: 0, end: u64::MAX, failed: 0, response: Box::default(), to }
    }

    /// Sets the grid; a stop that comes earlier than planned ends the current window.
    pub(crate) fn set_times(&mut self, times: Times) {
        if self.times.measure == u64::MAX {
            self.start = times.measure;
        }
        self.times = times;
        self.end = self.end_of(self.start);
    }

    fn end_of(&self, start: u64) -> u64 {
        let base = if start >= self.times.stop { self.times.stop } else { self.times.measure };
        let end = base + ((start - base) / self.width + 1) * self.width;
        if start < self.times.stop { end.min(self.times.stop) } else { end }
    }

    #[inline]
    pub(crate) fn succeeded(&mut self, ended: u64, response: u64, total: &mut Histogram) {
        if ended >= self.end {
            self.roll(ended, total);
        }
        self.response.record(response);
    }

    pub(crate) fn failed(&mut self, ended: u64, total: &mut Histogram) {
        if ended >= self.end {
            self.roll(ended, total);
        }
        self.failed += 1;
    }

    /// Hands over every window that has ended by `now`.
    pub(crate) fn roll(&mut self, now: u64, total: &mut Histogram) {
        while now >= self.end {
            self.hand_over(total);
            self.start = self.end;
            self.end = self.end_of(self.start);
        }
    }

    /// Hands over the last one.
    pub(crate) fn finish(&mut self, total: &mut Histogram) {
        if self.times.measure != u64::MAX {
            self.hand_over(total);
        }
    }

    fn hand_over(&mut self, total: &mut Histogram) {
        let response = (!self.response.is_empty()).then(|| {
            total.add(&self.response);
            std::mem::take(&mut self.response)
        });
        let part = WindowPart {
            feed: self.feed,
            start: self.start,
            end: self.end,
            drain: self.start >= self.times.stop,
            failed: std::mem::take(&mut self.failed),
            response,
        };
        // The coordinator is gone only when nobody wants the result.
        let _ = self.to.send(super::Message::Window(part));
    }
}
