//! Whole runs against servers that refuse, redirect, hang up, or are given more than they can take: every operation is in
//! the books, with the class that it came to.

mod common;

use common::{Peer, Server, answer, full, on_worker, resident_kib};
use load_core::{Class, Load, Record, record::StreamRecord};
use load_engine::Plan;
use redis_load::{Client, Command, Keys, Payload, Redis, Target};
use std::{thread, time::Duration};

const CLIENTS: [Client; 2] = [Client::Lean, Client::Fred];

/// The one stream, whose books balance.
fn books(record: &Record) -> &StreamRecord {
    let stream = record.streams_named("redis").next().unwrap();
    assert!(stream.accounting.balances(), "{:?}", stream.accounting);
    stream
}

fn run(load: Redis, clients: usize, time: Duration) -> Record {
    let load_of = Load::closed(clients).workers(1);
    Plan::new().stream("redis", load, load_of).measure(time).calibrate(Duration::ZERO).run().unwrap()
}

/// How often each code of the class `redis` was counted.
fn refused(stream: &StreamRecord, code: &str) -> u64 {
    let of: Vec<_> = stream.failures.iter().filter(|f| f.class == Class::Redis && f.code == code).collect();
    assert!(of.len() <= 1, "one line for each kind: {of:?}");
    of.iter().map(|f| f.count).sum()
}

#[test]
fn real_a_count_that_no_pipeline_divides_is_sent_exactly() {
    let Some(server) = Server::start(&[]) else { return };
    for client in CLIENTS {
        for total in [100, 101] {
            let space = server.target().isolate().open_blocking().unwrap();
            let before = server.calls("incr");
            let load = Redis::within(&space)
                .command(Command::incr())
                .pipeline(10)
                .total_commands(total)
                .client(client)
                .build()
                .unwrap();
            let record = Plan::new()
                .stream("redis", load, Load::closed(50).workers(1))
                .measure_count(total.div_ceil(10))
                .calibrate(Duration::ZERO)
                .run()
                .unwrap();
            let redis = books(&record);
            assert_eq!((redis.units, server.calls("incr") - before), (total, total), "{client}");
            assert!(redis.completed_per_s.is_finite() && redis.elapsed_ns > 0);
            assert!(space.cleanup_blocking().passed);
        }
    }
}

#[test]
fn real_refusals_are_failures_apart_from_successes() {
    let full_server = ["--maxmemory", "6mb", "--maxmemory-policy", "noeviction"];
    let replica = ["--replicaof", "127.0.0.1 1"];
    for (settings, code) in [(&full_server[..], "OOM"), (&replica[..], "READONLY")] {
        let Some(server) = Server::start(settings) else { return };
        for client in CLIENTS {
            let set = Command::custom("SET").number().value();
            let load = Redis::at(&server.target())
                .command(set)
                .keys(Keys::sequential(20_000))
                .payload(Payload::fixed(1024))
                .client(client)
                .build()
                .unwrap();
            let record = run(load, 10, Duration::from_secs(3));
            let redis = books(&record);
            assert!(refused(redis, code) > 0, "{client}: {:?}", redis.failures);
            assert_eq!(redis.accounting.failed, refused(redis, code), "{client}: {:?}", redis.failures);
            assert_eq!(redis.accounting.unknown, 0, "{client}: a refusal is no doubt");
            assert_eq!(redis.failed_service.as_ref().unwrap().count, redis.accounting.failed);
            let successes = redis.service.as_ref().map_or(0, |d| d.count);
            assert_eq!(successes, redis.accounting.succeeded, "{client}: times are not mixed");
            assert_eq!(redis.connects.ok, 10, "{client}: no connection was given up");
        }
    }
}

#[test]
fn real_connections_killed_every_moment_end_no_run() {
    let Some(server) = Server::start(&[]) else { return };
    for client in CLIENTS {
        let space = server.target().isolate().open_blocking().unwrap();
        let load = Redis::within(&space)
            .command(Command::set())
            .keys(Keys::uniform(1000))
            .pipeline(10)
            .client(client)
            .build()
            .unwrap();
        let (time, pause) = if full() { (10, 1000) } else { (3, 500) };
        let running = thread::spawn(move || run(load, 10, Duration::from_secs(time)));
        for _ in 0..4 {
            thread::sleep(Duration::from_millis(pause));
            server.cli(&["CLIENT", "KILL", "TYPE", "normal"]);
        }
        let record = running.join().unwrap();
        let redis = books(&record);
        let took = Duration::from_nanos(redis.elapsed_ns + redis.drain_ns);
        assert!(took < Duration::from_secs(time + 2), "{client}: {took:?}");
        assert!(redis.accounting.failed >= 10, "{client}: {:?}", redis.accounting);
        // Each command of each operation is good or not: none is pending for ever.
        let ended = redis.accounting.succeeded + redis.accounting.failed;
        assert_eq!(redis.units + redis.failed_units, 10 * ended, "{client}: {:?}", redis.accounting);
        assert!(redis.failures.iter().all(|f| matches!(f.class, Class::Closed | Class::Reset)));
        assert!(space.cleanup_blocking().passed);
        assert_eq!(server.cli15(&["DBSIZE"]), "0");
    }
}

