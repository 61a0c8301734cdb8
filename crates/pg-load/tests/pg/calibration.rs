//! The null target, which has to be good enough for everything that a script can do.

use crate::run::{Driver, on_worker, run};
use load_core::{Class, Session, Workload};
use pg_load::{Draw, NullTarget, Pool, Postgres, Protocol, Script, Server};
use std::time::{Duration, Instant};

/// Never connected to.
fn nowhere() -> Server {
    Server::parse("postgres://nobody:canary@127.0.0.1:1/nowhere").unwrap()
}

#[test]
fn every_script_and_protocol_succeeds_against_it() {
    let custom = Script::new("custom")
        .variable("x", Draw::uniform(1 << 40, 1 << 41).unwrap())
        .and_then(|s| s.statement("a", "SELECT generate_series(1, 3), :x"))
        .map(|s| s.rows(3))
        .and_then(|s| s.statement("b", "INSERT INTO t VALUES (:x, :x) RETURNING id"))
        .and_then(|s| s.statement("c", "VACUUM"))
        .unwrap();
    for script in [
        Script::tpcb(7).unwrap(),
        Script::simple_update(1).unwrap(),
        Script::select_only(30_000).unwrap(),
        custom,
    ] {
        for protocol in [Protocol::Simple, Protocol::Extended, Protocol::Prepared] {
            for (pooled, pipelined) in [(false, false), (true, false), (false, true)] {
                if pipelined && protocol == Protocol::Simple {
                    continue;
                }
                let mut workload = Postgres::script(&nowhere(), script.clone()).unwrap();
                workload = workload.protocol(protocol).unwrap().pipelined(pipelined).unwrap();
                if pooled {
                    workload = workload.pool(Pool::new(2).unwrap()).unwrap();
                }
                let (nulled, guard) = workload.null_target(Duration::ZERO).unwrap().unwrap().into_parts();
                assert_eq!(nulled.describe(), workload.describe());
                let books = on_worker(run(&nulled, 4, |b| b.succeeded + b.failed.len() as u64 >= 100));
                assert!(
                    books.failed.is_empty() && books.reconnected == 0,
                    "{}: {books:?}",
                    workload.describe()
                );
                drop(guard);
            }
        }
    }
}

#[test]
fn an_operation_takes_the_delay_however_many_statements_it_has() {
    let delay = Duration::from_millis(70);
    for workload in [Postgres::tpcb(&nowhere(), 1).unwrap(), Postgres::select_only(&nowhere(), 1).unwrap()] {
        let (nulled, _guard) = workload.null_target(delay).unwrap().unwrap().into_parts();
        on_worker(async {
            let mut driver = Driver::connect(&nulled, 0, 1).await.unwrap();
            let start = Instant::now();
            for _ in 0..5 {
                driver.call().await.unwrap();
            }
            let each = start.elapsed() / 5;
            assert!(each >= delay * 99 / 100 && each < delay * 2, "{each:?}");
        });
    }
}

#[test]
fn it_ends_when_it_is_dropped_and_a_statement_that_waits_is_lost() {
    let script = Script::new("one").statement("one", "SELECT 1").unwrap();
    let target = NullTarget::start(&script, Duration::from_secs(600)).unwrap();
    let address = target.address();
    on_worker(async {
        let workload =
            Postgres::script(&target.server(), script).unwrap().protocol(Protocol::Simple).unwrap();
        let mut driver = Driver::connect(&workload, 0, 1).await.unwrap();
        let dropping = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            drop(target);
        };
        let (outcome, ()) = tokio::join!(driver.call(), dropping);
        let failure = outcome.unwrap_err();
        assert!(matches!(failure.class(), Class::Closed | Class::Reset), "{failure:?}");
        assert!(failure.needs_reconnect() && failure.is_unknown());
        driver.session.close().await;
    });
    assert!(std::net::TcpStream::connect(address).is_err());
}
