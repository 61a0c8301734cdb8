//! Open loop: arrivals that are due are released, to an idle session or by the overload policy.

use super::{
    Arrival, Feed, Recorder, Times,
    feed::{Policy, State},
};
use load_core::{Arrivals, Schedule, Shard};
use std::time::Duration;

/// The arrivals that are still to come: those of the warm-up, at the schedule's initial rate, then the schedule's.
#[derive(Debug)]
pub(crate) struct Pending {
    schedule: Schedule,
    shard: Shard,
    seed: u64,
    arrivals: Option<Arrivals>,
    /// The share of this worker in the rate.
    share: f64,
    /// Arrivals of the whole schedule in the measured phase, when their number ends it.
    limit: Option<u64>,
    in_warmup: bool,
    base: u64,
    next: Option<Next>,
}

#[derive(Debug, Clone, Copy)]
struct Next {
    at: u64,
    seq: u64,
    measured: bool,
}

impl Pending {
    pub(crate) fn new(
        schedule: Schedule,
        shard: Shard,
        seed: u64,
        share: f64,
        limit: Option<u64>,
    ) -> Pending {
        Pending { schedule, shard, seed, arrivals: None, share, limit, in_warmup: false, base: 0, next: None }
    }

    pub(super) fn start(&mut self, times: Times) {
        // A schedule that begins at nothing has no warm-up.
        match self.schedule.warmup().filter(|_| times.measure > times.start) {
            Some(warmup) => {
                (self.in_warmup, self.base) = (true, times.start);
                // Another seed, so that the measured arrivals are not those of the warm-up again.
                self.arrivals = Some(warmup.arrivals(self.shard.clone()).seeded(!self.seed));
                self.advance(times);
            }
            None => self.start_measuring(times),
        }
    }

    fn start_measuring(&mut self, times: Times) {
        (self.in_warmup, self.base) = (false, times.measure);
        self.arrivals = Some(self.schedule.arrivals(self.shard.clone()).seeded(self.seed));
        self.advance(times);
    }

    /// The rate of an adjustable schedule may have been changed since its next arrival was computed.
    #[inline]
    fn revise(&mut self, now: u64) {
        if self.in_warmup || now < self.base {
            return;
        }
        if let Some(revised) = self.arrivals.as_mut().and_then(|a| a.revise(now - self.base)) {
            let at = self.base.saturating_add(revised.offset);
            self.next = Some(Next { at, seq: revised.index, measured: true });
        }
    }

    /// Computes the next arrival.
    #[inline]
    fn advance(&mut self, times: Times) {
        self.next = None;
        let Some(arrival) = self.arrivals.as_mut().and_then(Iterator::next) else { return };
        let at = self.base.saturating_add(arrival.offset);
        if self.in_warmup {
            if at >= times.measure {
                return self.start_measuring(times);
            }
        } else if self.limit.is_some_and(|limit| arrival.index >= limit) {
            return;
        }
        self.next = Some(Next { at, seq: arrival.index, measured: !self.in_warmup });
    }

    /// Whether no arrival will come any more.
    pub(super) fn is_exhausted(&self) -> bool {
        self.next.is_none() && self.arrivals.is_some()
    }

    /// Whether the number of arrivals ends the phase.
    pub(super) fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    /// The arrivals before `stop` that the worker had no time to release: scheduled, and never started.
    pub(super) fn give_up(&mut self, times: Times, now: u64, recorder: &mut Recorder) {
        while let Some(next) = self.next.filter(|next| next.at < times.stop) {
            recorder.scheduled(next.measured);
            let arrival = Arrival {
                intended: next.at,
                released: now,
                seq: next.seq,
                measured: next.measured,
                handed: false,
            };
            recorder.unfinished(&arrival, now);
            self.advance(times);
        }
        self.next = None;
    }

    /// The rate of this worker that a capped catch-up is a multiple of, per second: the present one, else the one at
    /// which `arrival` was due, else the mean of the arrivals up to it. 0 when there is none of them.
    fn catch_up_rate(&self, arrival: &Arrival, now: u64) -> f64 {
        let offset = |at: u64| if self.in_warmup { 0 } else { at.saturating_sub(self.base) };
        let rate = |at: u64| self.schedule.rate_at(Duration::from_nanos(offset(at)));
        let mean = || match offset(arrival.intended) {
            0 => 0.0,
            ns => (arrival.seq + 1) as f64 * 1e9 / ns as f64,
        };
        let known = [now, arrival.intended].into_iter().map(rate).find(|rate| *rate > 0.0);
        known.unwrap_or_else(mean) * self.share
    }
}