#[test]
fn real_a_node_of_a_cluster_redirects_and_that_is_counted() {
    let node = || {
        // The bus is not at the port plus 10,000, which may be none.
        let bus = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Server::start(&["--cluster-enabled", "yes", "--cluster-port", &bus.to_string()]).map(|s| (s, bus))
    };
    let (Some((one, _)), Some((two, bus))) = (node(), node()) else { return };
    assert_eq!(one.cli(&["CLUSTER", "ADDSLOTSRANGE", "0", "8191"]), "OK");
    assert_eq!(two.cli(&["CLUSTER", "ADDSLOTSRANGE", "8192", "16383"]), "OK");
    let port = two.address().port().to_string();
    assert_eq!(one.cli(&["CLUSTER", "MEET", "127.0.0.1", &port, &bus.to_string()]), "OK");
    let end = std::time::Instant::now() + Duration::from_secs(30);
    while !one.cli(&["CLUSTER", "INFO"]).contains("cluster_state:ok") {
        assert!(std::time::Instant::now() < end, "{}", one.cli(&["CLUSTER", "INFO"]));
        thread::sleep(Duration::from_millis(50));
    }
    for client in CLIENTS {
        let load = Redis::at(&one.target().database(0))
            .command(Command::custom("SET").number().value())
            .keys(Keys::uniform(10_000))
            .client(client)
            .build()
            .unwrap();
        let record = run(load, 10, Duration::from_secs(1));
        let redis = books(&record);
        let moved = refused(redis, "MOVED");
        assert_eq!(moved, redis.accounting.failed, "{client}: {:?}", redis.failures);
        // About half of the keys are the other node's.
        let ended = (moved + redis.accounting.succeeded) as f64;
        assert!((0.4..0.6).contains(&(moved as f64 / ended)), "{client}: {:?}", redis.accounting);
        assert!(redis.failures[0].example.contains("not followed"), "{:?}", redis.failures);
        assert_eq!(redis.connects.ok, 10, "{client}: connected to nobody else");
    }
    assert_eq!(two.calls("set"), 0);
    // A part of such a database cannot be isolated, and that is said.
    let said = on_worker(one.target().isolate().open()).unwrap_err().to_string();
    assert!(said.contains("database 15"), "{said}");
}

#[test]
fn words_of_a_cluster_have_one_line_each() {
    const WORDS: [&str; 3] = ["TRYAGAIN Multiple keys", "ASK 1 127.0.0.1:7001", "MOVED 1 127.0.0.1:7001"];
    for client in CLIENTS {
        let peer = Peer::start(|_, stream| {
            let mut number = 0;
            answer(stream, |_| {
                number += 1;
                format!("-{} {number}\r\n", WORDS[number % 3])
            });
        });
        let get = Command::custom("GET").arg("k").reads();
        let load = Redis::at(&peer.target()).command(get).client(client).build().unwrap();
        let record = run(load, 3, Duration::from_millis(500));
        let redis = books(&record);
        assert_eq!(redis.failures.len(), 3, "{client}: {:?}", redis.failures);
        let all: u64 = ["TRYAGAIN", "ASK", "MOVED"].iter().map(|word| refused(redis, word)).sum();
        assert_eq!((all, redis.accounting.succeeded), (redis.accounting.failed, 0), "{client}");
    }
}

#[test]
fn real_large_values_are_cut_at_the_end_and_memory_stays_bounded() {
    let Some(server) = Server::start(&[]) else { return };
    let (clients, seconds) = if full() { (20, 10) } else { (4, 2) };
    const SIZE: usize = 8 << 20;
    let space = server.target().isolate().open_blocking().unwrap();
    let load = Redis::within(&space)
        .command(Command::set())
        .keys(Keys::uniform(4))
        .payload(Payload::fixed(SIZE))
        .pipeline(8)
        .build()
        .unwrap();
    let before = resident_kib();
    let record = run(load, clients, Duration::from_secs(seconds));
    let grown = 1024 * resident_kib().saturating_sub(before);
    let redis = books(&record);
    let took = Duration::from_nanos(redis.elapsed_ns + redis.drain_ns);
    assert!(took < Duration::from_secs(seconds + 6), "{took:?}");
    assert_eq!(redis.accounting.failed, 0, "{:?}", redis.failures);
    assert!(redis.accounting.succeeded > 0, "{:?}", redis.accounting);
    // The value is held once, not in each request.
    assert!(grown < 4 * SIZE as u64, "{grown} bytes more");
    assert!(space.cleanup_blocking().passed);
}

#[test]
fn real_a_run_that_cannot_connect_says_why_and_leaves_nothing() {
    let Some(server) = Server::start(&["--databases", "4"]) else { return };
    for client in CLIENTS {
        let fails = |target: Target| {
            let load = Redis::at(&target).command(Command::ping()).client(client).build().unwrap();
            let plan = Plan::new()
                .stream("redis", load, Load::closed(3).workers(1))
                .measure(Duration::from_millis(200))
                .connect_timeout(Duration::from_secs(2))
                .calibrate(Duration::ZERO);
            plan.run().unwrap_err().to_string()
        };
        let said = fails(server.target().database(7));
        assert!(said.contains("no database 7"), "{client}: {said}");
        let said = fails(server.target().database(0).password("wr0ngsecret"));
        assert!(said.contains("WRONGPASS") && !said.contains("wr0ngsecret"), "{client}: {said}");
    }
    assert_eq!(server.cli(&["INFO", "keyspace"]), "# Keyspace");
}
