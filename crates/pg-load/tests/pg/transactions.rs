//! What a transaction does, how it is counted, and that none is lost or done twice.

use crate::{
    fixture::{Pg, loaded},
    run::{Driver, kind, on_worker, run},
};
use load_core::Class;
use pg_load::{
    Draw, Error, Pool, Postgres, Protocol, Script, Server, commit, custom, tokio_postgres::Client,
};
use std::time::Duration;

#[test]
fn every_protocol_does_the_same_work_and_the_balances_agree() {
    let Some((_pg, server, data)) = loaded(&[], 2) else { return };
    let tpcb = || Postgres::tpcb(&server, 2).unwrap();
    let pool = || Pool::new(2).unwrap();
    let mut rows = 0;
    for (what, workload) in [
        ("simple", tpcb().protocol(Protocol::Simple)),
        ("extended", tpcb().protocol(Protocol::Extended)),
        ("prepared", tpcb().protocol(Protocol::Prepared)),
        ("pipelined", tpcb().pipelined(true)),
        ("pipelined extended", tpcb().pipelined(true).and_then(|w| w.protocol(Protocol::Extended))),
        ("pooled", tpcb().pool(pool())),
        ("pooled simple", tpcb().pool(pool()).and_then(|w| w.protocol(Protocol::Simple))),
        ("simple-update", Ok(Postgres::simple_update(&server, 2).unwrap())),
    ] {
        let workload = workload.unwrap();
        let before = on_worker(data.balances(&server)).unwrap();
        let books = on_worker(run(&workload, 4, |b| b.succeeded >= 60));
        let added = on_worker(data.balances(&server)).unwrap().since(&before);
        assert!(books.failed.is_empty() && books.unknown == 0, "{what}: {books:?}");
        assert_eq!(added.history_rows as u64, books.succeeded, "{what}");
        assert!(added.agree() && added.history != 0, "{what}: {added:?}");
        rows += books.succeeded;
        let changed = if what == "simple-update" { 3 } else { 5 };
        assert_eq!(books.counts["rows"], changed * books.succeeded, "{what}");
        let steps: Vec<_> = books.steps.keys().copied().collect();
        let expected: &[&str] = match what {
            "simple-update" => &["begin", "end", "insert_history", "select", "update_accounts"],
            _ if what.starts_with("pipelined") => &[],
            _ if what.starts_with("pooled") => &[
                "begin",
                "end",
                "insert_history",
                "pool_wait",
                "select",
                "update_accounts",
                "update_branches",
                "update_tellers",
            ],
            _ => &[
                "begin",
                "end",
                "insert_history",
                "select",
                "update_accounts",
                "update_branches",
                "update_tellers",
            ],
        };
        assert_eq!(steps, expected, "{what}");
    }
    assert_eq!(on_worker(data.balances(&server)).unwrap().history_rows as u64, rows);
}

#[test]
fn select_only_reads_one_row_or_says_so() {
    let Some((pg, server, _)) = loaded(&[], 1) else { return };
    on_worker(async {
        for protocol in [Protocol::Simple, Protocol::Extended, Protocol::Prepared] {
            let workload = Postgres::select_only(&server, 1).unwrap().protocol(protocol).unwrap();
            let books = run(&workload, 2, |b| b.succeeded >= 50).await;
            assert_eq!((books.counts["rows"], books.failed.len()), (books.succeeded, 0));
            assert!(books.steps.is_empty(), "a single statement takes what the operation takes");
        }
        // Another scale than the data has would read nothing half of the time, and be fast at it.
        let two = Postgres::select_only(&server, 2).unwrap();
        let failure = Driver::connect(&two, 0, 1).await.err().unwrap();
        assert_eq!(failure.class(), Class::Check);
        assert!(
            failure
                .describe()
                .contains("table pgbench_branches is not what is needed: it has 1 rows; scale 2 has 2")
        );
        pg.psql("postgres", "delete from pgbench_accounts where aid between 1 and 99999");
        let workload = Postgres::select_only(&server, 1).unwrap();
        let mut driver = Driver::connect(&workload, 0, 1).await.unwrap();
        let failure = driver.call().await.unwrap_err();
        assert_eq!(kind(&failure), (Class::Check, "rows"));
        assert!(failure.describe().contains("statement \"select\": 0 rows, not 1"), "{failure:?}");
        assert!(!failure.needs_reconnect() && !failure.is_unknown());
    });
}

