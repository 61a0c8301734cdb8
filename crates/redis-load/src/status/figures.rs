//! Which fields of INFO become which readings.

use super::info::Info;
use load_core::Readings;

/// As they are: reading, unit, field.
const GAUGES: [(&str, &str, &str); 13] = [
    ("clients", "clients", "connected_clients"),
    ("clients.blocked", "clients", "blocked_clients"),
    ("memory.used", "B", "used_memory"),
    ("memory.resident", "B", "used_memory_rss"),
    ("memory.fragmentation", "1", "mem_fragmentation_ratio"),
    ("keys.evicted.total", "keys", "evicted_keys"),
    ("keys.expired.total", "keys", "expired_keys"),
    ("persistence.changes", "changes", "rdb_changes_since_last_save"),
    ("persistence.saving", "1", "rdb_bgsave_in_progress"),
    ("persistence.rewriting", "1", "aof_rewrite_in_progress"),
    ("persistence.aof_size", "B", "aof_current_size"),
    ("replication.replicas", "replicas", "connected_slaves"),
    ("replication.link_down", "s", "master_link_down_since_seconds"),
];

/// By what they grew in a second: reading, unit, field.
const COUNTERS: [(&str, &str, &str); 9] = [
    ("commands", "1/s", "total_commands_processed"),
    ("connections.received", "1/s", "total_connections_received"),
    ("connections.rejected", "1/s", "rejected_connections"),
    ("keys.evicted", "1/s", "evicted_keys"),
    ("keys.expired", "1/s", "expired_keys"),
    ("keyspace.hits", "1/s", "keyspace_hits"),
    ("keyspace.misses", "1/s", "keyspace_misses"),
    ("network.in", "B/s", "total_net_input_bytes"),
    ("network.out", "B/s", "total_net_output_bytes"),
];

pub(super) fn tell_gauges(info: &Info, prefix: &str, readings: &mut Readings) {
    for (name, unit, field) in GAUGES {
        if let Some(value) = info.number(field) {
            readings.value(format!("{prefix}.{name}"), unit, value);
        }
    }
    if let Some(limit) = info.number("maxmemory").filter(|limit| *limit > 0.0) {
        readings.value(format!("{prefix}.memory.limit"), "B", limit);
    }
    if let (Some(now), Some(saved)) = (info.number("server_time_usec"), info.number("rdb_last_save_time")) {
        readings.value(format!("{prefix}.persistence.last_save_age"), "s", (now / 1e6 - saved).max(0.0));
    }
    if let Some(lag) = info.replica_lag() {
        readings.value(format!("{prefix}.replication.lag"), "B", lag);
    }
}

fn grown(now: &Info, before: &Info, field: &str) -> Option<f64> {
    Some(now.number(field)? - before.number(field)?)
}

/// Processor seconds of the server's process, its threads included.
fn processor(info: &Info) -> Option<f64> {
    Some(info.number("used_cpu_user")? + info.number("used_cpu_sys")?)
}

/// What grew between two readings of the same server process.
pub(super) fn tell_rates(now: &Info, before: &Info, seconds: f64, prefix: &str, readings: &mut Readings) {
    for (name, unit, field) in COUNTERS {
        match grown(now, before, field) {
            Some(grown) if grown >= 0.0 => readings.value(format!("{prefix}.{name}"), unit, grown / seconds),
            Some(_) => readings.event("counter reset", format!("{prefix}.{name}")),
            None => {}
        }
    }
    if let (Some(now), Some(before)) = (processor(now), processor(before)) {
        readings.value(format!("{prefix}.cpu"), "cores", (now - before) / seconds);
    }
    if let (Some(hits), Some(misses)) =
        (grown(now, before, "keyspace_hits"), grown(now, before, "keyspace_misses"))
    {
        // Not finite, and so left out, when nothing was read.
        readings.value(format!("{prefix}.keyspace.hit_ratio"), "1", hits / (hits + misses));
    }
    tell_changes(now, before, prefix, readings);
}

/// What happened between two readings.
fn tell_changes(now: &Info, before: &Info, prefix: &str, readings: &mut Readings) {
    if before.number("evicted_keys") == Some(0.0)
        && let Some(evicted) = now.number("evicted_keys").filter(|n| *n > 0.0)
    {
        readings.event(
            format!("{prefix} evicts keys"),
            format!("{evicted} until now; the memory limit is reached"),
        );
    }
    for (field, what) in [
        ("rdb_last_bgsave_status", "last save"),
        ("aof_last_write_status", "last write of the append-only file"),
        ("role", "role"),
        ("master_link_status", "link to the master"),
    ] {
        if let (Some(was), Some(is)) = (before.text(field), now.text(field))
            && was != is
        {
            readings.event(format!("{prefix} {what} changed"), format!("from {was} to {is}"));
        }
    }
}
