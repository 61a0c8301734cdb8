//! The examples that load PostgreSQL and Redis, as a user meets them.

use openloop::{Record, Status, report, testbed};
use openloop_tests::{Ended, Program, check, skip};
use rustix::process::Signal;
use std::{path::Path, time::Duration};

const CUSTOM_MIX: &str = env!("CARGO_BIN_EXE_example-custom-mix");
const MIXED_LOAD: &str = env!("CARGO_BIN_EXE_example-mixed-load");
const POSTGRES_TPCB: &str = env!("CARGO_BIN_EXE_example-postgres-tpcb");
const REDIS_COMMANDS: &str = env!("CARGO_BIN_EXE_example-redis-commands");
/// Far above what it takes: without optimisation, proving a password to PostgreSQL takes a quarter of a second of CPU.
const LIMIT: Duration = Duration::from_secs(110);

/// Whether a test must be skipped, said aloud.
fn missing(test: &str, servers: &[&str]) -> bool {
    let there = |server: &str| match server {
        "postgres" => testbed::Postgres::is_installed(),
        other => testbed::installed(other),
    };
    let missing = servers.iter().find(|server| !there(server));
    if let Some(server) = missing {
        skip(test, &format!("{server} is not installed"));
    }
    missing.is_some()
}

fn state() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    // Servers run as another user when we are root.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(dir.path(), open).unwrap();
    dir
}

/// The record of a run that has ended: sound by itself, its clean-up done, nothing left beside it.
fn sound(dir: &Path, ended: &Ended, checks: &[&str]) -> Record {
    let text = std::fs::read_to_string(dir.join("r.json")).unwrap_or_else(|e| panic!("{e}: {ended:?}"));
    let record = report::read_json(&text).unwrap();
    check(&record);
    for name in checks {
        let check = record.checks.iter().find(|c| c.name == *name);
        assert!(check.is_some_and(|c| c.passed), "{name}: {:?}", record.checks);
    }
    let left: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .flat_map(|e| e.ok())
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("run-"))
        .collect();
    assert!(left.is_empty(), "left behind: {left:?}");
    record
}

/// `--quick` runs to its end, and its exit status says what the record says.
fn quick(binary: &str, more: &[&str], checks: &[&str]) -> (Record, Ended) {
    let dir = state();
    let json = dir.path().join("r.json");
    let arguments = [&["--quick", "--json", json.to_str().unwrap()], more].concat();
    let ended = Program::start(binary, dir.path(), &arguments).end(LIMIT);
    assert!(matches!(ended.status, Some(0 | 2)), "{ended:?}");
    let record = sound(dir.path(), &ended, checks);
    let bad = record.verdict.status == Status::Rejected || record.checks.iter().any(|c| !c.passed);
    assert_eq!(ended.status == Some(2), bad, "{ended:?}");
    assert!(!record.interrupted);
    (record, ended)
}

#[test]
fn real_postgres_tpcb_keeps_its_balances_and_drops_its_database() {
    if missing("real_postgres_tpcb", &["postgres"]) {
        return;
    }
    let (record, ended) = quick(POSTGRES_TPCB, &[], &["postgres.balances", "cleanup.postgres"]);
    let levels: Vec<_> = record.streams.iter().map(|s| s.title()).collect();
    assert_eq!(levels, ["postgres@10 round 1", "postgres@20 round 1"]);
    assert!(ended.stdout.contains("postgres@20"), "{}", ended.stdout);
}

#[test]
fn real_redis_commands_leaves_no_key() {
    if missing("real_redis_commands", &["redis-server"]) {
        return;
    }
    let (record, _) = quick(REDIS_COMMANDS, &[], &["cleanup.redis"]);
    assert_eq!(record.streams.len(), 4, "SET and GET at two levels");
    assert!(record.streams.iter().all(|s| s.accounting.failed == 0 && s.accounting.succeeded > 0));
}

#[test]
fn real_custom_mix_tells_hits_from_misses() {
    if missing("real_custom_mix", &["nginx", "postgres", "redis-server"]) {
        return;
    }
    let (record, _) = quick(CUSTOM_MIX, &["--seconds", "4"], &["cleanup.postgres", "cleanup.redis"]);
    let reads = &record.streams[0];
    assert_eq!(reads.accounting.failed, 0, "{:?}", reads.failures);
    let count = |kind: &str| reads.operations.get(kind).map_or(0, |o| o.count);
    assert_eq!(count("hit") + count("miss"), reads.accounting.succeeded);
    assert!(count("miss") > 0, "the cache was cold: {:?}", reads.operations.keys());
    let step = |name: &str| reads.steps.get(name).map_or(0, |d| d.count);
    assert_eq!((step("cache_get"), step("page")), (reads.accounting.succeeded, reads.accounting.succeeded));
    assert_eq!((step("select"), step("cache_set")), (count("miss"), count("miss")));
    // Poisson: about 800 in 4 s, give or take 28.
    assert!((650..950).contains(&reads.accounting.scheduled), "{}", reads.accounting.scheduled);
}

#[test]
fn real_mixed_load_prints_the_published_table_and_leaves_nothing() {
    if missing("real_mixed_load", &["nginx", "postgres", "redis-server"]) {
        return;
    }
    let checks = ["servers.restarts", "postgres.balances", "cleanup.postgres", "cleanup.redis"];
    let (record, ended) = quick(MIXED_LOAD, &["--stack", "process"], &checks);
    let phases: Vec<_> = record.phases.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(phases, ["idle", "nginx alone", "postgres alone", "redis alone", "together"]);
    let together: Vec<_> =
        record.streams.iter().filter(|s| s.phase == "together").map(|s| s.name.as_str()).collect();
    assert_eq!(together, ["nginx", "postgres", "redis"]);
    for probe in record.streams_named("redis") {
        assert_eq!((probe.accounting.scheduled, probe.accounting.failed), (1, 0), "one a second");
    }
    for series in [
        "host.cpu.busy",
        "process.postgres.cpu",
        "nginx.requests",
        "redis.commands",
        "postgres.commits",
        "sampler.cpu",
    ] {
        assert!(record.series.iter().any(|s| s.name == series && !s.points.is_empty()), "{series}");
    }
    assert!(record.environment.more["busiest_others"].is_array(), "{:?}", record.environment);
    assert_eq!(report::interference(&record).rows.len(), 3);
    for words in ["468,828", "(assumed)", "Interference", "limiter, together: ", "verdict: "] {
        assert!(ended.stdout.contains(words), "{words}: {}", ended.stdout);
    }
}

#[test]
fn real_ctrl_c_in_a_mixed_load_keeps_the_record_and_leaves_nothing() {
    if missing("real_ctrl_c_in_a_mixed_load", &["nginx", "postgres", "redis-server"]) {
        return;
    }
    let dir = state();
    let json = dir.path().join("r.json");
    let arguments = ["--quick", "--warmup", "0", "--seconds", "3", "--json", json.to_str().unwrap()];
    let mut program = Program::start(MIXED_LOAD, dir.path(), &arguments);
    program.wait_for("nginx alone: measuring");
    program.signal(Signal::INT);
    let ended = program.end(LIMIT);
    assert_eq!(ended.status, Some(130), "{ended:?}");
    let record = sound(dir.path(), &ended, &["servers.restarts", "cleanup.postgres", "cleanup.redis"]);
    assert!(record.interrupted && record.phases.len() <= 2, "{:?}", record.phases);
}
