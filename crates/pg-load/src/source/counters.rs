//! What is read, and what becomes of it.

use crate::Error;
use load_core::Readings;
use tokio_postgres::Client;

/// Views that came or went with versions of the server.
#[derive(Debug)]
pub(super) struct Views {
    pub(super) version: i32,
    pub(super) statements: bool,
    sql: String,
}

/// Counters in the order of the query, with their units. Rates are made of them.
const COUNTERS: [(&str, &str); 16] = [
    ("commits", "1/s"),
    ("rollbacks", "1/s"),
    ("deadlocks", "1/s"),
    ("conflicts", "1/s"),
    ("rows.returned", "1/s"),
    ("rows.inserted", "1/s"),
    ("rows.updated", "1/s"),
    ("rows.deleted", "1/s"),
    ("blocks.read", "1/s"),
    ("blocks.hit", "1/s"),
    ("temporary", "B/s"),
    ("wal", "B/s"),
    ("wal.full_pages", "1/s"),
    ("wal.buffers_full", "1/s"),
    ("checkpoints.timed", "1/s"),
    ("checkpoints.requested", "1/s"),
];
const CHECKPOINT_BLOCKS: (&str, &str) = ("checkpoints.blocks", "1/s");
const READ: usize = 8;
const HIT: usize = 9;

/// Gauges in the order of the query, with their units.
const GAUGES: [(&str, &str); 7] = [
    ("sessions", "sessions"),
    ("sessions.active", "sessions"),
    ("sessions.idle_in_transaction", "sessions"),
    ("waits.lock", "sessions"),
    ("waits.lwlock", "sessions"),
    ("waits.io", "sessions"),
    ("locks.waiting", "locks"),
];

impl Views {
    pub(super) async fn of(client: &Client) -> Result<Views, Error> {
        let sql = "select current_setting('server_version_num')::int, to_regclass('pg_stat_statements') is not null";
        let row =
            client.query_typed_one(sql, &[]).await.map_err(Error::statement("asking for the version"))?;
        let version = row.get(0);
        Ok(Views { version, statements: row.get(1), sql: query(version) })
    }
}

fn query(version: i32) -> String {
    let wal = match version {
        140_000.. => "(select wal_fpi from pg_stat_wal), (select wal_buffers_full from pg_stat_wal)",
        _ => "null::bigint, null::bigint",
    };
    let checkpoints = match version {
        170_000.. => {
            "(select num_timed from pg_stat_checkpointer), (select num_requested from pg_stat_checkpointer), \
                      (select buffers_written from pg_stat_checkpointer)"
        }
        _ => {
            "(select checkpoints_timed from pg_stat_bgwriter), (select checkpoints_req from pg_stat_bgwriter), \
              (select buffers_checkpoint from pg_stat_bgwriter)"
        }
    };
    format!(
        "select extract(epoch from pg_postmaster_start_time())::float8, \
           d.xact_commit, d.xact_rollback, d.deadlocks, d.conflicts, \
           d.tup_returned, d.tup_inserted, d.tup_updated, d.tup_deleted, d.blks_read, d.blks_hit, d.temp_bytes, \
           (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end \
             - '0/0'::pg_lsn)::bigint, {wal}, {checkpoints}, \
           a.*, (select count(*) from pg_locks where not granted) \
         from pg_stat_database d, \
           (select count(*), count(*) filter (where state = 'active'), \
              count(*) filter (where state like 'idle in transaction%'), \
              count(*) filter (where state = 'active' and wait_event_type = 'Lock'), \
              count(*) filter (where state = 'active' and wait_event_type = 'LWLock'), \
              count(*) filter (where state = 'active' and wait_event_type = 'IO') \
            from pg_stat_activity \
            where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()) a \
         where d.datname = current_database()"
    )
}

/// One reading of everything.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    started: f64,
    counters: Vec<Option<i64>>,
    gauges: Vec<i64>,
}

fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    COUNTERS.into_iter().chain([CHECKPOINT_BLOCKS])
}

