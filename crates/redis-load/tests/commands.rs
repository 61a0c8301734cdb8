//! The listed commands against a real server, with every protocol and pipeline depth.

mod common;

use common::{Driver, Server, on_worker, with_each_client};
use load_core::Session;
use redis_load::{Client, Command, Keys, Payload, Protocol, Redis, Space};

async fn space(server: &Server, protocol: Protocol) -> Space {
    server.target().protocol(protocol).isolate().open().await.expect("a space")
}

#[test]
fn real_every_listed_command_runs_and_is_counted_exactly() {
    with_each_client(&[], async |server, client| {
        for (protocol, depth) in [(Protocol::Resp2, 1), (Protocol::Resp2, 16), (Protocol::Resp3, 7)] {
            for command in Command::all() {
                if client == Client::Fred && command == Command::ping_inline() {
                    continue;
                }
                let verb = command.name().split('_').next().unwrap().to_owned();
                let space = space(server, protocol).await;
                let load = Redis::within(&space)
                    .client(client)
                    .command(command.clone())
                    .keys(Keys::uniform(1000))
                    .pipeline(depth)
                    .build()
                    .unwrap();
                let mut driver = Driver::connect(&load).await.unwrap();
                let before = server.calls(&verb);
                let sums = driver.many(10).await;
                assert_eq!(server.calls(&verb) - before, 10 * depth as u64, "{} at {depth}", command.name());
                assert_eq!((sums.units, sums.failed_units), (10 * depth as u64, 0));
                assert!(sums.bytes_in > 0 && sums.bytes_out > 0);
                drop(driver);
                let check = space.cleanup().await;
                assert!(check.passed, "{}", check.detail);
                assert_eq!(server.cli15(&["DBSIZE"]), "0", "after {}", command.name());
            }
        }
    });
}

#[test]
fn real_a_unix_socket_and_a_password_work() {
    // Where the server may make it, and we may find it.
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let socket = dir.path().join("redis.sock").to_str().unwrap().to_owned();
    let Some(server) = Server::start(&["--unixsocket", &socket, "--unixsocketperm", "777"]) else { return };
    server.cli(&["ACL", "SETUSER", "odd-user", "on", ">p@ss word/1", "~*", "+@all"]);
    on_worker(async {
        let url = format!("unix://{socket}?db=3");
        let target = redis_load::Target::url(&url).unwrap().user("odd-user").password("p@ss word/1");
        let space = target.isolate().open().await.unwrap();
        let load = Redis::within(&space).command(Command::set()).build().unwrap();
        let mut driver = Driver::connect(&load).await.unwrap();
        driver.many(3).await;
        assert_eq!(server.cli(&["-n", "3", "DBSIZE"]), "3", "the key, the entry, the beat");
        drop(driver);
        assert!(space.cleanup().await.passed);
        assert_eq!(server.cli(&["-n", "3", "DBSIZE"]), "0");
        let url = format!("redis://odd-user:p%40ss%20word%2F1@{}/4", server.address());
        let space = redis_load::Target::url(&url).unwrap().isolate().open().await.unwrap();
        assert!(space.cleanup().await.passed);
    });
}

#[test]
fn real_users_of_the_access_list_work() {
    let Some(server) = Server::start(&[]) else { return };
    server.cli(&["ACL", "SETUSER", "load", "on", ">pw", "~*", "+@all", "-lpush"]);
    on_worker(async {
        for protocol in [Protocol::Resp2, Protocol::Resp3] {
            let target = server.target().user("load").password("pw").protocol(protocol);
            let space = target.isolate().open().await.unwrap();
            let load = Redis::within(&space).command(Command::get()).build().unwrap();
            Driver::connect(&load).await.unwrap().many(1).await;
            let load = Redis::within(&space).command(Command::lpush()).build().unwrap();
            let failure = Driver::connect(&load).await.unwrap().once().await.unwrap_err();
            assert_eq!((failure.class(), failure.code()), (load_core::Class::Redis, "NOPERM"));
            assert!(!failure.needs_reconnect() && !failure.is_unknown());
            assert!(space.cleanup().await.passed);
        }
    });
}

