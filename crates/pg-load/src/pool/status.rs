//! The state of a workload's pools as a source of readings.

use crate::settings::Found;
use load_core::{Readings, Source, SourceError};
use std::sync::{Arc, PoisonError};

/// The pools of all workers of a workload, together; see [`Postgres::pool_status`](crate::Postgres::pool_status). It asks
/// no server, and counts what is there at the moment of reading.
///
/// | reading | unit | |
/// |---|---|---|
/// | `postgres.pool.size` | connections | connections that are open or being opened |
/// | `postgres.pool.lent` | connections | of those, in use |
/// | `postgres.pool.waiting` | sessions | sessions that wait for one |
#[derive(Debug)]
pub struct PoolStatus(pub(crate) Arc<Found>);

impl Source for PoolStatus {
    fn origin(&self) -> String {
        "deadpool".into()
    }

    async fn read(&mut self, readings: &mut Readings) -> Result<(), SourceError> {
        let mut pools = self.0.pools.lock().unwrap_or_else(PoisonError::into_inner);
        pools.retain(|pool| pool.upgrade().is_some());
        let mut sums = [0; 3];
        for status in pools.iter().filter_map(|pool| Some(pool.upgrade()?.status())) {
            let lent = status.size.saturating_sub(status.available);
            for (sum, value) in sums.iter_mut().zip([status.size, lent, status.waiting]) {
                *sum += value;
            }
        }
        let names = [("size", "connections"), ("lent", "connections"), ("waiting", "sessions")];
        for ((name, unit), value) in names.into_iter().zip(sums) {
            readings.value(format!("postgres.pool.{name}"), unit, value as f64);
        }
        Ok(())
    }
}
