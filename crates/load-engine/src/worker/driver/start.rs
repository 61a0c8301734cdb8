//! Setting a worker up: its feeds, and its sessions until each has connected or failed to.

use super::{Driver, Line};
use crate::{
    pacer::Pacer,
    seed,
    worker::{
        Control, Feed, Hub, Message, Probes, Recorder, Shared, WorkerConfig,
        feed::{FeedConfig, share},
        release::Pending,
        windows::Windows,
    },
};
use load_core::{Clock, Names, SessionId, Shard};
use sampler::ThreadClock;
use std::{cell::Cell, rc::Rc, time::Duration};
use tokio::{sync::watch, task::JoinSet};

impl Driver {
    pub(super) fn new(config: WorkerConfig, pacer: Pacer) -> Result<Driver, String> {
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
    pub(super) fn spawn(tasks: &mut JoinSet<()>, line: &Line, k: usize) {
        let plan = &line.plan;
        let index = k * plan.workers + plan.worker;
        let id =
            SessionId::new(index, plan.load.session_count(), plan.worker, seed::mix(plan.seed, index as u64));
        tasks.spawn_local(plan.stream.session(id, line.shared.clone()));
    }

    /// Opens all sessions; answers whether the worker goes on.
    pub(super) async fn connect(&mut self, limit: Duration, control: &mut watch::Receiver<Control>) -> bool {
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
}
