//! A run's keys are its own, are gone when it is, and nobody else's are touched.

mod common;

use common::{Driver, Server, on_worker};
use redis_load::{Command, Keys, Redis, RedisError, Space, Target};
use std::{
    io::{BufRead, BufReader},
    process::{self, Stdio},
    time::{Duration, Instant},
};

async fn write(space: &Space, keys: u64) {
    let load = Redis::within(space)
        .command(Command::set())
        .keys(Keys::sequential(keys))
        .pipeline(100)
        .build()
        .unwrap();
    Driver::connect(&load).await.unwrap().many(keys.div_ceil(100)).await;
}

#[test]
fn real_a_database_with_foreign_keys_is_refused_and_nothing_is_touched() {
    let Some(server) = Server::start(&[]) else { return };
    server.cli(&["SET", "sentinel", "0"]);
    server.cli(&["-n", "5", "SET", "sentinel", "5"]);
    on_worker(async {
        let refused = server.target().database(5).isolate().open().await.unwrap_err();
        assert!(matches!(&refused, RedisError::ForeignKeys { seen: 1, .. }), "{refused}");
        assert!(refused.to_string().contains("database 5"), "{refused}");
        assert_eq!(server.cli(&["-n", "5", "KEYS", "*"]), "sentinel", "a refused run leaves nothing");
        let other = server.target().database(5).isolate().allow_foreign("sent").open().await;
        assert!(other.is_err(), "only that name is allowed");

        for (database, pattern) in [(5, "sentinel"), (5, "sent*"), (5, "*"), (0, "sentinel")] {
            let number = database.to_string();
            let cli = |args: &[&str]| server.cli(&[&["-n", &number], args].concat());
            let space =
                server.target().database(database).isolate().allow_foreign(pattern).open().await.unwrap();
            write(&space, 100).await;
            // Keys that only look like ours are not ours.
            let near = format!("{}other", space.prefix());
            cli(&["SET", &near, "x"]);
            let check = space.cleanup().await;
            assert!(check.passed && check.detail.contains("100 keys"), "{}", check.detail);
            assert_eq!(cli(&["DEL", &near]), "1");
            assert_eq!(cli(&["KEYS", "*"]), "sentinel");
        }
    });
    assert_eq!(server.cli(&["GET", "sentinel"]), "0");
    assert_eq!(server.cli(&["-n", "5", "GET", "sentinel"]), "5");
    for command in ["flushall", "flushdb"] {
        assert_eq!(server.calls(command), 0);
    }
}

/// Runs in a process of its own, started by the test below.
#[test]
#[ignore = "a part of another test"]
fn child_that_is_killed() {
    let Ok(url) = std::env::var("REDIS_LOAD_TEST_CHILD") else { return };
    let target = Target::url(&url).unwrap();
    let space = target.isolate().open_blocking().unwrap();
    on_worker(write(&space, 5000));
    println!("prefix {}", space.prefix());
    std::thread::sleep(Duration::from_secs(600));
    drop(space);
}

#[test]
fn real_what_a_killed_run_left_is_removed_and_reported() {
    let Some(server) = Server::start(&[]) else { return };
    let mut child = process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_is_killed", "--ignored", "--nocapture"])
        .env("REDIS_LOAD_TEST_CHILD", format!("redis://:{}@{}", server.password(), server.address()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let prefix = lines.find_map(|l| Some(l.unwrap().split_once("prefix ")?.1.to_owned())).unwrap();

    on_worker(async {
        // While it lives its keys are left alone, and ours are gone beside them.
        let space = server.target().isolate().open().await.unwrap();
        assert!(space.swept().is_empty());
        write(&space, 200).await;
        assert!(space.cleanup().await.passed);
        assert_eq!(server.cli15(&["DBSIZE"]), "5002");

        child.kill().unwrap();
        // Not yet waited for: a process of which only the exit status is left is dead too.
        let space = server.target().isolate().open().await.unwrap();
        let swept = space.swept();
        assert_eq!(swept.len(), 1);
        assert_eq!((swept[0].prefix.as_str(), swept[0].keys), (prefix.as_str(), 5000));
        assert!(swept[0].began > 1_700_000_000);
        assert_eq!(server.cli15(&["DBSIZE"]), "2");
        let check = space.cleanup().await;
        assert!(check.passed && check.detail.contains("5000 keys of a dead run"), "{}", check.detail);
    });
    child.wait().unwrap();
    assert_eq!(server.cli15(&["DBSIZE"]), "0");
}

#[test]
fn real_two_runs_at_once_do_not_meet() {
    let Some(server) = Server::start(&[]) else { return };
    on_worker(async {
        let one = server.target().isolate().open().await.unwrap();
        write(&one, 100).await;
        let two = server.target().isolate().open().await.unwrap();
        assert_ne!(one.prefix(), two.prefix());
        write(&two, 100).await;
        assert!(one.cleanup().await.passed);
        assert_eq!(server.cli15(&["DBSIZE"]), "102");
        assert!(two.cleanup().await.passed);
        assert_eq!(server.cli15(&["DBSIZE"]), "0");
    });
}

#[test]
fn real_a_space_that_is_dropped_is_cleared() {
    let Some(server) = Server::start(&[]) else { return };
    let space = server.target().isolate().open_blocking().unwrap();
    on_worker(write(&space, 100));
    assert_eq!(server.cli15(&["DBSIZE"]), "102");
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        let _space = space;
        panic!("on purpose");
    }));
    assert!(panicked.is_err());
    assert_eq!(server.cli15(&["DBSIZE"]), "0");
}

