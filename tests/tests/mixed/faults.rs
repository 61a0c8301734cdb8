//! A server that is killed, frozen or restarted while all are loaded.

use crate::{ALL, MIXED_LOAD};
use openloop::{
    prelude::*,
    record::{Event, Phase, StreamRecord},
    redis::RedisStatus,
    sampler::{ProcessTree, Sampler},
    testbed::{LocalProcess, Nginx, Redis as OurRedis, Stack},
};
use openloop_tests::{
    check,
    example::{LIMIT, State, assert_passed, assert_status, missing},
};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

/// A reading a second tells it, a slow machine later.
const SEEN_WITHIN_NS: u64 = 3_000_000_000;

fn event<'a>(record: &'a Record, what: &str, detail: &str) -> &'a Event {
    let found = record.events.iter().find(|e| e.what == what && e.detail.contains(detail));
    found.unwrap_or_else(|| panic!("no {what} of {detail}: {:?}", record.events))
}

fn phase<'a>(record: &'a Record, name: &str) -> &'a Phase {
    record.phases.iter().find(|p| p.name == name).unwrap()
}

/// The streams that have failures.
fn failing(record: &Record) -> BTreeSet<&str> {
    let fails = |s: &&StreamRecord| s.accounting.failed + s.connects.failed > 0;
    record.streams.iter().filter(fails).map(|s| s.name.as_str()).collect()
}

#[test]
fn real_an_nginx_killed_in_the_mix_fails_alone_and_is_told() {
    if missing("real_an_nginx_killed_in_the_mix", ALL) {
        return;
    }
    let state = State::new();
    let mut program = state.start(MIXED_LOAD, "r.json", &["--quick", "--seconds", "4"]);
    program.wait_for("together: measuring");
    let nginx = Pid::from_raw(state.servers()["nginx"] as i32).unwrap();
    kill_process(nginx, Signal::KILL).unwrap();
    // Its worker is an orphan and goes on serving; it is the master's end that is told, and what ended with it.
    let ended = program.end(LIMIT);
    let record = state.record("r.json", &ended);
    assert_status(&ended, &record);
    assert_eq!(ended.status, Some(2), "a check failed");
    let check = record.checks.iter().find(|c| c.name == "servers.restarts").unwrap();
    assert!(!check.passed && check.detail.contains("nginx"), "{check:?}");
    let (told, together) = (event(&record, "process ended", "nginx"), phase(&record, "together"));
    assert!(
        (together.start_ns..together.start_ns + SEEN_WITHIN_NS).contains(&told.t_ns),
        "{told:?} {together:?}"
    );
    assert_eq!(together.end_ns - together.start_ns, 4_000_000_000, "it ends on time");
    assert!(failing(&record).is_subset(&BTreeSet::from(["nginx"])), "{:?}", failing(&record));
    assert_passed(&record, &["redis.marker", "postgres.balances", "cleanup.postgres", "cleanup.redis"]);
    state.assert_nothing_left();
}

#[test]
fn real_a_marker_that_a_restart_lost_fails_its_check() {
    if missing("real_a_marker_that_a_restart_lost", ALL) {
        return;
    }
    let (given, arguments) = crate::given::postgres_and_redis();
    let state = State::new();
    let arguments = [&arguments[..], &["--seconds", "5"]].concat();
    let mut program = state.start(MIXED_LOAD, "r.json", &arguments);
    program.wait_for("together: measuring");
    // Nothing of it is on disk.
    given.redis().unwrap().process().restart_blocking().unwrap();
    let ended = program.end(LIMIT);
    let record = state.record("r.json", &ended);
    assert_status(&ended, &record);
    assert_eq!(ended.status, Some(2), "a check failed");
    let marker = record.checks.iter().find(|c| c.name == "redis.marker").unwrap();
    assert!(!marker.passed && marker.detail.contains("marker lost"), "{marker:?}");
    assert!(record.checks.iter().any(|c| c.name == "servers.restarts" && c.detail.contains("redis")));
    let together = phase(&record, "together");
    assert!(event(&record, "redis restarted", "").t_ns >= together.start_ns);
    assert_eq!(failing(&record), BTreeSet::from(["redis"]));
    let probes = record.streams.iter().find(|s| s.name == "redis" && s.phase == "together").unwrap();
    assert!(probes.failures.iter().any(|f| f.class == Class::Check), "{:?}", probes.failures);
    state.assert_nothing_left();
}