#[test]
fn an_aborted_transaction_is_in_nobodys_way() {
    let Some(pg) = Pg::start(&[]) else { return };
    let draw = Draw::uniform(0, 9).unwrap();
    let script = Script::new("one in ten")
        .variable("x", draw)
        .and_then(|s| s.statement("begin", "BEGIN"))
        .and_then(|s| s.statement("divide", "SELECT 1 / (:x)::int"))
        .and_then(|s| s.statement("commit", "COMMIT"))
        .unwrap();
    on_worker(async {
        for protocol in [Protocol::Simple, Protocol::Extended, Protocol::Prepared] {
            let own = Postgres::script(&pg.server(), script.clone()).unwrap().protocol(protocol).unwrap();
            let pooled = own.clone().pool(Pool::new(2).unwrap()).unwrap();
            for workload in [own, pooled] {
                let books = run(&workload, 4, |b| b.succeeded + b.failed.values().sum::<u64>() >= 300).await;
                assert_eq!(books.failed.keys().collect::<Vec<_>>(), ["sql 22012"], "{books:?}");
                let share = books.failed["sql 22012"] as f64 / 300.0;
                assert!((0.03..0.2).contains(&share), "{share}");
                assert_eq!((books.reconnected, books.unknown), (0, 0));
            }
        }
    });
}

#[test]
fn closures_are_rolled_back_tried_again_and_commit_honestly() {
    let Some(pg) = Pg::start(&[("default_transaction_isolation", "serializable")]) else { return };
    pg.psql("postgres", "create table hot (n int); insert into hot values (0)");
    on_worker(async {
        let server = pg.server();
        let ready = async |client: &Client| Ok(client.prepare("UPDATE hot SET n = n + 1").await?);
        let adds = custom(&server, ready, async |client, update, op| {
            let transaction = client.transaction().await?;
            transaction.execute(&*update, &[]).await?;
            op.mark("update");
            transaction.commit().await?;
            op.mark("commit");
            Ok(())
        });
        let adds = adds.unwrap().max_tries(1000).unwrap();
        let books = run(&adds, 4, |b| b.succeeded >= 60).await;
        assert!(books.failed.is_empty() && books.counts["retries"] > 0, "{books:?}");
        assert_eq!(pg.psql("postgres", "select n from hot"), books.succeeded.to_string());

        // An error that the closure does not look at aborts the transaction; its commit must not be a success.
        let careless = custom(
            &server,
            async |_: &Client| Ok(()),
            async |client, (), _| {
                client.batch_execute("BEGIN; UPDATE hot SET n = n + 1").await?;
                let _ = client.batch_execute("SELECT 1/0").await;
                commit(client).await
            },
        );
        let mut driver = Driver::connect(&careless.unwrap(), 0, 1).await.unwrap();
        for _ in 0..3 {
            assert_eq!(kind(&driver.call().await.unwrap_err()), (Class::Sql, "25P02"));
        }
        // One that is left open after a failure is rolled back, or the next would find itself inside.
        let leaves = custom(
            &server,
            async |_: &Client| Ok(()),
            async |client, (), op| {
                let inside =
                    client.query_one("SELECT pg_current_xact_id_if_assigned() IS NOT NULL", &[]).await?;
                assert!(!inside.get::<_, bool>(0));
                client.batch_execute("BEGIN; UPDATE hot SET n = n + 1").await?;
                if op.seq() < 2 { Err(load_core::Failure::check("no")) } else { commit(client).await }
            },
        );
        let mut driver = Driver::connect(&leaves.unwrap(), 0, 1).await.unwrap();
        assert_eq!(kind(&driver.call().await.unwrap_err()).0, Class::Check);
        assert_eq!(kind(&driver.call().await.unwrap_err()).0, Class::Check);
        driver.call().await.unwrap();
        assert_eq!(pg.psql("postgres", "select n from hot"), (books.succeeded + 1).to_string());
    });
}