impl Sample {
    pub(super) async fn read(client: &Client, views: &Views) -> Result<Sample, Error> {
        // Not prepared: behind a pooler the statement might be another's.
        let row =
            client.query_typed_one(&views.sql, &[]).await.map_err(Error::statement("reading statistics"))?;
        let counters = 1 + COUNTERS.len() + 1;
        Ok(Sample {
            started: row.get(0),
            counters: (1..counters).map(|i| row.get(i)).collect(),
            gauges: (counters..counters + GAUGES.len()).map(|i| row.get(i)).collect(),
        })
    }

    pub(super) fn tell_gauges(&self, prefix: &str, readings: &mut Readings) {
        for ((name, unit), value) in GAUGES.into_iter().zip(&self.gauges) {
            readings.value(format!("{prefix}.{name}"), unit, *value as f64);
        }
    }

    /// What the counters grew by since `before`, `seconds` ago.
    pub(super) fn tell_rates(&self, before: &Sample, seconds: f64, prefix: &str, readings: &mut Readings) {
        if self.started != before.started {
            readings.event(format!("{prefix} restarted"), "its counters may have begun anew");
            return;
        }
        let grown = |i: usize| Some(self.counters[i]? - before.counters[i]?);
        for (i, (name, unit)) in names().enumerate() {
            match grown(i) {
                Some(n) if n < 0 => {
                    let detail =
                        format!("{prefix}.{name}: from {:?} to {:?}", before.counters[i], self.counters[i]);
                    readings.event("counter reset", detail.replace("Some(", "").replace(')', ""));
                }
                Some(n) => readings.value(format!("{prefix}.{name}"), unit, n as f64 / seconds),
                // This version does not count it.
                None => {}
            }
        }
        if let (Some(read), Some(hit)) = (grown(READ), grown(HIT))
            && read >= 0
            && hit >= 0
        {
            // Not finite, and so left out, when nothing was read.
            readings.value(format!("{prefix}.cache.hit_ratio"), "1", hit as f64 / (hit + read) as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(started: f64, value: i64) -> Sample {
        Sample { started, counters: vec![Some(value); COUNTERS.len() + 1], gauges: vec![1; GAUGES.len()] }
    }

    #[test]
    fn counters_become_rates_and_resets_become_events() {
        let mut readings = Readings::new();
        let mut later = sample(1.0, 30);
        later.counters[HIT] = Some(100);
        later.counters[12] = None;
        later.tell_rates(&sample(1.0, 10), 2.0, "pg", &mut readings);
        let value =
            |name: &str| readings.values().iter().find(|(n, ..)| n == name).map(|(_, unit, v)| (*unit, *v));
        assert_eq!(value("pg.commits"), Some(("1/s", 10.0)));
        assert_eq!(value("pg.wal"), Some(("B/s", 10.0)));
        assert_eq!(value("pg.wal.full_pages"), None, "not counted is not zero");
        assert_eq!(value("pg.cache.hit_ratio"), Some(("1", 90.0 / 110.0)));
        assert_eq!(value("pg.checkpoints.blocks"), Some(("1/s", 10.0)));
        assert!(readings.events().is_empty());

        readings.clear();
        sample(1.0, 5).tell_rates(&sample(1.0, 10), 2.0, "pg", &mut readings);
        assert!(readings.values().is_empty());
        assert_eq!(readings.events()[0], ("counter reset".into(), "pg.commits: from 10 to 5".into()));

        readings.clear();
        sample(2.0, 50).tell_rates(&sample(1.0, 10), 2.0, "pg", &mut readings);
        assert_eq!((readings.values().len(), readings.events()[0].0.as_str()), (0, "pg restarted"));
    }

    #[test]
    fn a_second_without_reads_has_no_hit_ratio() {
        let mut readings = Readings::new();
        sample(1.0, 10).tell_rates(&sample(1.0, 10), 1.0, "pg", &mut readings);
        assert!(readings.values().iter().all(|(name, ..)| name != "pg.cache.hit_ratio"));
    }
}
