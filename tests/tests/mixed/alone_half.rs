//! The mix as open loops at half of what it can do.

use openloop::{
    pg::{Pgbench, Protocol, Server, TemporaryDatabase},
    prelude::*,
    record::StreamRecord,
    testbed::{Nginx, Postgres as OurPostgres, Stack},
};
use openloop_tests::{check, example::missing, full};
use std::time::Duration;

fn fired<'a>(stream: &'a StreamRecord, rule: &str) -> Option<&'a str> {
    let start = format!("{}:", rule.replace('_', " "));
    stream.verdict.reasons.iter().map(String::as_str).find(|reason| reason.starts_with(&start))
}

/// Both streams together, each with its load.
fn together(page: &str, database: &Server, nginx: Load, postgres: Load) -> Record {
    let plan = Plan::new()
        .stream("nginx", Http::get(page).unwrap().expect_status(200).unwrap(), nginx.workers(1))
        .stream(
            "postgres",
            Postgres::tpcb(database, 1).unwrap().protocol(Protocol::Prepared).unwrap(),
            postgres.workers(1),
        )
        .connect_timeout(Duration::from_secs(30))
        .warmup(Duration::from_millis(500))
        .measure(Duration::from_secs(if full() { 15 } else { 3 }));
    let record = plan.run().unwrap();
    // The verdict is computed anew from its evidence, by a table of the tests' own.
    check(&record);
    record
}

#[test]
fn real_half_of_what_the_mix_can_do_is_no_fault_of_the_generator() {
    if missing("real_half_of_what_the_mix_can_do", &["nginx", "postgres"]) {
        return;
    }
    let stack = Stack::builder().nginx(Nginx::builder()).postgres(OurPostgres::builder());
    let stack = stack.start_blocking().unwrap();
    let admin = Server::parse(&stack.postgres_url_with_password().unwrap()).unwrap();
    let admin = admin.with_connect_timeout(Duration::from_secs(30));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let database = runtime.block_on(TemporaryDatabase::create(&admin)).unwrap();
    runtime.block_on(Pgbench::scale(1).unwrap().load(database.server(), |_| {})).unwrap();
    let page = stack.nginx_url().unwrap();

    let can = together(&page, database.server(), Load::closed(16), Load::closed(8));
    let rates: Vec<f64> = can.streams.iter().map(|s| s.succeeded_per_s).collect();
    // In a debug build the wake-ups of an open loop cost ten times as much.
    let share = if cfg!(debug_assertions) { 0.1 } else { 0.5 };
    let load = |rate: f64, sessions| Load::open(Schedule::constant(rate * share).unwrap()).sessions(sessions);
    let half = together(&page, database.server(), load(rates[0], 16), load(rates[1], 8));
    for s in &half.streams {
        eprintln!("{}: {:.0}/s of {rates:?}: {:?}", s.name, s.offered_per_s, s.verdict);
        for rule in ["in_flight", "ceiling", "generator_cpu"] {
            assert!(fired(s, rule).is_none(), "{}: {:?}", s.name, s.verdict);
        }
        assert!(s.verdict.evidence["ceiling"].number().is_some(), "the figure is there to be judged");
        assert_eq!(s.accounting.failed, 0, "{:?}", s.failures);
    }
    assert!(runtime.block_on(database.remove()).passed);
}
