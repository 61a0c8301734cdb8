//! Sessions in each other's way: none of them ends for it, and what they did is told apart from what they tried.

use crate::{fixture::loaded, run::on_worker};
use load_core::{Class, Load, Record, record::StreamRecord};
use load_engine::Plan;
use pg_load::{Balances, Postgres};
use std::time::Duration;

fn run(workload: Postgres, sessions: usize) -> Record {
    Plan::new()
        .stream("postgres", workload, Load::closed(sessions).workers(2))
        .measure(Duration::from_secs(3))
        .calibrate(Duration::ZERO)
        .run()
        .unwrap()
}

fn count(stream: &StreamRecord, name: &str) -> u64 {
    stream.counters.get(name).copied().unwrap_or(0)
}

/// That every session worked to the end, and that throughput is what was committed.
fn holds(stream: &StreamRecord, sessions: u64, added: Balances) {
    let a = &stream.accounting;
    assert!(a.balances() && a.succeeded > 0, "{a:?}");
    assert_eq!((stream.connects.ok, stream.connects.failed), (sessions, 0), "no session was lost");
    assert_eq!(a.unknown, 0);
    let rows = added.history_rows as u64;
    assert!(a.succeeded <= rows && rows <= a.succeeded + a.unfinished, "{rows} rows, {a:?}");
    assert!(added.agree(), "{added:?}");
    for failure in &stream.failures {
        assert_eq!((failure.class, failure.code.as_str()), (Class::Sql, "40001"));
    }
}

#[test]
fn serialization_failures_end_no_session_and_are_told_apart_from_commits_and_retries() {
    let Some((_pg, server, data)) = loaded(&[("default_transaction_isolation", "repeatable read")], 1) else {
        return;
    };
    for tries in [1, 2] {
        let before = on_worker(data.balances(&server)).unwrap();
        let record = run(Postgres::tpcb(&server, 1).unwrap().max_tries(tries).unwrap(), 10);
        let stream = &record.streams[0];
        holds(stream, 10, on_worker(data.balances(&server)).unwrap().since(&before));
        // Given up, retried and committed: three figures.
        assert!(stream.accounting.failed > 0 && stream.failed_service.is_some(), "{:?}", stream.accounting);
        assert_eq!(count(stream, "retries") > 0, tries > 1, "{:?}", stream.counters);
        assert_eq!(count(stream, "retries"), count(stream, "retried"), "one further try at most");
        assert!(stream.facts["postgres_contention"].starts_with("10 connections work on 1 branch:"));
    }
}

#[test]
fn tries_are_within_the_time_of_the_transaction_that_needed_them() {
    let Some((_pg, server, data)) = loaded(&[("default_transaction_isolation", "serializable")], 1) else {
        return;
    };
    let before = on_worker(data.balances(&server)).unwrap();
    let record = run(Postgres::tpcb(&server, 1).unwrap().max_tries(10).unwrap(), 50);
    let stream = &record.streams[0];
    holds(stream, 50, on_worker(data.balances(&server)).unwrap().since(&before));
    let (retried, retries) = (count(stream, "retried"), count(stream, "retries"));
    assert!(retried > 0 && retries >= retried && retries <= 9 * retried, "{:?}", stream.counters);
    // From the first try to the commit.
    let (steps, service) = (&stream.steps, stream.service.as_ref().unwrap());
    let total = |name: &str| steps.get(name).map_or(0.0, |d| d.mean_ns * d.count as f64);
    let sum: f64 = steps
        .keys()
        .filter(|n| !["connect", "look", "prepare"].contains(&n.as_str()))
        .map(|n| total(n))
        .sum();
    let all = service.mean_ns * service.count as f64;
    assert!(total("failed_tries") > 0.1 * all, "{} of {all}", total("failed_tries"));
    assert!(
        (0.98..1.001).contains(&(sum / all)),
        "the steps, with the tries that failed, make up the time: {sum} {all}"
    );
}