#[test]
fn rows_of_any_type_are_counted_and_parameters_that_do_not_fit_are_named() {
    let Some(pg) = Pg::start(&[]) else { return };
    let draw = Draw::uniform(1, 3).unwrap();
    let script = |sql: &str| Script::new("types").variable("n", draw).unwrap().statement("s", sql).unwrap();
    on_worker(async {
        let of = |sql: &str, protocol| {
            Postgres::script(&pg.server(), script(sql)).unwrap().protocol(protocol).unwrap()
        };
        let mixed = "SELECT avg(x)::numeric, count(*), 1::int2, NULL, int4range(1, 5), 'x'::name, ARRAY[1.5] \
                     FROM generate_series(1, (:n)::int) x UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL";
        let numbers = "SELECT (:n)::int2, (:n)::int8, (:n)::float4, (:n)::float8, (:n)::numeric, (:n)::text, (:n)::varchar(5)";
        for protocol in [Protocol::Simple, Protocol::Extended, Protocol::Prepared] {
            let books = run(&of(mixed, protocol), 1, |b| b.succeeded >= 20).await;
            assert_eq!((books.counts["rows"], books.failed.len()), (40, 0));
            let books = run(&of(numbers, protocol), 1, |b| b.succeeded >= 20).await;
            assert_eq!((books.counts["rows"], books.failed.len()), (20, 0), "{protocol:?} {books:?}");
        }
        let date = of("SELECT :n, 'x' || (:n)::date", Protocol::Prepared);
        let failure = Driver::connect(&date, 0, 1).await.err().unwrap();
        let said = failure.describe();
        assert!(said.contains("statement \"s\": parameter $2 (:n) is of type date"), "{said}");
        let wrong = of("SELECT nonsense FROM nowhere", Protocol::Prepared);
        let failure = Driver::connect(&wrong, 0, 1).await.err().unwrap();
        assert_eq!(kind(&failure), (Class::Sql, "42P01"));
        let said = "sql (42P01): statement \"s\": relation \"nowhere\" does not exist (SQLSTATE 42P01)";
        assert_eq!(failure.describe(), said);
        // Not prepared, it is counted, statement by statement.
        let mut driver =
            Driver::connect(&of("SELECT nonsense FROM nowhere", Protocol::Simple), 0, 1).await.unwrap();
        assert_eq!(kind(&driver.call().await.unwrap_err()), (Class::Sql, "42P01"));
        assert!(!driver.call().await.unwrap_err().needs_reconnect());
    });
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_connects() {
    let server = Server::parse("postgres://x@127.0.0.1:1/x").unwrap();
    let tpcb = || Postgres::tpcb(&server, 1).unwrap();
    let said = |result: Result<Postgres, load_core::ConfigError>| result.unwrap_err().to_string();
    assert!(said(tpcb().max_tries(0)).starts_with("max_tries: 0 "));
    assert!(said(tpcb().statement_timeout(Duration::ZERO)).starts_with("statement_timeout: 0 s "));
    assert!(said(tpcb().latency_limit(Duration::ZERO)).starts_with("latency_limit: 0 s "));
    assert!(said(tpcb().pipelined(true).unwrap().protocol(Protocol::Simple)).starts_with("pipelined: true "));
    assert!(
        matches!(Postgres::tpcb(&server, 0), Err(Error::Config(e)) if e.to_string().starts_with("scale: 0 "))
    );
    assert!(Pool::new(0).unwrap_err().to_string().starts_with("pool.size: 0 "));
    let two = Script::new("two").statement("a", "SELECT 1").unwrap().statement("b", "SELECT 2").unwrap();
    let two = Postgres::script(&server, two).unwrap().max_tries(2).unwrap();
    assert!(said(two.pipelined(true)).starts_with("max_tries: 2 "));
    assert_eq!(
        load_core::Workload::describe(&tpcb().max_tries(3).unwrap()),
        "TPC-B-like, scale 1, prepared, at most 3 tries, one connection for each session"
    );
}
