//! The operations of one stream on one worker: what is due, what waits, and which sessions are idle.

use super::{Arrival, Hub, Probe, Recorder, Times, release::Pending};
use load_core::{Clock, MAX_WAITING, Overload};
use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    future::poll_fn,
    rc::Rc,
    sync::Arc,
    task::{Poll, Waker},
};
use tokio::sync::Notify;

/// One session's place. What it was given and what it has in flight stand here, so that a panic, the drain limit and the
/// count of what is in flight need no work per operation.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    given: Cell<Option<Arrival>>,
    pub(crate) in_flight: Cell<Option<(Arrival, u64)>>,
    waker: RefCell<Option<Waker>>,
    parked: Cell<bool>,
}

impl Slot {
    pub(super) fn wake(&self) {
        self.parked.set(false);
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }

    pub(super) fn give(&self, arrival: Arrival) {
        self.given.set(Some(arrival));
        self.wake();
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Feed {
    pub(crate) clock: Clock,
    pub(crate) hub: Rc<Hub>,
    pub(crate) probe: Arc<Probe>,
    pub(crate) recorder: RefCell<Recorder>,
    pub(crate) times: Cell<Times>,
    pub(super) state: RefCell<State>,
    /// All slots, those of sessions that were added too.
    pub(crate) slots: RefCell<Vec<Rc<Slot>>>,
    /// Wakes sessions that wait before they connect again.
    pub(super) stopping: Notify,
    pub(super) policy: Policy,
    open: bool,
}

/// The overload policy with its limits split to this worker.
#[derive(Debug, Clone)]
pub(super) enum Policy {
    Queue { max_waiting: usize, catch_up: Option<f64> },
    Drop,
    SkipLate { after: u64, max_waiting: usize },
    Expand { max_sessions: usize, max_waiting: usize },
    Abort,
}

/// How a feed is set up.
#[derive(Debug)]
pub(crate) struct FeedConfig<'a> {
    pub(crate) clock: Clock,
    pub(crate) overload: &'a Overload,
    /// The open loop's arrivals; `None` in a closed loop.
    pub(crate) pending: Option<Pending>,
    /// Operations of the measured phase, when their number ends it (closed loop).
    pub(crate) quota: Option<u64>,
    /// First number and step of the operations' numbers in a closed loop.
    pub(crate) numbering: (u64, u64),
    pub(crate) worker: usize,
    pub(crate) workers: usize,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) pending: Option<Pending>,
    pub(super) waiting: VecDeque<Arrival>,
    pub(super) idle: VecDeque<Rc<Slot>>,
    /// Started: sessions may take operations.
    pub(super) go: bool,
    /// Nothing starts any more.
    pub(super) stopped: bool,
    pub(super) sessions: usize,
    /// Sessions to add (`Expand`).
    pub(super) wanted: usize,
    /// Not before this may the next waiting arrival start (a capped catch-up).
    pub(super) not_before: u64,
    quota: Option<u64>,
    seq: u64,
    seq_step: u64,
}

/// The share of worker `i` of `n` in a limit: quotient and remainder.
pub(super) fn share(limit: usize, i: usize, n: usize) -> usize {
    limit / n + usize::from(i < limit % n)
}

