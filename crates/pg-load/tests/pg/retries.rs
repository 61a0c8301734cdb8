//! Transactions that are tried again, as pgbench does it, and how they are counted.

use crate::{
    fixture::{Pg, loaded},
    run::{Driver, on_worker, run},
};
use load_core::Session;
use pg_load::{Draw, Postgres, Script};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

#[test]
fn serialization_failures_are_counted_and_tried_again() {
    let Some((_pg, server, data)) = loaded(&[("default_transaction_isolation", "repeatable read")], 1) else {
        return;
    };
    let once = Postgres::tpcb(&server, 1).unwrap();
    let books = on_worker(run(&once, 8, |b| b.succeeded >= 150));
    assert!(books.failed["sql 40001"] > 0 && books.failed.len() == 1, "{books:?}");
    assert_eq!((books.unknown, books.reconnected), (0, 0), "no session was lost, no outcome unknown");
    assert!(!books.counts.contains_key("retries"));
    let rows = on_worker(data.balances(&server)).unwrap();
    assert_eq!(rows.history_rows as u64, books.succeeded, "throughput is what was committed");

    for pipelined in [false, true] {
        let before = on_worker(data.balances(&server)).unwrap();
        let again =
            Postgres::tpcb(&server, 1).unwrap().max_tries(1000).unwrap().pipelined(pipelined).unwrap();
        let books = on_worker(run(&again, 8, |b| b.succeeded >= 150));
        assert!(books.failed.is_empty(), "{books:?}");
        assert!(
            books.counts["retries"] >= books.counts["retried"] && books.counts["retried"] > 0,
            "{:?}",
            books.counts
        );
        assert_eq!(books.steps["failed_tries"].len() as u64, books.counts["retried"]);
        let added = on_worker(data.balances(&server)).unwrap().since(&before);
        assert_eq!(added.history_rows as u64, books.succeeded);
        assert!(added.agree());
    }
}

#[test]
fn a_transaction_is_tried_again_with_the_same_values() {
    let Some(pg) = Pg::start(&[("default_transaction_isolation", "serializable")]) else { return };
    pg.psql(
        "postgres",
        "create table hot (n int); insert into hot values (0); create table drawn (who int, i serial, v int)",
    );
    let draw = Draw::uniform(1, 1_000_000).unwrap();
    let script = |insert: &str| {
        let script = Script::new("hot").variable("v", draw).unwrap().statement("begin", "BEGIN").unwrap();
        let script = script.statement("update", "UPDATE hot SET n = n + 1").unwrap().rows(1);
        // Long enough for the other to run into it.
        let script = script.statement("pause", "SELECT pg_sleep(0.003)").unwrap();
        script.statement("insert", insert).unwrap().statement("commit", "COMMIT").unwrap()
    };
    on_worker(async {
        let server = pg.server();
        let of = |who: usize| {
            let script = script(&format!("INSERT INTO drawn (who, v) VALUES ({who}, :v)"));
            Postgres::script(&server, script).unwrap().max_tries(10_000).unwrap()
        };
        let (a, b) = (of(0), of(1));
        let one = async |w: &Postgres, index: usize| {
            let mut driver = Driver::connect(w, index, 2).await.unwrap();
            let mut retries = 0;
            for _ in 0..40 {
                driver.call().await.unwrap();
                retries += driver.counts().get("retries").copied().unwrap_or(0);
            }
            driver.session.close().await;
            retries
        };
        let (x, y) = tokio::join!(one(&a, 0), one(&b, 1));
        assert!(x + y > 0, "there was nothing to retry");
        for who in 0..2 {
            let sql = format!("select string_agg(v::text, ' ' order by i) from drawn where who = {who}");
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(who + 1);
            let expected: Vec<_> = (0..40).map(|_| draw.draw(&mut rng).to_string()).collect();
            assert_eq!(pg.psql("postgres", &sql), expected.join(" "));
        }
    });
}

#[test]
fn deadlocks_are_40p01_and_can_be_tried_again() {
    let Some(pg) = Pg::start(&[("deadlock_timeout", "20ms")]) else { return };
    pg.psql(
        "postgres",
        "create table pair (id int primary key, n int); insert into pair values (1, 0), (2, 0)",
    );
    let script = |first: u32, second: u32| {
        Script::new("pair")
            .statement("begin", "BEGIN")
            .and_then(|s| s.statement("first", &format!("UPDATE pair SET n = n + 1 WHERE id = {first}")))
            .and_then(|s| s.statement("pause", "SELECT pg_sleep(0.02)"))
            .and_then(|s| s.statement("second", &format!("UPDATE pair SET n = n + 1 WHERE id = {second}")))
            .and_then(|s| s.statement("end", "END"))
            .unwrap()
    };
    on_worker(async {
        let server = pg.server();
        for tries in [1, 100] {
            let of = |a, b| Postgres::script(&server, script(a, b)).unwrap().max_tries(tries).unwrap();
            let (up, down) = (of(1, 2), of(2, 1));
            let (x, y) =
                tokio::join!(run(&up, 1, |b| b.succeeded >= 10), run(&down, 1, |b| b.succeeded >= 10));
            let deadlocks: u64 = [&x, &y].iter().flat_map(|b| b.failed.values()).sum();
            let retries: u64 = [&x, &y].iter().filter_map(|b| b.counts.get("retries")).sum();
            assert!(x.failed.keys().chain(y.failed.keys()).all(|k| k == "sql 40P01"), "{x:?} {y:?}");
            assert!(
                if tries == 1 { deadlocks > 0 && retries == 0 } else { deadlocks == 0 && retries > 0 },
                "{x:?} {y:?}"
            );
        }
        assert_eq!(
            pg.psql("postgres", "select n from pair where id = 1"),
            pg.psql("postgres", "select n from pair where id = 2")
        );
    });
}