impl Feed {
    /// Releases what is due at `now` and answers when to come again, and the gap between the last two arrivals.
    pub(super) fn release(&self, now: u64) -> Option<(u64, u64)> {
        let mut guard = self.state.borrow_mut();
        let state = &mut *guard;
        if state.stopped || !state.go || state.pending.is_none() {
            return None;
        }
        let times = self.times.get();
        let mut gap = u64::MAX;
        let mut last_at = None;
        self.start_waiting(state, now);
        if let Some(pending) = &mut state.pending {
            pending.revise(now);
        }
        loop {
            let pending = state.pending.as_mut().expect("an open loop");
            let Some(next) = pending.next.filter(|next| next.at < times.stop) else { break };
            if let Some(last) = last_at.replace(next.at) {
                gap = next.at - last;
            }
            if next.at > now {
                let again = if state.waiting.is_empty() || state.not_before <= now {
                    next.at
                } else {
                    next.at.min(state.not_before)
                };
                return Some((again, gap));
            }
            pending.advance(times);
            let arrival = Arrival {
                intended: next.at,
                released: now,
                seq: next.seq,
                measured: next.measured,
                handed: false,
            };
            {
                let mut recorder = self.recorder.borrow_mut();
                recorder.scheduled(next.measured);
                recorder.late(&arrival);
            }
            self.place(state, arrival, now);
        }
        // All are released; waiting ones may still be held back by a capped catch-up.
        (!state.waiting.is_empty() && state.not_before > now).then_some((state.not_before, gap))
    }

    /// A capped catch-up: hands waiting arrivals to sessions that became idle meanwhile.
    fn start_waiting(&self, state: &mut State, now: u64) {
        // Those that waited until the end of the phase do not start after it.
        if now >= self.times.get().stop {
            return;
        }
        while !state.waiting.is_empty() && !state.idle.is_empty() && now >= state.not_before {
            let (Some(arrival), Some(slot)) = (state.waiting.pop_front(), state.idle.pop_front()) else {
                return;
            };
            self.paced(state, &arrival, now);
            slot.give(arrival);
        }
    }

    fn place(&self, state: &mut State, arrival: Arrival, now: u64) {
        // Who waits comes first.
        if state.waiting.is_empty()
            && let Some(slot) = state.idle.pop_front()
        {
            self.paced(state, &arrival, now);
            return slot.give(Arrival { handed: true, ..arrival });
        }
        match self.policy {
            Policy::Queue { max_waiting, .. } => self.wait(state, arrival, max_waiting),
            Policy::SkipLate { after, max_waiting } => {
                // Who is too late now will be so at its turn: a server that is stuck for hours takes no memory.
                while state.waiting.len() >= max_waiting
                    && let Some(first) = state.waiting.front()
                    && now.saturating_sub(first.intended) > after
                {
                    self.recorder.borrow_mut().skipped(first);
                    state.waiting.pop_front();
                }
                self.wait(state, arrival, max_waiting);
            }
            Policy::Expand { max_sessions, max_waiting } => {
                if state.sessions + state.wanted < max_sessions {
                    state.wanted += 1;
                }
                self.wait(state, arrival, max_waiting);
            }
            Policy::Drop => self.recorder.borrow_mut().dropped(&arrival),
            Policy::Abort => {
                self.recorder.borrow_mut().dropped(&arrival);
                self.hub.abort();
            }
        }
    }

    /// One more that waits, or is dropped.
    fn wait(&self, state: &mut State, arrival: Arrival, max_waiting: usize) {
        if state.waiting.len() < max_waiting {
            state.waiting.push_back(arrival);
        } else {
            self.recorder.borrow_mut().dropped(&arrival);
        }
    }

    /// With a capped catch-up, when the next waiting arrival may start: one interval of the capped rate after this one. Up to
    /// a millisecond may be made good, since the worker wakes in ticks.
    pub(super) fn paced(&self, state: &mut State, arrival: &Arrival, now: u64) {
        let Policy::Queue { catch_up: Some(ratio), .. } = self.policy else { return };
        let Some(pending) = &state.pending else { return };
        let rate = pending.catch_up_rate(arrival, now) * ratio;
        if rate > 0.0 {
            let from = state.not_before.max(now.saturating_sub(1_000_000));
            state.not_before = from + (1e9 / rate) as u64;
        }
    }
}
