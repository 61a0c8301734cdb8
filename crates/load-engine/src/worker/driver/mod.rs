//! The driver: releases arrivals, wakes in time, and sees a worker through its phase.

mod end;
mod start;

use super::{Control, Feed, FeedPlan, Hub, Message, Probes, Shared, Times, WorkerConfig};
use crate::pacer::Pacer;
use load_core::Clock;
use std::{rc::Rc, sync::mpsc::Sender};
use tokio::{sync::watch, task::JoinSet};

/// The driver wakes at least so often, to look for control, windows and the end.
const LONGEST_NAP_NS: u64 = 10_000_000;
/// Wake-ups are coalesced, so that the last arrivals of a phase may be noticed so long after its end and still start.
const END_GRACE_NS: u64 = 1_000_000;
/// What closing sessions may take beyond the drain limit.
const CLOSE_GRACE_NS: u64 = 1_000_000_000;

/// One stream on this worker.
struct Line {
    plan: FeedPlan,
    feed: Rc<Feed>,
    shared: Rc<Shared>,
    stopped_at: Option<u64>,
    drained_at: Option<u64>,
    /// When the last operation of a count was handed out.
    handed_out_at: Option<u64>,
    probes: Probes,
}

struct Driver {
    worker: usize,
    clock: Clock,
    pacer: Pacer,
    hub: Rc<Hub>,
    lines: Vec<Line>,
    tasks: JoinSet<()>,
    to: Sender<Message>,
    /// When to sample next; never in real time.
    next_probe: u64,
    /// When to measure the loop lag next.
    next_lag: u64,
}

/// Runs the worker to its end.
pub(super) async fn drive(config: WorkerConfig) {
    let (worker, to) = (config.index, config.to.clone());
    let broken = |why: String| drop(to.send(Message::Broken { worker, why }));
    let pacer = match Pacer::new(&config.clock) {
        Ok(pacer) => pacer,
        Err(error) => return broken(format!("no timer: {error}")),
    };
    let connect_timeout = config.connect_timeout;
    let mut control = config.control.clone();
    let mut driver = match Driver::new(config, pacer) {
        Ok(driver) => driver,
        Err(why) => return broken(why),
    };
    if !driver.connect(connect_timeout, &mut control).await {
        return;
    }
    let times = loop {
        match *control.borrow_and_update() {
            Control::Go(times) => break times,
            Control::Stop | Control::Quit => return driver.end(),
            Control::Wait => {}
        }
        if control.changed().await.is_err() {
            return;
        }
    };
    driver.lines.iter().for_each(|line| line.feed.set_times(times));
    driver.pacer.until(times.start).await;
    driver.lines.iter().for_each(|line| line.feed.go());
    driver.run(times, &mut control).await;
    driver.end();
}

impl Driver {
    async fn run(&mut self, mut times: Times, control: &mut watch::Receiver<Control>) {
        let hub = self.hub.clone();
        let mut give_up_at = u64::MAX;
        let mut told_abort = false;
        loop {
            let now = self.clock.now();
            let (due, gap) = self.hub.release(now);
            self.expand();
            self.sample(now, times);
            if now >= times.stop {
                // What was due in the last tick has just been handed to idle sessions, and may start.
                if now - times.stop < END_GRACE_NS && self.lines.iter().any(|l| l.stopped_at.is_none()) {
                    tokio::task::yield_now().await;
                }
                self.stop(now, times);
                give_up_at = give_up_at.min(times.stop.saturating_add(times.drain));
            } else {
                self.stop_counted(now, times);
                // An operation that hangs was given up with its count: its session is not waited for.
                if self.lines.iter().all(|l| l.stopped_at.is_some()) {
                    give_up_at = give_up_at.min(now);
                }
            }
            if self.hub.is_aborted() && !std::mem::replace(&mut told_abort, true) {
                let _ = self.to.send(Message::Aborted { worker: self.worker });
            }
            if self.lines.iter().all(|l| l.stopped_at.is_some()) {
                self.note_drained(now);
                if self.tasks.is_empty() || now >= give_up_at.saturating_add(CLOSE_GRACE_NS) {
                    return;
                }
                if now >= give_up_at && self.lines.iter().any(|l| l.drained_at.is_none()) {
                    return;
                }
            }
            // Sessions that were given something start now, before the driver pays for arming the timer.
            tokio::task::yield_now().await;
            if now >= self.next_lag {
                self.next_lag = now + LONGEST_NAP_NS;
                // Again, now that what was released has started: what a ready task waits for others.
                let before = self.clock.now();
                tokio::task::yield_now().await;
                self.note_lag(before, times);
            }
            let tick = self.pacer.tick(gap);
            let mut at = due.min(now + LONGEST_NAP_NS).min(self.next_probe.max(now + 1));
            if now < times.stop {
                at = at.min(times.stop);
            }
            let at = at.max(now + tick);
            tokio::select! { biased;
                () = self.pacer.until(at) => {}
                Some(_) = self.tasks.join_next() => {}
                () = hub.changed.notified() => {}
                changed = control.changed() => {
                    let told = *control.borrow_and_update();
                    if changed.is_err() || matches!(told, Control::Quit) {
                        return;
                    }
                    if matches!(told, Control::Stop) {
                        times.stop = times.stop.min(self.clock.now());
                        self.lines.iter().for_each(|l| l.feed.set_times(times));
                    }
                }
            }
        }
    }

    /// Opens the sessions that the policy `Expand` asked for.
    fn expand(&mut self) {
        for line in &self.lines {
            let wanted = line.feed.take_wanted();
            let have = line.feed.slots.borrow().len();
            (have..have + wanted).for_each(|k| Driver::spawn(&mut self.tasks, line, k));
        }
    }

    /// Virtual time runs too fast for the coordinator to sample, so the driver does.
    fn sample(&mut self, now: u64, times: Times) {
        if now < self.next_probe {
            return;
        }
        self.next_probe = now + LONGEST_NAP_NS;
        if now >= times.measure && now < times.stop {
            for line in &mut self.lines {
                line.probes.take([&*line.plan.probe]);
            }
        }
    }

    fn note_lag(&self, before: u64, times: Times) {
        let now = self.clock.now();
        if now >= times.measure && now < times.stop {
            for line in &self.lines {
                line.feed.recorder.borrow_mut().part.loop_lag.record(now - before);
            }
        }
    }
}
