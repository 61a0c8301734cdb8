//! The end of a cell: what its workers measured, in one.

use super::{Cell, CellDone, StreamDone};
use crate::{run::watch::Shares, worker::Times};

impl Cell<'_> {
    pub(super) fn finish(self, times: Times, stop: u64, interrupted: bool) -> CellDone {
        let virtual_time = self.plan.virtual_time.is_some();
        let streams = self
            .lines
            .into_iter()
            .enumerate()
            .map(|(number, line)| {
                // A stream that was stopped with the run has the run's stop; one that a count ended has its own.
                let stopped_at = line.stopped_at.min(times.stop);
                StreamDone {
                    windows: line.windows.finish(stopped_at),
                    probes: if virtual_time { line.probes } else { self.watch.probes(number) },
                    open_most: self.watch.open_most.get(number).copied().unwrap_or(0),
                    sessions: line.sessions,
                    open_at_start: match self.watch.open_at_start.get(number) {
                        Some(open) => *open,
                        None => line.part.connects_ok.min(line.load.session_count() as u64),
                    },
                    stream: line.stream,
                    load: line.load,
                    workers: line.workers,
                    part: line.part,
                    stopped_at,
                    drained_at: line.drained_at,
                }
            })
            .collect();
        let shares = if virtual_time { Shares::default() } else { self.watch.shares() };
        let (aborted, gaps) = (self.aborted, self.gaps.found);
        CellDone { times, stop, shares, streams, interrupted, aborted, gaps }
    }
}
