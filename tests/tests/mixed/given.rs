//! Servers given by URL, and two runs at once.

use crate::{ALL, MIXED_LOAD};
use openloop::{
    pg::Server,
    redis::{Target, fred::prelude::*},
    testbed::{Nginx, Postgres, Redis, Stack},
};
use openloop_tests::example::{LIMIT, State, assert_passed, assert_status, missing};
use std::{net::TcpListener, time::Duration};

/// Both, started by the test, and the arguments that give them to a quick run.
pub(crate) fn postgres_and_redis() -> (Stack, Vec<&'static str>) {
    let stack = Stack::builder().postgres(Postgres::builder()).redis(Redis::builder());
    let stack = stack.start_blocking().unwrap();
    let urls = [stack.postgres_url_with_password().unwrap(), stack.redis_url_with_password().unwrap()];
    let [postgres, redis] = urls.map(|url| &*url.leak());
    (stack, vec!["--quick", "--postgres", postgres, "--redis", redis])
}

/// The databases of runs and the number of keys that are there.
pub(crate) fn left_in(stack: &Stack) -> (Vec<String>, u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let server = Server::parse(&stack.postgres_url_with_password().unwrap()).unwrap();
        let connection = server.connect().await.unwrap();
        let sql = "select datname::text from pg_database where datname like 'openloop%'";
        let databases = connection.client().query(sql, &[]).await.unwrap();
        let target = Target::url(&stack.redis_url_with_password().unwrap()).unwrap();
        let cache = target.fred_builder().unwrap().build().unwrap();
        cache.init().await.unwrap();
        let keys: u64 = cache.dbsize().await.unwrap();
        cache.quit().await.unwrap();
        (databases.iter().map(|row| row.get(0)).collect(), keys)
    })
}

#[test]
fn real_two_runs_at_once_on_the_same_given_servers_do_not_disturb_each_other() {
    if missing("real_two_runs_at_once", ALL) {
        return;
    }
    let (given, arguments) = postgres_and_redis();
    let state = State::new();
    let names = ["one.json", "other.json"];
    let mut both = names.map(|name| state.start(MIXED_LOAD, name, &arguments));
    // Side by side, not one after the other.
    both.iter_mut().for_each(|program| program.wait_for("idle: measuring"));
    assert_eq!((state.runs().len(), left_in(&given).0.len()), (2, 2));
    for (name, program) in names.into_iter().zip(both) {
        let ended = program.end(LIMIT);
        let record = state.record(name, &ended);
        assert_status(&ended, &record);
        let checks =
            ["servers.restarts", "redis.marker", "postgres.balances", "cleanup.postgres", "cleanup.redis"];
        assert_passed(&record, &checks);
        for s in &record.streams {
            assert!(
                s.accounting.failed == 0 && s.accounting.succeeded > 0,
                "{}: {:?}",
                s.title(),
                s.failures
            );
        }
    }
    assert_eq!(left_in(&given), (vec![], 0));
    assert!(given.processes().all(|process| process.is_running()), "they are not ours to stop");
    state.assert_nothing_left();
}

#[test]
fn real_an_nginx_given_by_url_is_loaded_and_left_alone() {
    if missing("real_an_nginx_given_by_url", ALL) {
        return;
    }
    let nginx = Nginx::builder().page("/mine", "mine").start_blocking().unwrap();
    let url = format!("{}mine", nginx.url());
    let state = State::new();
    let ended = state.start(MIXED_LOAD, "r.json", &["--quick", "--nginx", &url]).end(LIMIT);
    let record = state.record("r.json", &ended);
    assert_status(&ended, &record);
    assert!(
        record.streams_named("nginx").all(|s| s.workload.contains("/mine") && s.accounting.succeeded > 0)
    );
    assert!(nginx.process().is_running());
    state.assert_nothing_left();
}

#[test]
fn another_machine_is_refused_before_anything_is_started_or_connected_to() {
    // Would be connected to, or be refused itself, if its turn came before the one that is refused.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let here = listener.local_addr().unwrap();
    let (nginx, redis) = (format!("http://{here}/"), format!("redis://:secret@{here}/0"));
    for (arguments, flag) in [
        (["--nginx", "http://192.0.2.1/", "--redis", &redis], "--nginx"),
        (["--nginx", &nginx, "--postgres", "postgresql://me:secret@192.0.2.1/x"], "--postgres"),
        (["--nginx", &nginx, "--redis", "redis://:secret@192.0.2.1/0"], "--redis"),
    ] {
        let state = State::new();
        let ended = state.start(MIXED_LOAD, "r.json", &arguments).end(Duration::from_secs(20));
        assert_eq!(ended.status, Some(1), "{arguments:?}: {ended:?}");
        for said in [flag, "192.0.2.1", "is not this machine", "--allow-remote"] {
            assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
        }
        assert!(!ended.stderr.contains("secret"), "{}", ended.stderr);
        assert!(state.runs().is_empty(), "nothing was started");
        assert!(listener.accept().is_err(), "nobody connected");
    }
}

#[test]
fn containers_are_refused_in_words_that_help() {
    let state = State::new();
    let ended = state.start(MIXED_LOAD, "r.json", &["--stack", "docker"]).end(Duration::from_secs(20));
    assert_eq!(ended.status, Some(1), "{ended:?}");
    for said in ["--stack docker", "--stack process", "URL"] {
        assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
    }
}
