//! The arrivals of a schedule, whole or one worker's share of them.

use super::Schedule;
use crate::ConfigError;

/// One intended start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScheduledArrival {
    /// Its number in the whole schedule, from 0.
    pub index: u64,
    /// Nanoseconds from the start of the schedule.
    pub offset: u64,
}

/// Which arrivals are one's own: those whose number, modulo the number of slots, is one of one's own slots. Whatever the
/// split, the union of all shards is the whole and no arrival is in two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shard {
    mine: Vec<bool>,
}

impl Shard {
    /// All arrivals.
    pub fn whole() -> Shard {
        Shard { mine: vec![true] }
    }

    /// Arrivals `i` with `i mod n == index`: for one of `n` processes.
    ///
    /// # Errors
    /// When `index` is not below `n`.
    pub fn new(index: usize, n: usize) -> Result<Shard, ConfigError> {
        if index >= n {
            return Err(ConfigError::invalid(
                "shard.index",
                index,
                format!("below the number of shards, {n}"),
            ));
        }
        Ok(Shard { mine: (0..n).map(|i| i == index).collect() })
    }

    /// The share of worker `worker`, when slot `k` of `slots` lives on worker `k mod workers`: arrival `i` belongs to slot
    /// `i mod slots`, so that a worker with more sessions gets more arrivals.
    ///
    /// # Errors
    /// When `worker` is not below `workers`, or there are fewer slots than workers.
    pub fn of_worker(worker: usize, workers: usize, slots: usize) -> Result<Shard, ConfigError> {
        if worker >= workers || slots < workers {
            let text = format!("{worker} of {workers} with {slots} slots");
            return Err(ConfigError::invalid("shard.worker", text, "below the workers, and a slot for each"));
        }
        Ok(Shard { mine: (0..slots).map(|k| k % workers == worker).collect() })
    }
}

/// An iterator over the arrivals of a shard.
#[derive(Debug, Clone)]
pub struct Arrivals {
    schedule: Schedule,
    shard: Shard,
    next: u64,
    /// `next` modulo the slots, kept to spare a division an arrival.
    phase: usize,
}

impl Arrivals {
    pub(super) fn new(schedule: Schedule, shard: Shard) -> Arrivals {
        Arrivals { schedule, shard, next: 0, phase: 0 }
    }
}

impl Iterator for Arrivals {
    type Item = ScheduledArrival;

    fn next(&mut self) -> Option<ScheduledArrival> {
        loop {
            let index = self.next;
            self.next += 1;
            let mine = self.shard.mine[self.phase];
            self.phase += 1;
            if self.phase == self.shard.mine.len() {
                self.phase = 0;
            }
            if mine {
                return self.schedule.at(index).map(|offset| ScheduledArrival { index, offset });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_union_of_the_shards_is_the_whole() {
        let schedule = Schedule::ramp(5.0, 50.0, Duration::from_secs(4)).unwrap();
        let whole: Vec<_> = schedule.arrivals(Shard::whole()).collect();
        for (workers, slots) in [(1, 1), (2, 5), (3, 64), (64, 64)] {
            let mut all: Vec<_> = (0..workers)
                .flat_map(|w| schedule.arrivals(Shard::of_worker(w, workers, slots).unwrap()))
                .collect();
            all.sort_by_key(|a| a.index);
            assert_eq!(all, whole, "{workers} workers, {slots} slots");
        }
        assert!(Shard::new(3, 3).is_err() && Shard::of_worker(0, 2, 1).is_err());
    }
}