#[test]
fn real_a_closed_space_takes_no_sessions() {
    let Some(server) = Server::start(&[]) else { return };
    let space = server.target().isolate().open_blocking().unwrap();
    let load = Redis::within(&space).command(Command::set()).build().unwrap();
    assert!(space.cleanup_blocking().passed);
    let failure = on_worker(Driver::connect(&load)).err().unwrap();
    assert_eq!(failure.code(), "the space is closed");
}

#[test]
fn real_a_hundred_thousand_keys_go_in_batches() {
    let Some(server) = Server::start(&[]) else { return };
    on_worker(async {
        let space = server.target().isolate().open().await.unwrap();
        write(&space, 100_000).await;
        let before = server.calls("unlink");
        let check = space.cleanup().await;
        assert!(check.passed && check.detail.contains("100000 keys"), "{}", check.detail);
        assert_eq!(check.name, "cleanup.redis");
        assert!(check.elapsed_ns > 0);
        assert!(server.calls("unlink") - before <= 200, "{}", server.calls("unlink") - before);
        assert_eq!(server.cli15(&["DBSIZE"]), "0");
    });
}

#[test]
fn real_cleanup_says_when_it_cannot() {
    let Some(server) = Server::start(&[]) else { return };
    let limit = Duration::from_secs(1);
    let space = server.target().isolate().cleanup_limit(limit).open_blocking().unwrap();
    on_worker(write(&space, 100));
    server.kill();
    let start = Instant::now();
    let check = space.cleanup_blocking();
    assert!(!check.passed && check.detail.contains("may be left"), "{}", check.detail);
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
}

#[test]
fn real_cleanup_waits_for_a_server_that_comes_back() {
    let Some(server) = Server::start(&["--appendonly", "yes"]) else { return };
    let space = server.target().isolate().open_blocking().unwrap();
    on_worker(write(&space, 1000));
    server.kill();
    let (check, server) = std::thread::scope(|scope| {
        let cleanup = scope.spawn(move || space.cleanup_blocking());
        std::thread::sleep(Duration::from_millis(300));
        server.start_again();
        (cleanup.join().unwrap(), server)
    });
    assert!(check.passed && check.detail.contains("1000 keys"), "{}", check.detail);
    assert_eq!(server.cli15(&["DBSIZE"]), "0");
}

#[test]
fn real_a_server_that_cannot_be_used_is_named() {
    let Some(server) = Server::start(&["--databases", "4"]) else { return };
    on_worker(async {
        let secret = "wr0ngsecret";
        let open = async |target: Target| target.isolate().open().await.unwrap_err().to_string();
        let said = open(server.target().database(0).password(secret)).await;
        assert!(said.contains("WRONGPASS") && !said.contains(secret), "{said}");
        let said =
            open(server.target().database(0).password(secret).protocol(redis_load::Protocol::Resp3)).await;
        assert!(said.contains("WRONGPASS") && !said.contains(secret), "{said}");
        let said = open(Target::address(server.address()).database(0)).await;
        assert!(said.contains("NOAUTH"), "{said}");
        let said = open(server.target().database(15)).await;
        assert!(said.contains("has no database 15"), "{said}");
        let said = open(Target::address(([127, 0, 0, 1], 1).into())).await;
        assert!(said.contains("127.0.0.1:1") && said.contains("refused"), "{said}");
        let said = open(Target::unix("/nonexistent/redis.sock")).await;
        assert!(said.contains("/nonexistent/redis.sock") && said.contains("no such socket"), "{said}");
        let said = open(Target::url("redis://no-such-host.invalid").unwrap()).await;
        assert!(said.contains("dns"), "{said}");
    });
    let Some(server) = Server::start(&["--replicaof", "127.0.0.1 1"]) else { return };
    let said = server.target().isolate().open_blocking().unwrap_err().to_string();
    assert!(said.contains("READONLY"), "{said}");
    let Some(server) = Server::start(&["--maxmemory", "1", "--maxmemory-policy", "noeviction"]) else {
        return;
    };
    let said = server.target().isolate().open_blocking().unwrap_err().to_string();
    assert!(said.contains("OOM"), "{said}");
}