#[test]
fn real_hits_and_misses_are_counted() {
    with_each_client(&[], async |server, client| {
        let space = space(server, Protocol::Resp2).await;
        let get = |depth| {
            Redis::within(&space)
                .client(client)
                .command(Command::get())
                .keys(Keys::sequential(100))
                .pipeline(depth)
                .build()
                .unwrap()
        };
        let mut driver = Driver::connect(&get(10)).await.unwrap();
        let sums = driver.many(10).await;
        assert_eq!((sums.counts.get("hits"), sums.counts["misses"]), (None, 100), "an empty database");

        let set = Redis::within(&space)
            .client(client)
            .command(Command::set())
            .keys(Keys::sequential(50))
            .build()
            .unwrap();
        Driver::connect(&set).await.unwrap().many(50).await;
        let sums = driver.many(10).await;
        assert_eq!((sums.counts["hits"], sums.counts["misses"]), (50, 50), "half of the keys");
        assert!(sums.bytes_in > 0);

        let mut driver = Driver::connect(&get(1)).await.unwrap();
        driver.once().await.unwrap();
        assert_eq!(driver.kind(), Some("hit"));
        driver.seq = 99;
        driver.once().await.unwrap();
        assert_eq!(driver.kind(), Some("miss"));

        for (command, why) in [
            (Command::lpop(), "no list"),
            (Command::spop(), "no set"),
            (Command::zpopmin(), "an empty array"),
            (Command::lrange_100(), "an empty array"),
        ] {
            let load = Redis::within(&space).client(client).command(command).build().unwrap();
            let mut driver = Driver::connect(&load).await.unwrap();
            driver.once().await.unwrap();
            assert_eq!(driver.kind(), Some("miss"), "{why}");
        }
        assert!(space.cleanup().await.passed);
    });
}

#[test]
fn real_a_sequence_fills_exactly_and_random_keys_leave_holes() {
    with_each_client(&[], async |server, client| {
        for (keys, low, high) in [(Keys::sequential(100), 100, 100), (Keys::uniform(100), 50, 76)] {
            let space = space(server, Protocol::Resp2).await;
            let load = Redis::within(&space)
                .client(client)
                .command(Command::set())
                .keys(keys.clone())
                .pipeline(5)
                .build()
                .unwrap();
            let mut driver = Driver::connect(&load).await.unwrap();
            driver.many(20).await;
            let keys_made: u64 = server.cli15(&["DBSIZE"]).parse::<u64>().unwrap() - 2;
            assert!((low..=high).contains(&keys_made), "{keys}: {keys_made}");
            assert!(driver.op.take_facts().contains(&("keys", keys.to_string())));
            assert!(space.cleanup().await.passed);
        }
    });
}

#[test]
fn real_a_total_that_no_pipeline_divides_is_kept() {
    with_each_client(&[], async |server, client| {
        for total in [100, 101] {
            let space = space(server, Protocol::Resp2).await;
            let load = Redis::within(&space)
                .client(client)
                .command(Command::set())
                .pipeline(10)
                .total_commands(total)
                .build()
                .unwrap();
            let before = server.calls("set");
            let mut driver = Driver::connect(&load).await.unwrap();
            let sums = driver.many(11).await;
            // Opening the space has set one key itself, before.
            assert_eq!((sums.units, server.calls("set") - before), (total, total));
            assert!(space.cleanup().await.passed);
        }
    });
}

