//! Servers that go away, say nothing, or have no room; and what is left behind: nothing.

use crate::{
    fixture::Pg,
    run::{Books, Driver, kind, on_worker, run},
};
use load_core::{Class, Readings, Session, Source};
use pg_load::{Pgbench, Pool, Postgres, Script, custom, tokio_postgres::Client};
use std::{
    cell::Cell,
    time::{Duration, Instant},
};

fn sleeper(pg: &Pg, seconds: f64) -> Postgres {
    let script = Script::new("sleep").statement("sleep", &format!("SELECT pg_sleep({seconds})")).unwrap();
    Postgres::script(&pg.server(), script).unwrap()
}

/// Waits until no statement of ours runs on the server any more.
fn nothing_runs(pg: &Pg) {
    let end = Instant::now() + Duration::from_secs(20);
    let sql =
        "select count(*) from pg_stat_activity where state = 'active' and application_name = 'openloop'";
    while pg.psql("postgres", sql) != "0" {
        assert!(Instant::now() < end, "something still runs on the server");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_timeout_cancels_the_statement_and_costs_the_connection() {
    let Some(pg) = Pg::start(&[]) else { return };
    on_worker(async {
        let limit = Duration::from_millis(200);
        let own = sleeper(&pg, 60.0).statement_timeout(limit).unwrap();
        let pooled = own.clone().pool(Pool::new(1).unwrap()).unwrap();
        for workload in [own, pooled] {
            let mut driver = Driver::connect(&workload, 0, 1).await.unwrap();
            for _ in 0..2 {
                let start = Instant::now();
                let failure = driver.call().await.unwrap_err();
                let took = start.elapsed();
                assert!(took >= limit && took < Duration::from_secs(20), "{took:?}");
                assert_eq!(kind(&failure), (Class::Timeout, "statement"));
                assert!(failure.is_unknown() && failure.needs_reconnect());
                assert!(
                    failure.describe().contains("statement \"sleep\": no answer within 200ms"),
                    "{failure:?}"
                );
                // As an engine does it: the session is dropped, and another made.
                drop(driver);
                driver = Driver::connect(&workload, 0, 1).await.unwrap();
            }
            drop(driver);
            nothing_runs(&pg);
        }
        let closure = custom(
            &pg.server(),
            async |_: &Client| Ok(()),
            async |client, (), _| {
                client.batch_execute("SELECT pg_sleep(60)").await?;
                Ok(())
            },
        );
        let closure = closure.unwrap().timeout(limit).unwrap();
        let mut driver = Driver::connect(&closure, 0, 1).await.unwrap();
        assert_eq!(kind(&driver.call().await.unwrap_err()), (Class::Timeout, "operation"));
    });
    nothing_runs(&pg);
}

#[test]
fn an_operation_that_is_dropped_leaves_nothing_running() {
    let Some(pg) = Pg::start(&[]) else { return };
    let pooled = sleeper(&pg, 60.0).pool(Pool::new(2).unwrap()).unwrap();
    for workload in [sleeper(&pg, 60.0), pooled] {
        on_worker(async {
            let mut a = Driver::connect(&workload, 0, 2).await.unwrap();
            let mut b = Driver::connect(&workload, 1, 2).await.unwrap();
            let both = async { tokio::join!(a.call(), b.call()) };
            assert!(tokio::time::timeout(Duration::from_millis(300), both).await.is_err());
        });
        nothing_runs(&pg);
    }
    assert_eq!(pg.sessions("postgres"), 0);
}

#[test]
fn a_server_that_stops_answering_is_a_timeout_and_not_a_hang() {
    let Some(pg) = Pg::start(&[]) else { return };
    on_worker(async {
        let workload = sleeper(&pg, 0.0).statement_timeout(Duration::from_millis(300)).unwrap();
        let mut driver = Driver::connect(&workload, 0, 1).await.unwrap();
        driver.call().await.unwrap();
        pg.process().pause().unwrap();
        let start = Instant::now();
        assert_eq!(kind(&driver.call().await.unwrap_err()), (Class::Timeout, "statement"));
        driver.session.close().await;
        assert!(start.elapsed() < Duration::from_secs(20));
        pg.process().resume().unwrap();
    });
    nothing_runs(&pg);
}

/// Restarts the server while sessions are at work, and compares what they counted with what is in the tables.
fn restart(crash: bool, pool: Option<Pool>) {
    let Some(pg) = Pg::start(&[]) else { return };
    let data = Pgbench::scale(4).unwrap();
    let server = pg.server();
    on_worker(data.load(&server, |_| ())).unwrap();
    let mut workload =
        Postgres::tpcb(&server, 4).unwrap().statement_timeout(Duration::from_secs(20)).unwrap();
    if let Some(pool) = pool {
        workload = workload.pool(pool).unwrap();
    }
    let (at_restart, resumed) = (Cell::new(None), Cell::new(0));
    let books = std::thread::scope(|scope| {
        let (tell, told) = std::sync::mpsc::channel();
        let pg = &pg;
        let restarter = scope.spawn(move || {
            told.recv().unwrap();
            pg.restart(crash);
        });
        let until = |b: &Books| {
            if b.succeeded == 100 && at_restart.get().is_none() {
                at_restart.set(Some(b.succeeded));
                tell.send(()).unwrap();
            }
            if !b.failed.is_empty() && resumed.get() == 0 {
                resumed.set(b.succeeded);
            }
            restarter.is_finished() && b.succeeded >= resumed.get() + 100 && !b.failed.is_empty()
        };
        on_worker(run(&workload, 8, until))
    });
    let balances = on_worker(data.balances(&server)).unwrap();
    let rows = balances.history_rows as u64;
    let report = format!("{rows} rows, {books:?}", books = (books.succeeded, books.unknown, &books.failed));
    assert!(books.succeeded <= rows && rows <= books.succeeded + books.unknown, "{report}");
    assert!(balances.agree(), "{report}: {balances:?}");
    assert!(books.reconnected > 0, "{report}");
    for failed in books.failed.keys() {
        let known =
            ["sql 57P0", "closed ", "reset ", "connect ", "pool "].iter().any(|k| failed.starts_with(k));
        assert!(known, "{report}");
    }
    let failed: u64 = books.failed.values().sum();
    assert!(failed < 1000, "a lost server is not asked in a hot loop: {report}");
    assert!(
        books.unknown < failed || failed <= 8,
        "transactions whose end was not sent are known to be gone: {report}"
    );
    assert_eq!(pg.sessions("postgres"), 0);
}

#[test]
fn nothing_is_lost_or_done_twice_across_a_fast_restart() {
    restart(false, None);
}

#[test]
fn nothing_is_lost_or_done_twice_across_an_immediate_restart() {
    restart(true, None);
}

#[test]
fn a_pool_comes_back_after_an_immediate_restart() {
    restart(true, Some(Pool::new(4).unwrap()));
}

#[test]
fn waiting_for_the_pool_is_limited_and_told_apart() {
    let Some(pg) = Pg::start(&[]) else { return };
    on_worker(async {
        let pool = Pool::new(2).unwrap();
        let workload = sleeper(&pg, 0.1).pool(pool.clone()).unwrap();
        let mut status = workload.pool_status();
        let mut readings = Readings::new();
        let watch = async {
            tokio::time::sleep(Duration::from_millis(350)).await;
            status.read(&mut readings).await.unwrap();
        };
        let (books, ()) = tokio::join!(run(&workload, 8, |b| b.succeeded >= 40), watch);
        let seen: Vec<_> = readings.values().iter().map(|(name, _, value)| (name.as_str(), *value)).collect();
        let expected =
            [("postgres.pool.size", 2.0), ("postgres.pool.lent", 2.0), ("postgres.pool.waiting", 6.0)];
        assert_eq!(seen, expected);
        readings.clear();
        status.read(&mut readings).await.unwrap();
        assert!(
            readings.values().iter().all(|(.., value)| *value == 0.0),
            "gone with the sessions: {readings:?}"
        );
        let mean =
            |step: &str| books.steps[step].iter().sum::<u64>() as f64 / books.steps[step].len() as f64 / 1e6;
        let (wait, sleep) = (mean("pool_wait"), mean("sleep"));
        // Eight sessions on two connections: 100 ms of work after 300 ms of waiting, but for the start and the end.
        assert!((99.0..200.0).contains(&sleep), "{sleep}");
        assert!((180.0..500.0).contains(&wait), "{wait}");

        let exhausted = pool.wait_timeout(Duration::from_millis(250)).unwrap();
        let workload = sleeper(&pg, 60.0).pool(exhausted).unwrap();
        let mut drivers = Vec::new();
        for index in 0..6 {
            drivers.push(Driver::connect(&workload, index, 6).await.unwrap());
        }
        let waits = async |driver: &mut Driver<_>| {
            let start = Instant::now();
            let outcome = tokio::time::timeout(Duration::from_secs(3), driver.call()).await;
            (outcome, start.elapsed())
        };
        let outcomes = futures_util::future::join_all(drivers.iter_mut().map(waits)).await;
        let refused: Vec<_> = outcomes.iter().filter_map(|(o, t)| o.as_ref().ok().map(|o| (o, t))).collect();
        assert_eq!(refused.len(), 4, "two hold the connections");
        for (outcome, took) in refused {
            let failure = outcome.as_ref().unwrap_err();
            assert_eq!(kind(failure), (Class::Pool, "wait timeout"));
            assert!(!failure.is_unknown() && !failure.needs_reconnect(), "nothing was sent");
            assert!(*took >= Duration::from_millis(250) && *took < Duration::from_secs(3), "{took:?}");
        }
    });
    nothing_runs(&pg);
}

#[test]
fn more_sessions_than_the_server_has_room_for_are_told_limit_and_need() {
    let Some(pg) = Pg::start(&[("max_connections", "8"), ("superuser_reserved_connections", "2")]) else {
        return;
    };
    pg.psql("postgres", "create role bench login password 'x'; grant pg_read_all_stats to bench");
    let server =
        pg_load::Server::parse(&format!("postgres://bench:x@127.0.0.1:{}/postgres", pg.port)).unwrap();
    let server = server.with_connect_timeout(Duration::from_secs(60));
    on_worker(async {
        let script = Script::new("one").statement("one", "SELECT 1").unwrap();
        let workload = Postgres::script(&server, script).unwrap();
        let mut open = Vec::new();
        let mut refused = Vec::new();
        for index in 0..12 {
            match Driver::connect(&workload, index, 12).await {
                Ok(driver) => open.push(driver),
                Err(failure) => refused.push(failure),
            }
        }
        assert_eq!((open.len(), refused.len()), (6, 6));
        let facts = open[0].op.take_facts();
        let told =
            facts.iter().find(|(name, _)| *name == "postgres_connections").map(|(_, text)| text.as_str());
        assert_eq!(told, Some("12 connections are wanted; max_connections is 8, of which 2 are reserved"));
        for failure in refused {
            assert_eq!(kind(&failure), (Class::Sql, "53300"));
            assert!(
                failure.describe().contains(
                    "12 sessions were asked for, but the server has room for 6 (max_connections 8, 2 of them"
                ),
                "{failure:?}"
            );
        }
        for driver in &mut open {
            driver.call().await.unwrap();
        }
    });
}

#[test]
fn more_sessions_than_branches_is_told() {
    let Some(pg) = Pg::start(&[]) else { return };
    on_worker(async {
        let server = pg.server();
        Pgbench::scale(1).unwrap().load(&server, |_| ()).await.unwrap();
        let contended =
            |facts: Vec<(&'static str, String)>| facts.into_iter().find(|(n, _)| *n == "postgres_contention");
        let tpcb = Postgres::tpcb(&server, 1).unwrap();
        let mut driver = Driver::connect(&tpcb, 0, 50).await.unwrap();
        let (_, told) = contended(driver.op.take_facts()).expect("50 sessions meet at one branch");
        assert!(told.starts_with("50 connections work on 1 branch:"), "{told}");
        // Of each number of sessions anew, as levels of a run have them.
        let mut driver = Driver::connect(&tpcb, 0, 1).await.unwrap();
        assert_eq!(contended(driver.op.take_facts()), None);
        let mut driver = Driver::connect(&tpcb, 0, 2).await.unwrap();
        let (_, told) = contended(driver.op.take_facts()).unwrap();
        assert!(told.starts_with("2 connections work on 1 branch:"), "{told}");
        let pooled = tpcb.clone().pool(Pool::new(2).unwrap()).unwrap();
        for _ in 0..2 {
            let mut driver = Driver::connect(&pooled, 0, 9).await.unwrap();
            let names: Vec<_> = driver.op.take_facts().into_iter().map(|(name, _)| name).collect();
            let all = ["postgres_contention", "postgres_tls", "postgres_version"];
            assert!(all.iter().all(|name| names.contains(name)), "{names:?}");
        }
        let select = Postgres::select_only(&server, 1).unwrap();
        let mut driver = Driver::connect(&select, 0, 50).await.unwrap();
        assert_eq!(contended(driver.op.take_facts()), None, "readers do not wait");
    });
}
