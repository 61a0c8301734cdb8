//! Which arrivals are one's own.

use crate::ConfigError;

/// Which arrivals are one's own: those whose number, modulo the number of slots, is one of one's own slots. Whatever
/// the split, the union of all shards is the whole and no arrival is in two.
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

    /// The share of worker `worker`, when slot `k` of `slots` lives on worker `k mod workers`: arrival `i` belongs to
    /// slot `i mod slots`, so that a worker with more sessions gets more arrivals.
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

impl Shard {
    /// Whether arrivals of this phase (their number modulo [`slots`](Shard::slots)) are one's own.
    #[inline]
    pub(super) fn owns(&self, phase: usize) -> bool {
        self.mine[phase]
    }

    pub(super) fn slots(&self) -> usize {
        self.mine.len()
    }
}
