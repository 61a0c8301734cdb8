//! The null target answers as a server would, and only the delay is its own.

mod common;

use common::{Driver, Server, on_worker};
use load_core::Workload;
use redis_load::{Command, Keys, NullTarget, Payload, Protocol, Redis};
use std::time::{Duration, Instant};

#[test]
fn real_every_command_gets_an_answer_of_the_same_size_as_from_a_server() {
    let Some(server) = Server::start(&[]) else { return };
    on_worker(async {
        for protocol in [Protocol::Resp2, Protocol::Resp3] {
            let space = server.target().protocol(protocol).isolate().open().await.unwrap();
            let filled = |command: Command| {
                Redis::within(&space)
                    .command(command)
                    .keys(Keys::sequential(700))
                    .pipeline(700)
                    .build()
                    .unwrap()
            };
            for command in [Command::rpush(), Command::set(), Command::sadd(), Command::zadd()] {
                Driver::connect(&filled(command)).await.unwrap().many(1).await;
            }
            for command in Command::all() {
                let name = command.name();
                let load = Redis::within(&space)
                    .command(command)
                    .keys(Keys::uniform(700))
                    .pipeline(3)
                    .build()
                    .unwrap();
                let null = NullTarget::start(&load, Duration::ZERO).unwrap();
                let theirs = Driver::connect(&load).await.unwrap().many(1).await;
                let mut driver = Driver::connect(&load.pointed_at(&null)).await.unwrap();
                let ours = driver.many(20).await;
                assert_eq!(ours.bytes_out, 20 * theirs.bytes_out, "{name}");
                assert_eq!(ours.counts.get("misses"), None, "{name}");
                // Counts and identifiers have as many digits as they happen to have.
                if !matches!(name, "incr" | "lpush" | "rpush" | "xadd" | "zpopmin" | "sadd" | "hset") {
                    assert_eq!(ours.bytes_in, 20 * theirs.bytes_in, "{name}");
                }
            }
            assert!(space.cleanup().await.passed);
        }
    });
}

#[test]
fn real_values_are_verified_there_too_whatever_their_size() {
    let Some(server) = Server::start(&[]) else { return };
    on_worker(async {
        let space = server.target().isolate().open().await.unwrap();
        for size in [1, 100, 3 << 20] {
            let load = Redis::within(&space)
                .command(Command::set())
                .command(Command::get())
                .keys(Keys::uniform(1000))
                .payload(Payload::verified(size))
                .pipeline(3)
                .build()
                .unwrap();
            let null = NullTarget::start(&load, Duration::ZERO).unwrap();
            let mut driver = Driver::connect(&load.pointed_at(&null)).await.unwrap();
            assert_eq!(driver.many(20).await.units, 60, "{size} bytes");
        }
        assert!(space.cleanup().await.passed);
    });
}

#[test]
fn answers_come_after_the_delay() {
    let target = redis_load::Target::url("redis://127.0.0.1:1").unwrap();
    let load = Redis::at(&target).command(Command::ping()).build().unwrap();
    let delay = Duration::from_millis(20);
    let null = NullTarget::start(&load, delay).unwrap();
    let at_once = NullTarget::start(&load, Duration::ZERO).unwrap();
    on_worker(async {
        let mut late = Driver::connect(&load.pointed_at(&null)).await.unwrap();
        let start = Instant::now();
        late.many(10).await;
        assert!(start.elapsed() >= 10 * delay, "{:?}", start.elapsed());
        let mut soon = Driver::connect(&load.pointed_at(&at_once)).await.unwrap();
        let start = Instant::now();
        soon.many(100).await;
        assert!(start.elapsed() < 100 * delay, "{:?}", start.elapsed());
        // A connection that is gone gets no answer, and the others still do.
        drop(late);
        Driver::connect(&load.pointed_at(&null)).await.unwrap().many(2).await;
    });
}

#[test]
fn real_it_is_reached_as_the_server_is() {
    let Some(server) = Server::start(&[]) else { return };
    // Nothing is asked of these places but how they are reached.
    let unix = redis_load::Target::unix("/nonexistent/redis.sock");
    let mut targets = vec![server.target(), unix];
    if cfg!(feature = "tls") {
        targets.push(redis_load::Target::url("rediss://localhost:1").unwrap());
    }
    on_worker(async {
        for (target, size, depth) in targets.iter().flat_map(|t| [(t, 3, 1), (t, 3, 16), (t, 1 << 20, 3)]) {
            for client in [redis_load::Client::Lean, redis_load::Client::Fred] {
                let get = Command::custom("GET").number().reads_value();
                let set = Command::custom("SET").number().value();
                let load = Redis::at(target)
                    .command(get)
                    .command(set)
                    .payload(Payload::fixed(size))
                    .pipeline(depth)
                    .client(client)
                    .build()
                    .unwrap();
                for delay in [Duration::ZERO, Duration::from_millis(1)] {
                    let null = NullTarget::start(&load, delay).unwrap();
                    let same = load.pointed_at(&null);
                    assert_eq!(same.describe(), load.describe());
                    let mut driver = Driver::connect(&same).await.unwrap();
                    let sums = driver.many(20).await;
                    assert_eq!(sums.units, 20 * depth as u64, "{size} bytes: {}", load.describe());
                }
            }
        }
    });
    assert_eq!(server.calls("set"), 0, "none of it went to a server");
}
