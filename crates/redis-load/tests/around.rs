//! What is done around the load: data before it, readings beside it, what is said of the server.

mod common;

use common::{Driver, Server, on_worker, with_each_client};
use load_core::{Readings, Source, SourceError, Workload};
use redis_load::{Client, Command, Keys, Payload, Prefill, Redis, RedisStatus, Target};
use std::{collections::BTreeMap, time::Duration};

#[test]
fn real_prefilled_keys_are_hit_as_the_part_says() {
    with_each_client(&[], async |server, client| {
        for (part, low, high) in [(0.0, 0, 0), (1.0, 2000, 2000), (0.5, 850, 1150)] {
            let space = server.target().isolate().open().await.unwrap();
            let load = Redis::within(&space)
                .command(Command::get())
                .keys(Keys::uniform(1000))
                .payload(Payload::verified(100))
                .client(client)
                .build()
                .unwrap();
            let filled = load.prefill(Prefill::part(part)).await.unwrap();
            assert_eq!(filled.keys, (1000.0 * part) as u64);
            let mut driver = Driver::connect(&load).await.unwrap();
            driver.op.take_facts();
            let sums = driver.many(2000).await;
            let hits = sums.counts.get("hits").copied().unwrap_or(0);
            assert!((low..=high).contains(&hits), "{client}, {part}: {hits}");
            assert_eq!(hits + sums.counts.get("misses").copied().unwrap_or(0), 2000);
            assert!(sums.bytes_in >= hits * 100);
            let warned = driver.op.take_facts().iter().any(|(name, _)| *name == "low hit rate");
            assert!(warned == (part == 0.0) || part == 0.5, "{client}, {part}: {warned}");
            assert!(space.cleanup().await.passed);
        }
    });
}

#[test]
fn real_collections_are_filled_for_those_that_take_from_them() {
    let Some(server) = Server::start(&[]) else { return };
    on_worker(async {
        let space = server.target().isolate().open().await.unwrap();
        let all =
            [Command::lpop(), Command::spop(), Command::zpopmin(), Command::lrange_600(), Command::get()];
        let mix = all.iter().fold(Redis::within(&space), |b, c| b.command(c.clone())).keys(Keys::uniform(50));
        let filled = mix.build().unwrap().prefill(Prefill::all().elements(1500)).await.unwrap();
        assert_eq!((filled.keys, filled.elements), (50, 4500), "one list for LPOP and LRANGE");
        assert!(filled.to_string().contains("50 keys and 4500 elements"));
        let key = |name: &str| format!("{}{name}", space.prefix());
        assert_eq!(server.cli15(&["LLEN", &key("li")]), "1500");
        assert_eq!(server.cli15(&["SCARD", &key("s")]), "1500");
        assert_eq!(server.cli15(&["ZCARD", &key("zs")]), "1500");
        assert!(space.cleanup().await.passed);
    });
    let target = Target::url("redis://127.0.0.1:1").unwrap();
    let load = Redis::at(&target).command(Command::ping()).build().unwrap();
    assert!(load.prefill_blocking(Prefill::part(1.5)).unwrap_err().to_string().contains("prefill.part: 1.5"));
}

#[test]
fn real_a_prefill_that_does_not_fit_says_so() {
    let Some(server) = Server::start(&["--maxmemory", "4mb", "--maxmemory-policy", "noeviction"]) else {
        return;
    };
    let space = server.target().isolate().open_blocking().unwrap();
    let load = Redis::within(&space)
        .command(Command::get())
        .keys(Keys::uniform(20_000))
        .payload(Payload::fixed(1024))
        .build()
        .unwrap();
    let said = load.prefill_blocking(Prefill::all()).unwrap_err().to_string();
    assert!(said.contains("OOM") || said.contains("refused while pre-filling"), "{said}");
    assert!(space.cleanup_blocking().passed);
}

fn values(readings: &Readings) -> BTreeMap<String, f64> {
    readings.values().iter().map(|(name, _, value)| (name.clone(), *value)).collect()
}