impl Feed {
    pub(crate) fn new(config: FeedConfig<'_>, hub: Rc<Hub>, probe: Arc<Probe>, recorder: Recorder) -> Feed {
        let split = |limit: usize| share(limit, config.worker, config.workers);
        let policy = match *config.overload {
            Overload::Queue { max_waiting, catch_up, .. } => {
                Policy::Queue { max_waiting: split(max_waiting), catch_up }
            }
            Overload::SkipLate { after, .. } => {
                Policy::SkipLate { after: after.as_nanos() as u64, max_waiting: split(MAX_WAITING) }
            }
            Overload::Expand { max_sessions, .. } => {
                Policy::Expand { max_sessions: split(max_sessions), max_waiting: split(MAX_WAITING) }
            }
            Overload::Abort => Policy::Abort,
            _ => Policy::Drop,
        };
        let open = config.pending.is_some();
        let state = State {
            pending: config.pending,
            waiting: VecDeque::with_capacity(if open { 1024 } else { 0 }),
            idle: VecDeque::new(),
            go: false,
            stopped: false,
            sessions: 0,
            wanted: 0,
            not_before: 0,
            quota: config.quota,
            seq: config.numbering.0,
            seq_step: config.numbering.1,
        };
        let times = Times { start: u64::MAX, measure: u64::MAX, stop: u64::MAX, drain: 0 };
        Feed {
            clock: config.clock,
            hub,
            probe,
            recorder: RefCell::new(recorder),
            times: Cell::new(times),
            state: RefCell::new(state),
            slots: RefCell::default(),
            stopping: Notify::new(),
            policy,
            open,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// A place for one more session.
    pub(crate) fn add_slot(&self) -> Rc<Slot> {
        let slot = Rc::new(Slot::default());
        self.slots.borrow_mut().push(slot.clone());
        self.state.borrow_mut().sessions += 1;
        slot
    }

    /// Sets the times, or an earlier stop.
    pub(crate) fn set_times(&self, times: Times) {
        self.times.set(times);
        self.recorder.borrow_mut().set_times(times);
    }

    /// Sessions may take operations from now on.
    pub(crate) fn go(&self) {
        let mut state = self.state.borrow_mut();
        state.go = true;
        if let Some(pending) = &mut state.pending {
            pending.start(self.times.get());
        } else {
            state.idle.drain(..).for_each(|slot| slot.wake());
        }
    }

    /// Nothing starts any more: idle sessions are told, and what waits is given up.
    pub(crate) fn stop(&self, now: u64) {
        let mut state = self.state.borrow_mut();
        if std::mem::replace(&mut state.stopped, true) {
            return;
        }
        let mut recorder = self.recorder.borrow_mut();
        if let Some(pending) = &mut state.pending {
            pending.give_up(self.times.get(), now, &mut recorder);
        }
        state.waiting.drain(..).for_each(|arrival| recorder.unfinished(&arrival, now));
        for slot in self.slots.borrow().iter() {
            // Handed over but not taken yet: it was never sent.
            if let Some(arrival) = slot.given.take() {
                recorder.unfinished(&arrival, now);
            }
            slot.wake();
        }
        state.idle.clear();
        self.stopping.notify_waiters();
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.state.borrow().stopped
    }

    /// Sessions to add, and the number of the first.
    pub(crate) fn take_wanted(&self) -> usize {
        std::mem::take(&mut self.state.borrow_mut().wanted)
    }

    /// The next operation of a session; `None` when there is none any more. `now` is the time that the session has just
    /// read, 0 for none: whoever has read the clock releases what is due, on the whole worker.
    #[inline]
    pub(crate) async fn next(&self, slot: &Rc<Slot>, now: u64) -> Option<Arrival> {
        if now >= self.hub.due() {
            self.hub.release(now);
        }
        poll_fn(|cx| {
            if let Some(arrival) = slot.given.take() {
                return Poll::Ready(Some(arrival));
            }
            let mut state = self.state.borrow_mut();
            if state.stopped {
                return Poll::Ready(None);
            }
            if state.go {
                if !self.open {
                    return Poll::Ready(self.next_closed(&mut state));
                }
                if let Some(arrival) = self.next_waiting(&mut state) {
                    return Poll::Ready(Some(arrival));
                }
            }
            *slot.waker.borrow_mut() = Some(cx.waker().clone());
            if !slot.parked.replace(true) {
                state.idle.push_back(slot.clone());
            }
            Poll::Pending
        })
        .await
    }

    /// Closed loop: the next operation is meant to start now.
    #[inline]
    fn next_closed(&self, state: &mut State) -> Option<Arrival> {
        let now = self.clock.now();
        let times = self.times.get();
        if now >= times.stop {
            return None;
        }
        let measured = now >= times.measure;
        if measured && let Some(quota) = &mut state.quota {
            if *quota == 0 {
                self.hub.exhausted();
                return None;
            }
            *quota -= 1;
        }
        let seq = state.seq;
        state.seq += state.seq_step;
        self.recorder.borrow_mut().scheduled(measured);
        Some(Arrival { intended: now, released: now, seq, measured, handed: false })
    }

    /// Open loop: the first of those that wait, as far as the policy lets it start.
    fn next_waiting(&self, state: &mut State) -> Option<Arrival> {
        if state.waiting.is_empty() {
            return None;
        }
        let now = self.clock.now();
        if now < state.not_before || now >= self.times.get().stop {
            return None;
        }
        while let Some(arrival) = state.waiting.pop_front() {
            if let Policy::SkipLate { after, .. } = self.policy
                && now.saturating_sub(arrival.intended) > after
            {
                self.recorder.borrow_mut().skipped(&arrival);
                continue;
            }
            self.paced(state, &arrival, now);
            return Some(arrival);
        }
        None
    }

    /// Whether every operation of the phase has been started, when their number ends it.
    pub(crate) fn is_handed_out(&self) -> bool {
        let state = self.state.borrow();
        match &state.pending {
            Some(pending) => {
                let all_released = pending.is_limited() && pending.is_exhausted() && state.waiting.is_empty();
                all_released && self.slots.borrow().iter().all(|slot| slot.given.get().is_none())
            }
            // A share of nothing is no end of the warm-up.
            None => state.quota == Some(0) && self.clock.now() >= self.times.get().measure,
        }
    }

    /// Operations in flight, and what is known of them, for the end of the books.
    pub(crate) fn give_up_in_flight(&self, now: u64) {
        let mut recorder = self.recorder.borrow_mut();
        for slot in self.slots.borrow().iter() {
            if let Some((arrival, started)) = slot.in_flight.take() {
                recorder.in_flight(started, now);
                if !arrival.measured {
                    recorder.part.carried_in += 1;
                }
                recorder.unfinished(&arrival, now);
                self.probe.call_ends();
            }
        }
    }
}
