//! Whole runs: several rates on one clock, and servers that fail under load. Books balance, nothing of ours is left.

mod common;

use common::Server;
use load_core::{Load, Overload, Record, Schedule, record::StreamRecord};
use load_engine::Plan;
use redis_load::{Client, Command, Keys, Prefill, Redis, Space};
use std::{thread, time::Duration};

fn get(space: &Space, client: Client) -> Redis {
    Redis::within(space).command(Command::get()).keys(Keys::uniform(1000)).client(client).build().unwrap()
}

fn stream<'a>(record: &'a Record, name: &'a str) -> &'a StreamRecord {
    let stream = record.streams_named(name).next().unwrap();
    assert!(stream.accounting.balances(), "{name}: {:?}", stream.accounting);
    stream
}

fn at(rate: &str) -> Load {
    Load::open(Schedule::constant(rate).unwrap()).sessions(20)
}

/// How long a run takes: the stated time with `OPENLOOP_FULL`, else the short one.
fn lasting(full: u64, short: u64) -> Duration {
    Duration::from_secs(if common::full() { full } else { short })
}

/// Rates side by side, for so long; each is scheduled exactly, and started within one or one in a hundred.
fn side_by_side(rates: &[(&'static str, Load, Redis, f64)], time: Duration) -> Record {
    let mut plan = Plan::new().measure(time).calibrate(Duration::ZERO);
    for (name, load, redis, _) in rates {
        plan = plan.stream(*name, redis.clone(), load.clone());
    }
    let record = plan.run().unwrap();
    for (name, _, _, rate) in rates {
        let stream = stream(&record, name);
        let books = &stream.accounting;
        assert_eq!(books.scheduled, (rate * time.as_secs_f64()) as u64, "{name}: {books:?}");
        let short = books.scheduled - books.started;
        // What is not optimised may not keep up with such a rate beside a server on the same two cores.
        let part = if cfg!(debug_assertions) && *rate > 1000.0 { 0.5 } else { 0.01 };
        assert!(short <= 1 || short as f64 <= part * books.scheduled as f64, "{name}: {books:?}");
        assert_eq!(books.failed, 0, "{name}: {:?}", stream.failures);
        let lateness = stream.lateness.as_ref().expect("an open load says how late it was");
        eprintln!(
            "{name}: scheduled {}, started {}, lateness P50 {} P99 {} ns, response P50 {} P99 {} ns",
            books.scheduled,
            books.started,
            lateness.p50_ns,
            lateness.p99_ns,
            stream.response.as_ref().map_or(0, |d| d.p50_ns),
            stream.response.as_ref().map_or(0, |d| d.p99_ns),
        );
    }
    record
}

#[test]
fn alone_half_a_hundred_and_ten_thousand_a_second_run_on_one_clock() {
    let Some(server) = Server::start(&[]) else { return };
    let space = server.target().isolate().open_blocking().unwrap();
    let load = get(&space, Client::Lean);
    load.prefill_blocking(Prefill::all()).unwrap();
    let info = Redis::at(&server.target()).command(Command::custom("INFO")).build().unwrap();
    let rates = [
        ("slow", at("0.5/s").sessions(1), info, 0.5),
        ("some", at("100/s"), load.clone(), 100.0),
        ("many", at("10000/s"), load, 10_000.0),
    ];
    let record = side_by_side(&rates, lasting(60, 4));
    let many = stream(&record, "many");
    assert_eq!(many.counters["hits"], many.accounting.succeeded);
    assert!(space.cleanup_blocking().passed);
    assert_eq!(server.cli15(&["DBSIZE"]), "0");
}

#[test]
fn alone_a_poll_beside_a_load_is_a_stream_of_its_own() {
    let Some(server) = Server::start(&[]) else { return };
    let space = server.target().isolate().open_blocking().unwrap();
    let load = get(&space, Client::Lean);
    load.prefill_blocking(Prefill::all()).unwrap();
    let info = Redis::at(&server.target()).command(Command::custom("INFO")).build().unwrap();
    let time = lasting(60, 4);
    let rates = [("poll", at("1/s").sessions(1), info, 1.0), ("load", at("10000/s"), load, 10_000.0)];
    let record = side_by_side(&rates, time);
    let poll = stream(&record, "poll");
    assert!(poll.bytes_in > 1000 * time.as_secs());
    // So few that it must be said: fewer than 30 are suspect, and every figure says of how many it is.
    assert_eq!(poll.response.as_ref().unwrap().count, poll.accounting.succeeded);
    let evidence = serde_json::to_value(&poll.verdict).unwrap();
    assert_eq!(
        evidence["evidence"]["samples"].as_f64(),
        Some(poll.accounting.succeeded as f64),
        "{evidence}"
    );
    assert!(stream(&record, "load").elapsed_ns.abs_diff(poll.elapsed_ns) < 10_000_000, "one start, one end");
    assert!(space.cleanup_blocking().passed);
}

#[test]
fn alone_own_delay_is_told_apart_from_the_servers() {
    let Some(server) = Server::start(&[]) else { return };
    let space = server.target().isolate().open_blocking().unwrap();
    let set = Redis::within(&space).command(Command::set()).keys(Keys::uniform(1000)).build().unwrap();
    for rate in [1000, 4000, 16_000, 64_000] {
        let record = Plan::new()
            .stream("redis", set.clone(), at(&format!("{rate}/s")).sessions(50))
            .measure(lasting(30, 1))
            .calibrate(Duration::ZERO)
            .run()
            .unwrap();
        let redis = stream(&record, "redis");
        assert_eq!(redis.accounting.failed, 0, "{rate}: {:?}", redis.failures);
        let p50 = |d: &Option<load_core::record::Distribution>| d.as_ref().expect("given").p50_ns;
        eprintln!(
            "{rate}/s: lateness {}, wait {}, service {}, response {} ns (P50)",
            p50(&redis.lateness),
            p50(&redis.wait),
            p50(&redis.service),
            p50(&redis.response)
        );
        // Response is what passed since it was due: the wait for our own part and the service by the server.
        let (response, service) = (redis.response.as_ref().unwrap(), redis.service.as_ref().unwrap());
        assert!(response.mean_ns >= service.mean_ns, "{rate}");
        assert!(redis.facts["timed"].contains("before the write"));
    }
    assert!(space.cleanup_blocking().passed);
}

#[test]
fn real_a_server_that_is_restarted_again_and_again_ends_no_session() {
    for client in [Client::Lean, Client::Fred] {
        let Some(server) = Server::start(&[]) else { return };
        let space = server.target().isolate().open_blocking().unwrap();
        let load = Redis::within(&space)
            .command(Command::set())
            .keys(Keys::uniform(1000))
            .client(client)
            .build()
            .unwrap();
        let plan = Plan::new()
            .stream("redis", load, Load::closed(10).workers(1))
            .measure(lasting(20, 5))
            .window(Duration::from_millis(500))
            .calibrate(Duration::ZERO);
        let run = thread::spawn(move || plan.run().unwrap());
        for _ in 0..3 {
            thread::sleep(Duration::from_millis(900));
            server.start_again();
        }
        let record = run.join().unwrap();
        let redis = stream(&record, "redis");
        assert!(redis.accounting.failed >= 10, "{client}: {:?}", redis.accounting);
        assert!(redis.accounting.unknown <= redis.accounting.failed);
        let last = redis.windows.iter().rfind(|w| !w.drain).unwrap();
        assert!(last.succeeded > 100 && last.failed == 0, "{client}: {last:?}");
        assert!(redis.connects.ok >= 40, "{client}: ten sessions, three times again: {:?}", redis.connects);
        let check = space.cleanup_blocking();
        assert!(check.passed, "{}", check.detail);
        assert_eq!(server.cli15(&["DBSIZE"]), "0");
    }
}

#[test]
fn real_a_server_frozen_in_the_middle_is_timeouts_and_an_end_in_time() {
    for client in [Client::Lean, Client::Fred] {
        let Some(server) = Server::start(&[]) else { return };
        let space = server.target().isolate().open_blocking().unwrap();
        let limit = Duration::from_millis(300);
        let target = server.target().timeout(limit).connect_timeout(limit);
        let incr = Command::custom("INCR").arg(space.key("n"));
        let load = Redis::at(&target).command(incr).client(client).build().unwrap();
        let plan = Plan::new()
            .stream("redis", load, Load::closed(5).workers(1))
            .measure(Duration::from_secs(4))
            .window(Duration::from_millis(500))
            .drain(Duration::from_secs(2))
            .calibrate(Duration::ZERO);
        let start = std::time::Instant::now();
        let run = thread::spawn(move || plan.run().unwrap());
        thread::sleep(Duration::from_millis(1200));
        server.process().pause().unwrap();
        thread::sleep(Duration::from_millis(1200));
        server.process().resume().unwrap();
        let record = run.join().unwrap();
        assert!(start.elapsed() < Duration::from_secs(20), "{client}: {:?}", start.elapsed());
        let redis = stream(&record, "redis");
        let timeouts: u64 =
            redis.failures.iter().filter(|f| f.class == load_core::Class::Timeout).map(|f| f.count).sum();
        assert!((5..100).contains(&timeouts), "{client}: {:?}", redis.failures);
        assert!(redis.accounting.unknown >= timeouts);
        let last = redis.windows.iter().rfind(|w| !w.drain).unwrap();
        assert!(last.succeeded > 100, "{client}: it works again: {last:?}");
        assert!(space.cleanup_blocking().passed);
        assert_eq!(server.cli15(&["DBSIZE"]), "0");
    }
}

#[test]
fn real_an_outage_under_an_open_load_is_bounded_and_counted() {
    for client in [Client::Lean, Client::Fred] {
        let Some(server) = Server::start(&[]) else { return };
        let space = server.target().isolate().cleanup_limit(Duration::from_secs(1)).open_blocking().unwrap();
        let load = Redis::within(&space)
            .command(Command::set())
            .keys(Keys::uniform(1000))
            .client(client)
            .build()
            .unwrap();
        let time = lasting(33, 3);
        let plan = Plan::new()
            .stream("redis", load, at("5000/s").overload(Overload::queue(500)))
            .measure(time)
            .calibrate(Duration::ZERO);
        let run = thread::spawn(move || plan.run().unwrap());
        thread::sleep(Duration::from_millis(1000));
        server.kill();
        thread::sleep(Duration::from_millis(500));
        let before = common::resident_kib();
        let record = run.join().unwrap();
        let grown = common::resident_kib().saturating_sub(before);
        let redis = stream(&record, "redis");
        let books = &redis.accounting;
        assert_eq!(books.scheduled, 5000 * time.as_secs());
        let missed = books.dropped + books.unfinished + books.failed;
        assert!(books.succeeded > 20 && missed > books.scheduled / 3, "{client}: {books:?}");
        assert!(grown < 16 * 1024, "{client}: {grown} KiB more during the outage");
        assert!(!space.cleanup_blocking().passed, "nobody can say that the keys are gone");
    }
}

#[test]
fn real_the_client_is_calibrated_against_its_null_target() {
    let Some(server) = Server::start(&[]) else { return };
    let space = server.target().isolate().open_blocking().unwrap();
    for client in [Client::Lean, Client::Fred] {
        let record = Plan::new()
            .stream("redis", get(&space, client), Load::closed(4).workers(1))
            .measure(Duration::from_millis(500))
            .run()
            .unwrap();
        let redis = stream(&record, "redis");
        let evidence = serde_json::to_value(&redis.verdict).unwrap();
        assert!(evidence["evidence"]["ceiling"].is_number(), "{client}: {evidence}");
        assert!(evidence["evidence"]["concurrency_kept"].is_number(), "{client}: {evidence}");
        assert_ne!(redis.accounting.succeeded, 0);
    }
    assert!(space.cleanup_blocking().passed);
}
