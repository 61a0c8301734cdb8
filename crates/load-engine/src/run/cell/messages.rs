//! What workers tell, and the limits that are looked at when they do.

use super::{Abort, Cell};
use crate::{
    RunError,
    run::StreamProgress,
    worker::{Message, WindowPart},
};
use std::time::Duration;

impl Cell<'_> {
    pub(super) fn take(&mut self, message: Message, done: &mut [bool]) -> Result<(), RunError> {
        match message {
            Message::Window(part) => self.window(part),
            Message::Done { worker, feeds } => {
                done[worker] = true;
                for feed in feeds {
                    self.over[self.feeds[feed.feed]] = true;
                    let line = &mut self.lines[self.feeds[feed.feed]];
                    line.part.add(feed.part);
                    line.stopped_at = line.stopped_at.max(feed.stopped_at);
                    line.drained_at = line.drained_at.max(feed.drained_at);
                    line.sessions += feed.sessions;
                    line.probes.count = line.probes.count.max(feed.probes.count);
                    line.probes.calling += feed.probes.calling;
                    line.probes.engaged += feed.probes.engaged;
                    line.probes.reconnecting += feed.probes.reconnecting;
                }
            }
            Message::Aborted { worker } => {
                let stream =
                    self.workers[worker].first().map_or("", |s| self.lines[*s].stream.name()).to_string();
                self.abort(stream, "the overload policy stopped the run: no session was free".into());
            }
            Message::Broken { worker, why } => return Err(RunError::Worker { worker, why }),
            Message::Ready { .. } => {}
        }
        Ok(())
    }

    fn abort(&mut self, stream: String, why: String) {
        if self.aborted.is_none() {
            tracing::warn!(stream, "{why}");
            self.aborted = Some(Abort { stream, why });
        }
    }

    /// The limit on a stream's failures.
    pub(super) fn count_failures(&mut self) {
        let Some(limit) = self.plan.failure_limit else { return };
        let broken = (0..self.lines.len()).find(|number| self.watch.failures(*number) >= limit);
        if let Some(number) = broken {
            let (stream, n) = (self.lines[number].stream.name().to_string(), self.watch.failures(number));
            self.abort(stream, format!("{n} operations failed, and {limit} were the limit"));
        }
    }

    fn window(&mut self, part: WindowPart) {
        let number = self.feeds[part.feed];
        let in_flight = self.watch.in_flight(number);
        let line = &mut self.lines[number];
        if let Some(window) = line.windows.add(part).filter(|w| !w.drain) {
            let name = line.stream.name();
            let broken: Vec<_> = self
                .following
                .iter_mut()
                .filter_map(|f| f.breaks(name, window).then(|| (name.to_string(), f.limit.describe())))
                .collect();
            let stream = StreamProgress {
                name: line.stream.name().into(),
                succeeded_per_s: window.per_s,
                failed: window.failed,
                p95: window.p95_ns.map(Duration::from_nanos),
                in_flight,
            };
            let streams = &mut self.progress.streams;
            match streams.iter_mut().find(|s| s.name == stream.name) {
                Some(old) => *old = stream,
                None => streams.push(stream),
            }
            self.progress.elapsed = Duration::from_nanos(window.end_ns.saturating_sub(self.stage_start));
            self.report.send_replace(self.progress.clone());
            for (stream, why) in broken {
                self.abort(stream, why);
            }
        }
    }
}
