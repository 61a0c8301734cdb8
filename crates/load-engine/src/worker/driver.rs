//! The driver: releases arrivals, wakes in time, and sees a worker through its phase.

use super::{
    Control, Feed, FeedDone, FeedPlan, Hub, Message, Probes, Recorder, Shared, Times, WorkerConfig,
    feed::{FeedConfig, share},
    release::Pending,
    windows::Windows,
};
use crate::{pacer::Pacer, seed};
use load_core::{Clock, Names, SessionId, Shard};
use sampler::ThreadClock;
use std::{cell::Cell, rc::Rc, sync::mpsc::Sender, time::Duration};
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
    fn new(config: WorkerConfig, pacer: Pacer) -> Result<Driver, String> {
        let hub = Rc::new(Hub::new(config.clock.clone()));
        let mut lines = Vec::new();
        for plan in config.feeds {
            let sessions = plan.load.session_count();
            let pending = match plan.load.schedule() {
                None => None,
                Some(schedule) => {
                    let shard = Shard::of_worker(plan.worker, plan.workers, sessions)
                        .map_err(|error| error.to_string())?;
                    let own = share(sessions, plan.worker, plan.workers) as f64 / sessions as f64;
                    Some(Pending::new(schedule.clone(), shard, plan.seed, own, plan.count))
                }
            };
            let closed_quota = pending.is_none().then_some(plan.count).flatten();
            let feed_config = FeedConfig {
                clock: config.clock.clone(),
                overload: plan.load.overload_policy(),
                pending,
                quota: closed_quota.map(|n| share(n as usize, plan.worker, plan.workers) as u64),
                numbering: (plan.worker as u64, plan.workers as u64),
                worker: plan.worker,
                workers: plan.workers,
            };
            let recorder = Recorder::new(
                plan.stream.name().into(),
                plan.load.is_open(),
                config.classifiers.clone(),
                plan.warned.clone(),
                Windows::new(plan.feed, config.window_ns, config.to.clone()),
            );
            let feed = Rc::new(Feed::new(feed_config, hub.clone(), plan.probe.clone(), recorder));
            hub.add(&feed);
            let shared = Rc::new(Shared {
                feed: feed.clone(),
                names: Rc::new(Names::default()),
                connect_timeout: config.connect_timeout,
                settled: Cell::new(0),
                first_failure: Cell::new(None),
            });
            lines.push(Line {
                plan,
                feed,
                shared,
                stopped_at: None,
                drained_at: None,
                handed_out_at: None,
                probes: Probes::default(),
            });
        }
        let virtual_time = matches!(config.clock, Clock::Virtual(_));
        Ok(Driver {
            worker: config.index,
            clock: config.clock,
            pacer,
            hub,
            lines,
            tasks: JoinSet::new(),
            to: config.to,
            next_probe: if virtual_time { 0 } else { u64::MAX },
            next_lag: 0,
        })
    }

    /// Starts session `k` of a line.
    fn spawn(tasks: &mut JoinSet<()>, line: &Line, k: usize) {
        let plan = &line.plan;
        let index = k * plan.workers + plan.worker;
        let id =
            SessionId::new(index, plan.load.session_count(), plan.worker, seed::mix(plan.seed, index as u64));
        tasks.spawn_local(plan.stream.session(id, line.shared.clone()));
    }

    /// Opens all sessions; answers whether the worker goes on.
    async fn connect(&mut self, limit: Duration, control: &mut watch::Receiver<Control>) -> bool {
        for line in &self.lines {
            let own = share(line.plan.load.session_count(), line.plan.worker, line.plan.workers);
            (0..own).for_each(|k| Driver::spawn(&mut self.tasks, line, k));
        }
        let wanted: usize = self
            .lines
            .iter()
            .map(|l| share(l.plan.load.session_count(), l.plan.worker, l.plan.workers))
            .sum();
        let hub = self.hub.clone();
        // Each attempt has the limit as its own; the margin is for many sessions that take turns.
        let deadline = hub.over(limit + Duration::from_secs(1));
        tokio::pin!(deadline);
        while self.lines.iter().map(|l| l.shared.settled.get()).sum::<usize>() < wanted {
            tokio::select! { biased;
                () = hub.changed.notified() => {}
                changed = control.changed() => {
                    if changed.is_err() || matches!(*control.borrow(), Control::Stop | Control::Quit) {
                        return false;
                    }
                }
                () = &mut deadline => break,
            }
        }
        let failures = self.lines.iter().filter_map(|l| Some((l.plan.feed, l.shared.first_failure.take()?)));
        let (failures, thread) = (failures.collect(), ThreadClock::current());
        self.to.send(Message::Ready { worker: self.worker, thread, failures }).is_ok()
    }

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

    fn stop(&mut self, now: u64, times: Times) {
        for line in &mut self.lines {
            if line.stopped_at.is_none() {
                line.feed.stop(now);
                line.stopped_at = Some(times.stop);
            }
            line.feed.recorder.borrow_mut().roll(now);
        }
    }

    /// Stops the streams whose count has been handed out, when the last operation has ended or the drain limit is over.
    fn stop_counted(&mut self, now: u64, times: Times) {
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

    fn note_drained(&mut self, now: u64) {
        for line in self.lines.iter_mut().filter(|l| l.drained_at.is_none()) {
            if line.plan.probe.calling() == 0 {
                line.drained_at = Some(now);
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

    /// Closes the books: what is still in flight is censored, not forgotten.
    fn end(mut self) {
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
