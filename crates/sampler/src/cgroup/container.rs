//! What a container engine says of a container.

use super::account::{Account, Figures};
use crate::{parse::cgroup, system};
use load_core::{Readings, SourceError};
use serde_json::Value;
use std::time::Duration;

/// From the replies of a container engine (`GET /containers/ID/stats?stream=false&one-shot=true` of Docker and Podman) to
/// the series `container.NAME.*`, named as those of [`Cgroup`](crate::Cgroup), and `.received`, `.sent` (B/s).
///
/// Rates are differences between the replies that it was given: the engine's own (`precpu_stats`) are empty in a single
/// reply. A reply of nothing but zeros is refused, and the next one is compared with the last good one.
#[derive(Debug)]
pub struct ContainerAccount {
    account: Account,
    host_memory: Option<u64>,
}

impl ContainerAccount {
    /// For a container that the record calls `name`, on the machine that this process runs on.
    pub fn new(name: impl Into<String>) -> ContainerAccount {
        let root = crate::files::Root::system();
        ContainerAccount::on(name, system::cpus_online(&root), crate::environment::memory_bytes(&root))
    }

    fn on(name: impl Into<String>, cores: usize, host_memory: Option<u64>) -> ContainerAccount {
        ContainerAccount {
            account: Account::new(format!("container.{}", name.into()), cores as f64),
            host_memory,
        }
    }

    /// Adds what a reply says. `at` is when it was given, on any monotonic clock.
    ///
    /// # Errors
    /// [`SourceError::Failed`] when it is no such reply, or says nothing but zeros.
    pub fn take(&mut self, at: Duration, reply: &[u8], readings: &mut Readings) -> Result<(), SourceError> {
        let reply: Value = serde_json::from_slice(reply)
            .map_err(|e| SourceError::Failed(format!("{}: no stats: {e}", self.account.prefix)))?;
        self.account.take(at, &figures(&reply, self.host_memory), readings)?;
        self.account.counters.end();
        Ok(())
    }

    /// The container was restarted, as its engine says: the next reply is a first one.
    pub fn restarted(&mut self, readings: &mut Readings) {
        self.account.restarted(readings);
    }
}

fn figures(reply: &Value, host_memory: Option<u64>) -> Figures {
    let at = |path: &str| reply.pointer(path).and_then(Value::as_u64);
    let (read_bytes, written_bytes) = io(reply.pointer("/blkio_stats/io_service_bytes_recursive"));
    let network = |name: &str| -> Option<u64> {
        let interfaces = reply.get("networks")?.as_object()?;
        Some(interfaces.values().filter_map(|i| i.get(name)?.as_u64()).fold(0, u64::saturating_add))
    };
    // On a host of cgroup v1 `cache` is there and is what can be given back; of v2 it is `inactive_file`.
    let cache = at("/memory_stats/stats/cache");
    Figures {
        cpu_ns: at("/cpu_stats/cpu_usage/total_usage"),
        cpu_limit_cores: None,
        throttled_ns: at("/cpu_stats/throttling_data/throttled_time"),
        periods: at("/cpu_stats/throttling_data/periods"),
        throttled_periods: at("/cpu_stats/throttling_data/throttled_periods"),
        memory_usage: at("/memory_stats/usage"),
        memory_reclaimable: cache.or_else(|| at("/memory_stats/stats/inactive_file")),
        // Without a limit some engines say the memory of the host.
        memory_limit: at("/memory_stats/limit")
            .and_then(cgroup::real_limit)
            .filter(|limit| host_memory.is_none_or(|host| *limit < host)),
        memory_kills: None,
        read_bytes,
        written_bytes,
        received_bytes: network("rx_bytes"),
        sent_bytes: network("tx_bytes"),
        tasks: at("/pids_stats/current"),
    }
}

/// Sums over the devices; `null` when the engine does not know.
fn io(list: Option<&Value>) -> (Option<u64>, Option<u64>) {
    let Some(list) = list.and_then(Value::as_array) else { return (None, None) };
    let sum = |kind: &str| {
        list.iter()
            .filter(|entry| {
                entry.get("op").and_then(Value::as_str).is_some_and(|op| op.eq_ignore_ascii_case(kind))
            })
            .filter_map(|entry| entry.get("value")?.as_u64())
            .fold(0, u64::saturating_add)
    };
    (Some(sum("read")), Some(sum("write")))
}

#[cfg(test)]
#[path = "container_test.rs"]
mod tests;
