//! The limit of latency: what is late, what is skipped, and what is not tried again, as pgbench's `--latency-limit` has it.

use crate::{
    fixture::Pg,
    run::{Driver, full, kind, on_worker},
};
use load_core::{Class, Load, Overload, Schedule};
use load_engine::Plan;
use pg_load::{Pool, Postgres, Script};
use std::{fs, time::Duration};

fn script(sql: &str) -> Script {
    Script::new("one").statement("one", sql).unwrap()
}

const MINUTE: Duration = Duration::from_secs(60);
const AGO: Duration = Duration::from_millis(35);
const LIMIT: Duration = Duration::from_millis(30);

#[test]
fn late_is_what_ends_too_long_after_it_was_due() {
    let Some(pg) = Pg::start(&[]) else { return };
    on_worker(async {
        let of = |sql: &str, limit| {
            Postgres::script(&pg.server(), script(sql)).unwrap().latency_limit(limit).unwrap()
        };
        for (sql, limit, due, late) in [
            ("SELECT 1", LIMIT, AGO, 1),
            ("SELECT 1", MINUTE, AGO, 0),
            // Nothing is late that has not succeeded.
            ("SELECT 1/0", LIMIT, AGO, 0),
            ("SELECT pg_sleep(0.05)", LIMIT, Duration::ZERO, 1),
        ] {
            let workload = of(sql, limit);
            for workload in [workload.clone(), workload.pool(Pool::new(1).unwrap()).unwrap()] {
                let mut driver = Driver::connect(&workload, 0, 1).await.unwrap();
                tokio::time::sleep(AGO).await;
                let outcome = driver.call_due(due).await;
                assert_eq!(outcome.is_ok(), sql != "SELECT 1/0", "{outcome:?}");
                assert_eq!(
                    driver.counts().get("late").copied().unwrap_or(0),
                    late,
                    "{sql} {limit:?} {due:?}"
                );
            }
        }
        // Waiting for the pool is part of it: the second waits for the first.
        let pooled =
            of("SELECT pg_sleep(0.2)", Duration::from_millis(390)).pool(Pool::new(1).unwrap()).unwrap();
        let mut a = Driver::connect(&pooled, 0, 2).await.unwrap();
        let mut b = Driver::connect(&pooled, 1, 2).await.unwrap();
        let (x, y) = tokio::join!(a.call(), b.call());
        assert!(x.is_ok() && y.is_ok(), "{x:?} {y:?}");
        assert_eq!(b.counts()["late"], 1);
    });
}

#[test]
fn what_is_late_already_is_not_tried_again() {
    let Some(pg) = Pg::start(&[]) else { return };
    let conflict = "DO $$ BEGIN RAISE SQLSTATE '40001'; END $$";
    on_worker(async {
        for (limit, tries) in [(MINUTE, 3), (LIMIT, 1)] {
            let workload = Postgres::script(&pg.server(), script(conflict)).unwrap().max_tries(3).unwrap();
            let mut driver = Driver::connect(&workload.latency_limit(limit).unwrap(), 0, 1).await.unwrap();
            tokio::time::sleep(AGO).await;
            let failure = driver.call_due(AGO).await.unwrap_err();
            assert_eq!(kind(&failure), (Class::Sql, "40001"));
            let counts = driver.counts();
            let count = |name| counts.get(name).copied().unwrap_or(0);
            assert_eq!((count("retries"), count("retried")), (tries - 1, u64::from(tries > 1)), "{limit:?}");
        }
    });
}

/// One client that takes 20 ms, asked 100 times a second: every second arrival is skipped, and what is sent waits.
#[test]
fn late_and_skipped_are_counted_as_pgbench_counts_them() {
    let Some(pg) = Pg::start(&[]) else { return };
    let slots: u64 = if full() { 2000 } else { 200 };
    let file = pg.dir().join("sleep.sql");
    fs::write(&file, "SELECT pg_sleep(0.02);\n").unwrap();
    let prefix = pg.dir().join("late");
    let (file, prefix, n) = (file.to_str().unwrap(), prefix.to_str().unwrap(), slots.to_string());
    let args = [
        "-n",
        "-f",
        file,
        "-c",
        "1",
        "-t",
        &n,
        "-R",
        "100",
        "-L",
        "30",
        "--random-seed=5",
        "-l",
        "--log-prefix",
    ];
    let said = pg.run("pgbench", &[&args[..], &[prefix, "postgres"]].concat());
    let number = |text: &str| -> u64 {
        let line = said.lines().find_map(|l| l.split_once(text)).unwrap_or_else(|| panic!("{text}: {said}"));
        line.1.split(|c: char| !c.is_ascii_digit()).find(|w| !w.is_empty()).unwrap().parse().unwrap()
    };
    let (skipped, late) = (number("transactions skipped: "), number("latency limit: "));
    let log = pg.log_of_pgbench("late");
    let sent: Vec<(f64, f64)> = log.iter().filter_map(|l| Some((l.latency?, l.lag))).collect();
    // What pgbench means by its words, by its own log: late by the latency from the scheduled start, skipped by the lag.
    assert_eq!((log.len() as u64, skipped), (slots, slots - sent.len() as u64), "{said}");
    assert_eq!(late, sent.iter().filter(|(latency, _)| *latency > 30_000.0).count() as u64, "{said}");
    let behind = sent.iter().filter(|(_, lag)| *lag > 31_000.0).count();
    assert!(behind * 50 <= sent.len(), "{behind} of {} were sent though they were too late", sent.len());

    let workload = Postgres::script(&pg.server(), script("SELECT pg_sleep(0.02)")).unwrap();
    let load = Load::open(Schedule::constant("100/s").unwrap().poisson()).sessions(1);
    let record = Plan::new()
        .stream("postgres", workload.latency_limit(LIMIT).unwrap(), load.overload(Overload::skip_late(LIMIT)))
        .measure(Duration::from_secs(slots / 100))
        .seed(5)
        .calibrate(Duration::ZERO)
        .run()
        .unwrap();
    let stream = &record.streams[0];
    let a = &stream.accounting;
    assert!(a.balances() && a.failed == 0 && a.skipped > 0, "{a:?}");
    let responses = stream.response.as_ref().unwrap().histogram().unwrap();
    // The histogram's buckets are a thousandth wide.
    let above = |ns: u64| responses.hdr().count_between(ns, responses.hdr().high());
    let late_ours = stream.counters.get("late").copied().unwrap_or(0);
    assert!(
        (above(30_060_000)..=above(29_940_000)).contains(&late_ours),
        "{late_ours} late, {}",
        above(30_000_000)
    );
    let share = |n: u64, of: u64| n as f64 / of as f64;
    let theirs = (share(skipped, slots), share(late, slots - skipped));
    let ours = (share(a.skipped, a.scheduled), share(late_ours, a.succeeded));
    eprintln!("shares skipped and late, pgbench: {theirs:?}; openloop: {ours:?}");
    // Three standard deviations of either, roughly: arrivals are drawn by chance.
    let close = if full() { 0.05 } else { 0.2 };
    assert!((theirs.0 - ours.0).abs() < close && (theirs.1 - ours.1).abs() < close, "{theirs:?} {ours:?}");
}
