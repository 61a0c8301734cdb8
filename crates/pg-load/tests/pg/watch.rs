//! What is read beside the load: statistics, settings, slow statements.

use crate::{
    fixture::{CANARY, Pg},
    run::{on_worker, run},
};
use load_core::{Readings, Source};
use pg_load::{Pgbench, Postgres, PostgresStatus, slowest_statements};
use std::time::{Duration, Instant};

fn value(readings: &Readings, name: &str) -> Option<f64> {
    readings.values().iter().find(|(n, ..)| n == name).map(|(.., v)| *v)
}

const COMMITS: &str = "select xact_commit from pg_stat_database where datname = current_database()";

#[test]
fn statistics_show_the_load_and_the_restart() {
    let Some(pg) = Pg::start(&[("shared_preload_libraries", "pg_stat_statements")]) else { return };
    let server = pg.server();
    let has_statements = pg
        .program("psql")
        .args(["-X", "-q", "-d", "postgres", "-c", "create extension pg_stat_statements"])
        .status()
        .unwrap()
        .success();
    on_worker(async {
        Pgbench::scale(1).unwrap().load(&server, |_| ()).await.unwrap();
        let mut status = PostgresStatus::new(&server).unwrap();
        assert!(!format!("{status:?} {}", status.origin()).contains(CANARY));
        let mut readings = Readings::new();
        status.read(&mut readings).await.unwrap();
        let start = Instant::now();
        assert_eq!(value(&readings, "postgres.commits"), None, "a rate needs two readings");
        assert_eq!(value(&readings, "postgres.sessions"), Some(0.0));
        let reported = || pg.psql("postgres", COMMITS).parse::<u64>().unwrap();
        let before = reported();

        let tpcb = Postgres::tpcb(&server, 1).unwrap();
        let mut other = PostgresStatus::new(&server).unwrap().named("pg");
        let during = async {
            let mut seen = Readings::new();
            tokio::time::sleep(Duration::from_millis(300)).await;
            other.read(&mut seen).await.unwrap();
            seen
        };
        let (books, seen) =
            tokio::join!(run(&tpcb, 8, |_| start.elapsed() > Duration::from_millis(1500)), during);
        // The first status has a session too.
        assert_eq!(value(&seen, "pg.sessions"), Some(9.0));
        while reported() < before + books.succeeded {
            assert!(start.elapsed() < Duration::from_secs(60), "the server does not report its commits");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        readings.clear();
        status.read(&mut readings).await.unwrap();
        let seconds = start.elapsed().as_secs_f64();
        let total = |name: &str| value(&readings, name).unwrap() * seconds;
        // And what was asked meanwhile, of which each is a transaction too.
        let commits = total("postgres.commits");
        let n = books.succeeded as f64;
        assert!((n * 0.98..n * 1.05 + 400.0).contains(&commits), "{commits} of {n}");
        assert!(total("postgres.rows.updated") > n * 2.9, "three updates each");
        assert!(total("postgres.wal") > n * 100.0);
        assert!((0.5..=1.0).contains(&value(&readings, "postgres.cache.hit_ratio").unwrap()));
        assert!(value(&readings, "postgres.checkpoints.timed").is_some());

        let slow = slowest_statements(&server, 50).await.unwrap();
        assert_eq!(slow.is_empty(), !has_statements);
        if has_statements {
            assert!(
                slow.iter()
                    .any(|s| s.query.contains("UPDATE pgbench_branches") && s.calls == books.succeeded),
                "{slow:?}"
            );
            assert!(slow.windows(2).all(|w| w[0].total >= w[1].total));
            assert!(!format!("{slow:?}").contains("SCRAM"), "statements about roles are left out");
        }
        pg.down();
        assert!(status.read(&mut readings).await.is_err(), "a gap, not a zero");
        assert!(status.read(&mut readings).await.unwrap_err().to_string().contains("no connection"));
        pg.up();
        readings.clear();
        status.read(&mut readings).await.unwrap();
        assert_eq!(readings.events()[0].0, "postgres restarted");
        assert_eq!(value(&readings, "postgres.commits"), None);
    });
}

#[test]
fn the_environment_has_version_and_settings_and_no_secret() {
    let Some(pg) = Pg::start(&[("work_mem", "5MB")]) else { return };
    pg.psql("postgres", "alter role tester set synchronous_commit = off");
    let server = on_worker(pg.server().environment()).unwrap();
    let version = pg.psql("postgres", "show server_version");
    assert_eq!(server.version.as_deref(), Some(version.as_str()));
    for (name, value) in
        [("work_mem", "5MB"), ("fsync", "off"), ("synchronous_commit", "off"), ("connection_tls", "off")]
    {
        assert_eq!(server.settings.get(name).map(String::as_str), Some(value), "{name}");
    }
    assert!(server.settings.contains_key("shared_buffers") && server.settings.contains_key("max_wal_size"));
    assert!(!format!("{server:?}").contains(CANARY));
}
