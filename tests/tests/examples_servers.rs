//! The examples that load PostgreSQL and Redis, as a user meets them.

use openloop::{Record, report};
use openloop_tests::{
    Ended,
    example::{LIMIT, State, assert_passed, assert_status, missing},
};

const CUSTOM_MIX: &str = env!("CARGO_BIN_EXE_example-custom-mix");
const MIXED_LOAD: &str = env!("CARGO_BIN_EXE_example-mixed-load");
const POSTGRES_TPCB: &str = env!("CARGO_BIN_EXE_example-postgres-tpcb");
const REDIS_COMMANDS: &str = env!("CARGO_BIN_EXE_example-redis-commands");

/// `--quick` runs to its end, its exit status says what the record says, its clean-up is done, nothing is left.
fn quick(binary: &str, more: &[&str], checks: &[&str]) -> (Record, Ended) {
    let state = State::new();
    let ended = state.start(binary, "r.json", &[&["--quick"], more].concat()).end(LIMIT);
    assert!(matches!(ended.status, Some(0 | 2)), "{ended:?}");
    let record = state.record("r.json", &ended);
    assert_status(&ended, &record);
    assert_passed(&record, checks);
    assert!(!record.interrupted);
    state.assert_nothing_left();
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
    assert_eq!(
        (step("cache_get"), step("page/body")),
        (reads.accounting.succeeded, reads.accounting.succeeded)
    );
    assert_eq!((step("select"), step("cache_set")), (count("miss"), count("miss")));
    // Poisson: about 800 in 4 s, give or take 28.
    assert!((650..950).contains(&reads.accounting.scheduled), "{}", reads.accounting.scheduled);
}

#[test]
fn real_mixed_load_prints_the_published_table_and_leaves_nothing() {
    if missing("real_mixed_load", &["nginx", "postgres", "redis-server"]) {
        return;
    }
    let checks =
        ["servers.restarts", "redis.marker", "postgres.balances", "cleanup.postgres", "cleanup.redis"];
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