#[test]
fn real_status_tells_what_the_server_did() {
    let Some(server) = Server::start(&["--slowlog-log-slower-than", "0"]) else { return };
    on_worker(async {
        let mut status = RedisStatus::new(&server.target()).unwrap().named("cache");
        assert!(status.origin().contains(&server.address().to_string()));
        let mut readings = Readings::new();
        status.read(&mut readings).await.unwrap();
        let first = values(&readings);
        assert!(first["cache.memory.used"] > 100_000.0 && first["cache.clients"] >= 1.0);
        assert!(!first.contains_key("cache.commands"), "a rate needs two readings");
        assert!(readings.events().is_empty(), "what was before is not told: {:?}", readings.events());

        let space = server.target().isolate().open().await.unwrap();
        let load = Redis::within(&space).command(Command::get()).keys(Keys::uniform(10)).build().unwrap();
        load.prefill(Prefill::part(0.5)).await.unwrap();
        Driver::connect(&load).await.unwrap().many(500).await;
        readings.clear();
        status.read(&mut readings).await.unwrap();
        let second = values(&readings);
        assert!(second["cache.commands"] > 100.0 && second["cache.network.in"] > 1000.0, "{second:?}");
        assert!((0.3..0.7).contains(&second["cache.keyspace.hit_ratio"]), "{second:?}");
        assert!(second.contains_key("cache.persistence.last_save_age"));
        assert!(!second.contains_key("cache.memory.limit"), "there is none");
        let slow: Vec<_> =
            readings.events().iter().filter(|(what, _)| what == "cache slow command").collect();
        assert!(!slow.is_empty() && slow.len() <= 5, "{slow:?}");
        assert!(slow.iter().all(|(_, detail)| !detail.contains(space.prefix())), "no arguments: {slow:?}");
        assert!(space.cleanup().await.passed);

        server.start_again();
        readings.clear();
        // The old connection is dead: a gap, then the new server.
        assert!(matches!(status.read(&mut readings).await, Err(SourceError::Failed(_))));
        readings.clear();
        status.read(&mut readings).await.unwrap();
        assert_eq!(readings.events()[0].0, "cache restarted");
        assert!(!values(&readings).contains_key("cache.commands"), "no rate across a restart");
    });
}

#[test]
fn real_evictions_are_seen() {
    let Some(server) = Server::start(&["--maxmemory", "5mb", "--maxmemory-policy", "allkeys-lru"]) else {
        return;
    };
    on_worker(async {
        let mut status = RedisStatus::new(&server.target()).unwrap();
        let mut readings = Readings::new();
        status.read(&mut readings).await.unwrap();
        assert_eq!(values(&readings)["redis.memory.limit"], 5.0 * 1024.0 * 1024.0);
        let set = Command::custom("SET").number().value();
        let load = Redis::at(&server.target())
            .command(set)
            .keys(Keys::sequential(20_000))
            .payload(Payload::fixed(1024))
            .pipeline(100)
            .build()
            .unwrap();
        let sums = Driver::connect(&load).await.unwrap().many(200).await;
        assert_eq!((sums.units, sums.failed_units), (20_000, 0), "evicting is no failure");
        readings.clear();
        status.read(&mut readings).await.unwrap();
        let seen = values(&readings);
        assert!(seen["redis.keys.evicted"] > 0.0 && seen["redis.keys.evicted.total"] > 10_000.0, "{seen:?}");
        assert!(readings.events().iter().any(|(what, _)| what == "redis evicts keys"));
    });
}

#[test]
fn real_a_user_who_may_not_look_is_told_so() {
    let Some(server) = Server::start(&[]) else { return };
    server.cli(&["ACL", "SETUSER", "blind", "on", ">pw", "~*", "+@all", "-info", "-config", "-slowlog"]);
    server.cli(&["ACL", "SETUSER", "short", "on", ">pw", "~*", "+@all", "-config", "-slowlog"]);
    on_worker(async {
        let mut readings = Readings::new();
        let blind = server.target().user("blind").password("pw");
        let error = RedisStatus::new(&blind).unwrap().read(&mut readings).await.unwrap_err();
        assert!(matches!(&error, SourceError::Unavailable(why) if why.contains("NOPERM")), "{error}");
        let short = server.target().user("short").password("pw");
        let mut status = RedisStatus::new(&short).unwrap();
        status.read(&mut readings).await.unwrap();
        status.read(&mut readings).await.unwrap();
        let known = short.environment().await.unwrap();
        assert!(known.version.is_some() && !known.settings.contains_key("save"));
    });
}

#[test]
fn real_the_environment_has_what_matters_and_no_secret() {
    let Some(server) = Server::start(&["--maxmemory", "100mb", "--appendonly", "yes"]) else { return };
    on_worker(async {
        let known = server.target().environment().await.unwrap();
        assert!(known.version.as_ref().unwrap().starts_with(|c: char| c.is_ascii_digit()));
        assert_eq!(known.settings["maxmemory"], "104857600");
        assert_eq!(known.settings["appendonly"], "yes");
        assert_eq!(known.settings["save"], "(none)");
        assert_eq!(known.settings["mode"], "standalone");
        assert!(known.settings.contains_key("io-threads"));
        assert!(!format!("{known:?}").contains(server.password()));
    });
}

#[test]
fn a_workload_describes_itself_without_addresses() {
    let target = Target::url("redis://user:s3cret@127.0.0.1:7777").unwrap();
    let load =
        |client| Redis::at(&target).weighted(Command::ping(), 2).client(client).pipeline(4).build().unwrap();
    let text = load(Client::Lean).describe();
    assert_eq!(text, "redis ping, keys one key, 3 bytes, the same, pipeline 4, lean client, RESP2");
    assert_ne!(text, load(Client::Fred).describe());
    let (nulled, _guard) = load(Client::Lean).null_target(Duration::ZERO).unwrap().unwrap().into_parts();
    assert_eq!(nulled.describe(), text);
    on_worker(async {
        assert_eq!(Driver::connect(&nulled).await.unwrap().many(3).await.units, 12);
    });
    assert!(!format!("{:?}", load(Client::Lean)).contains("s3cret"));
}