#[test]
fn real_values_come_back_as_they_were_written() {
    with_each_client(&[], async |server, client| {
        for size in [1, 12, 13, 300, 20_000, 1 << 20] {
            let space = space(server, Protocol::Resp3).await;
            let load = |command| {
                Redis::within(&space)
                    .client(client)
                    .command(command)
                    .keys(Keys::sequential(20))
                    .payload(Payload::verified(size))
                    .pipeline(4)
                    .build()
                    .unwrap()
            };
            Driver::connect(&load(Command::set())).await.unwrap().many(5).await;
            let mut get = Driver::connect(&load(Command::get())).await.unwrap();
            let sums = get.many(5).await;
            assert_eq!(sums.counts["hits"], 20, "{size} bytes");
            assert!(sums.bytes_in >= 20 * size as u64);
            // Altered in its last byte, and exchanged with another key's.
            let key = |n: u32| format!("{}{n:012}", space.prefix());
            server.cli15(&["SETRANGE", &key(3), &(size - 1).to_string(), "\x01"]);
            server.cli15(&["COPY", &key(5), &key(6), "REPLACE"]);
            let mut failed = 0;
            let mut counted = 0;
            for _ in 0..5 {
                get.once().await.unwrap();
                failed += get.op.said().failed_units;
                counted += get.counts().get("error.value").copied().unwrap_or(0);
            }
            assert_eq!((failed, counted), (2, 2), "{size} bytes");
            drop(get);
            let single = Redis::within(&space)
                .client(client)
                .command(Command::get())
                .keys(Keys::sequential(20))
                .payload(Payload::verified(size))
                .build()
                .unwrap();
            let mut get = Driver::connect(&single).await.unwrap();
            get.seq = 3;
            let failure = get.once().await.unwrap_err();
            assert_eq!((failure.class(), failure.code()), (load_core::Class::Check, "value"));
            assert!(!failure.needs_reconnect(), "the connection is in step");
            assert!(space.cleanup().await.passed);
        }
    });
}

#[test]
fn real_random_values_have_every_byte_and_differ() {
    with_each_client(&[], async |server, client| {
        let space = space(server, Protocol::Resp2).await;
        let load = Redis::within(&space)
            .client(client)
            .command(Command::set())
            .keys(Keys::sequential(2))
            .payload(Payload::random(100_000))
            .build()
            .unwrap();
        Driver::connect(&load).await.unwrap().many(2).await;
        let key = |n: u32| format!("{}{n:012}", space.prefix());
        assert_eq!(server.cli15(&["STRLEN", &key(0)]), "100000");
        let digest =
            |k: String| server.cli15(&["EVAL", "return redis.sha1hex(redis.call('GET', KEYS[1]))", "1", &k]);
        let script = "local v = redis.call('GET', KEYS[1]); local n, s = 0, {}; \
                      for i = 1, #v do local b = string.byte(v, i); if not s[b] then s[b] = 1; n = n + 1 end end; return n";
        assert_eq!(server.cli15(&["EVAL", script, "1", &key(0)]), "256");
        assert_ne!(digest(key(0)), digest(key(1)));
        assert!(space.cleanup().await.passed);
    });
}

#[test]
fn values_are_made_before_the_time_begins() {
    let target = redis_load::Target::url("redis://127.0.0.1:1").unwrap();
    for (client, keys) in [Client::Lean, Client::Fred]
        .into_iter()
        .flat_map(|client| [(client, Keys::uniform(1000)), (client, Keys::sequential(1000))])
    {
        let load = Redis::at(&target)
            .command(Command::custom("SET").number().value())
            .keys(keys)
            .payload(Payload::random(1 << 20))
            .client(client)
            .build()
            .unwrap();
        let null = redis_load::NullTarget::start(&load, std::time::Duration::ZERO).unwrap();
        on_worker(async {
            let mut driver = Driver::connect(&load.pointed_at(&null)).await.unwrap();
            let facts = driver.op.take_facts();
            assert!(
                facts.iter().any(|(name, text)| *name == "timed" && text.contains("values are made before"))
            );
            for _ in 0..3 {
                let unused = driver.op.rng().clone();
                driver.session.prepare(&mut driver.op);
                let made = driver.op.rng().clone();
                assert_ne!(made, unused, "{client}: preparing makes random bytes");
                driver.session.call(&mut driver.op).await.unwrap();
                assert_eq!(*driver.op.rng(), made, "{client}: the call makes none");
            }
        });
    }
}