/// nginx and Redis under load for 4 s, watched, with something done to one of them after a second and another thing after
/// two.
fn disturbed(first: fn(&LocalProcess), then: fn(&LocalProcess)) -> (Record, Instants) {
    let stack = Stack::builder().nginx(Nginx::builder()).redis(OurRedis::builder()).start_blocking().unwrap();
    let page = Http::get(&stack.nginx_url().unwrap()).unwrap().timeout(Duration::from_millis(300)).unwrap();
    let target = openloop::redis::Target::url(&stack.redis_url_with_password().unwrap()).unwrap();
    let ping = Redis::with_fred(&target, async |client, _| {
        use openloop::redis::fred::prelude::*;
        let _: String = client.ping(None).await?;
        Ok(())
    });
    let mut sampler = Sampler::new().source(RedisStatus::new(&target).unwrap());
    for process in stack.processes() {
        sampler = sampler.source(ProcessTree::found_by(process.name(), process.follow()));
    }
    let running = Plan::new()
        .stream("nginx", page, Load::closed(4))
        .stream("redis", ping, Load::open(Schedule::constant(50.0).unwrap()).sessions(4))
        .calibrate(Duration::ZERO)
        .measure(Duration::from_secs(4))
        .sample(sampler)
        .start();
    let started = Instant::now();
    std::thread::sleep(Duration::from_secs(1));
    first(stack.nginx().unwrap().process());
    let first = started.elapsed();
    std::thread::sleep(Duration::from_secs(1));
    then(stack.nginx().unwrap().process());
    let then = started.elapsed();
    let record = running.wait().unwrap();
    check(&record);
    let ended = started.elapsed();
    (record, Instants { first, then, ended })
}

/// When what was done, from the start of the run on.
struct Instants {
    first: Duration,
    then: Duration,
    ended: Duration,
}

fn assert_told(record: &Record, what: &str, at: Duration) {
    let told = event(record, what, "nginx");
    let at = at.as_nanos() as u64;
    // The run's clock begins some moments before its handle is there.
    assert!(
        (at.saturating_sub(500_000_000)..at + SEEN_WITHIN_NS).contains(&told.t_ns),
        "{told:?}, done at {at}"
    );
}

#[test]
fn real_a_frozen_server_is_told_its_requests_time_out_and_the_other_goes_on() {
    if missing("real_a_frozen_server", &["nginx", "redis-server"]) {
        return;
    }
    let (record, at) = disturbed(|nginx| nginx.pause().unwrap(), |nginx| nginx.resume().unwrap());
    assert_told(&record, "process stopped", at.first);
    assert_told(&record, "process continued", at.then);
    assert_eq!(failing(&record), BTreeSet::from(["nginx"]));
    let nginx = &record.streams[0];
    assert!(nginx.failures.iter().all(|f| f.class == Class::Timeout), "{:?}", nginx.failures);
    assert_eq!(nginx.accounting.failed, nginx.accounting.unknown, "what it did with them is not known");
    assert!(at.ended < Duration::from_secs(7), "{:?}", at.ended);
}

#[test]
fn real_a_restarted_server_is_told_and_the_other_goes_on() {
    if missing("real_a_restarted_server", &["nginx", "redis-server"]) {
        return;
    }
    let (record, at) = disturbed(
        |nginx| nginx.kill().unwrap(),
        |nginx| {
            nginx.start_blocking().unwrap();
        },
    );
    assert_told(&record, "process ended", at.first);
    assert_told(&record, "process restarted", at.then);
    assert_eq!(failing(&record), BTreeSet::from(["nginx"]));
    let nginx = &record.streams[0];
    assert!(nginx.windows.last().is_some_and(|w| w.succeeded > 0), "it is loaded again: {:?}", nginx.windows);
    assert!(at.ended < Duration::from_secs(7), "{:?}", at.ended);
}
