//! Closures over fred, whose settings are made for measuring.

mod common;

use common::{Driver, Peer, Server, answer, on_worker};
use load_core::Class;
use redis_load::{
    Redis,
    fred::{prelude::*, types::Message},
};
use std::time::Duration;

#[test]
fn real_a_closure_has_the_whole_client_and_its_keys_are_ours() {
    let Some(server) = Server::start(&[]) else { return };
    on_worker(async {
        let space = server.target().isolate().open().await.unwrap();
        let board = space.key("board");
        let load = Redis::with_fred(space.target(), async move |client, op| {
            let name = format!("player {}", op.seq() % 3);
            let score: f64 = client.zincrby(&board, 2.0, name).await?;
            op.count("points", score as u64);
            Ok(())
        });
        let mut driver = Driver::connect(&load).await.unwrap();
        let facts = driver.op.take_facts();
        assert!(facts.contains(&("client", "fred 10.1".to_owned())), "{facts:?}");
        assert!(facts.contains(&("protocol", "RESP2".to_owned())), "{facts:?}");
        assert_eq!(load_core::Workload::describe(&load), "redis closure, fred 10.1 client, RESP2");
        let sums = driver.many(6).await;
        assert_eq!(sums.counts["points"], 18);
        assert_eq!(server.cli15(&["ZCARD", &space.key("board")]), "3");
        let check = space.cleanup().await;
        assert!(check.passed && check.detail.contains("1 keys"), "{}", check.detail);
        assert_eq!(server.cli15(&["DBSIZE"]), "0");
    });
}

#[test]
fn real_its_errors_are_classified() {
    let Some(server) = Server::start(&[]) else { return };
    on_worker(async {
        let space = server.target().isolate().open().await.unwrap();
        let key = space.key("text");
        let load = Redis::with_fred(space.target(), async move |client, op| {
            let _: () = client.set(&key, "x", None, None, false).await?;
            match op.seq() {
                0 => client.incr::<i64, _>(&key).await.map(drop)?,
                1 => client.lpush::<i64, _, _>(&key, "v").await.map(drop)?,
                _ => client.get::<String, _>("no such key of anyone").await.map(drop)?,
            }
            Ok(())
        });
        let mut driver = Driver::connect(&load).await.unwrap();
        for expected in [(Class::Redis, "ERR"), (Class::Redis, "WRONGTYPE"), (Class::Check, "type")] {
            let failure = driver.once().await.unwrap_err();
            assert_eq!((failure.class(), failure.code()), expected, "{failure:?}");
            assert!(!failure.needs_reconnect());
        }
        assert!(space.cleanup().await.passed);
    });
}

#[test]
fn nothing_is_sent_twice_and_nothing_waits_for_ever() {
    let peer = Peer::start(|number, stream| {
        answer(stream, |request| {
            assert_eq!(number, 0, "{request:?} came again");
            std::thread::sleep(Duration::from_secs(2));
            ":1\r\n".to_owned()
        });
    });
    on_worker(async {
        let target = peer.target().timeout(Duration::from_millis(200));
        let load =
            Redis::with_fred(&target, async |client, _| Ok(client.incr::<i64, _>("n").await.map(drop)?));
        let mut driver = Driver::connect(&load).await.unwrap();
        let failure = driver.once().await.unwrap_err();
        assert_eq!((failure.class(), failure.code()), (Class::Timeout, "command"));
        assert!(failure.is_unknown() && failure.needs_reconnect());
    });
}

#[test]
fn real_a_session_that_is_dropped_is_disconnected() {
    let Some(server) = Server::start(&[]) else { return };
    on_worker(async {
        let clients = || server.cli(&["CLIENT", "LIST"]).lines().count();
        let alone = clients();
        let load = Redis::with_fred(&server.target(), async |client, _| Ok(client.ping::<()>(None).await?));
        let mut drivers = Vec::new();
        for _ in 0..5 {
            let mut driver = Driver::connect(&load).await.unwrap();
            driver.many(1).await;
            drivers.push(driver);
        }
        assert_eq!(clients(), alone + 5);
        drop(drivers);
        let end = std::time::Instant::now() + Duration::from_secs(20);
        while clients() > alone {
            assert!(std::time::Instant::now() < end, "connections live on");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
}

#[test]
fn real_subscribers_are_built_with_the_same_settings() {
    let Some(server) = Server::start(&[]) else { return };
    on_worker(async {
        let builder = server.target().fred_builder().unwrap();
        assert_eq!(builder.get_policy(), None);
        assert_eq!(builder.get_connection_config().tcp.nodelay, Some(true));
        assert_eq!(builder.get_connection_config().max_command_attempts, 1);
        let subscriber = builder.build_subscriber_client().unwrap();
        subscriber.init().await.unwrap();
        let mut messages = subscriber.message_rx();
        subscriber.subscribe("news").await.unwrap();
        let load = Redis::with_fred(&server.target(), async |client, op| {
            op.units(client.publish::<i64, _, _>("news", "hello").await? as u64);
            Ok(())
        });
        let sums = Driver::connect(&load).await.unwrap().many(1).await;
        assert_eq!(sums.units, 1, "one has heard it");
        let Message { value, .. } = messages.recv().await.unwrap();
        assert_eq!(value.as_str().as_deref(), Some("hello"));
        subscriber.quit().await.unwrap();
    });
}