#[test]
fn real_a_mix_says_which_it_was() {
    with_each_client(&[], async |server, client| {
        let space = space(server, Protocol::Resp2).await;
        let mix = |depth| {
            Redis::within(&space)
                .client(client)
                .weighted(Command::get(), 9)
                .weighted(Command::set(), 1)
                .keys(Keys::uniform(10))
                .pipeline(depth)
                .build()
                .unwrap()
        };
        let mut driver = Driver::connect(&mix(1)).await.unwrap();
        let mut kinds = std::collections::BTreeMap::new();
        for _ in 0..500 {
            driver.once().await.unwrap();
            *kinds.entry(driver.kind().unwrap()).or_insert(0) += 1;
        }
        assert_eq!(kinds["get"] + kinds["set"], 500);
        assert!((20..90).contains(&kinds["set"]), "{kinds:?}");

        let gets = server.calls("get");
        let sums = Driver::connect(&mix(16)).await.unwrap().many(50).await;
        assert_eq!(sums.counts["get"] + sums.counts["set"], 800);
        assert_eq!(sums.counts["get"], server.calls("get") - gets);
        assert_eq!(sums.counts["hits"] + sums.counts.get("misses").unwrap_or(&0), sums.counts["get"]);
        assert!(space.cleanup().await.passed);
    });
}

#[test]
fn real_custom_commands_have_keys_of_ours() {
    with_each_client(&[], async |server, client| {
        let space = space(server, Protocol::Resp2).await;
        let command = Command::custom("ZINCRBY").named_key("board").arg("2").element();
        let load =
            Redis::within(&space).client(client).command(command).keys(Keys::sequential(5)).build().unwrap();
        Driver::connect(&load).await.unwrap().many(10).await;
        assert_eq!(server.cli15(&["ZCARD", &format!("{}:board", space.prefix())]), "5");
        assert!(space.cleanup().await.passed);
        assert_eq!(server.cli15(&["DBSIZE"]), "0");

        let info = Redis::at(&server.target()).command(Command::custom("INFO")).build().unwrap();
        let mut driver = Driver::connect(&info).await.unwrap();
        let sums = driver.many(3).await;
        assert!(sums.bytes_in > 3000);
        assert_eq!(driver.steps(), [] as [&str; 0], "the parts of connecting are its own");
    });
}

#[test]
fn settings_that_cannot_be_meant_are_named() {
    let target = redis_load::Target::url("redis://127.0.0.1:1").unwrap();
    let said = |b: redis_load::RedisBuilder| b.build().unwrap_err().to_string();
    assert!(said(Redis::at(&target)).contains("command: none"));
    assert!(said(Redis::at(&target).command(Command::get())).contains("command: get"));
    assert!(said(Redis::at(&target).command(Command::ping()).pipeline(0)).contains("pipeline: 0"));
    assert!(said(Redis::at(&target).weighted(Command::ping(), 0)).contains("weighted: ping 0"));
    assert!(
        said(Redis::at(&target).command(Command::ping()).payload(Payload::fixed(1 << 30)))
            .contains("payload: 1073741824")
    );
    assert!(
        said(Redis::at(&target).command(Command::ping()).keys(Keys::uniform(0))).contains("keys.space: 0")
    );
    assert!(
        said(Redis::at(&target.clone().timeout(std::time::Duration::ZERO)).command(Command::ping()))
            .contains("timeout: 0 s")
    );
    assert!(said(Redis::at(&target.user("x")).command(Command::ping())).contains("password: none"));
}
