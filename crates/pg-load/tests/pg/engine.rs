//! Whole runs by the engine: what is counted, what is left behind, and the same as pgbench where the client does not matter.

use crate::{
    fixture::{CANARY, Pg},
    run::{full, on_worker},
};
use load_core::{Class, Load, Record, Schedule, record::StreamRecord};
use load_engine::{Plan, RunError};
use pg_load::{Pgbench, Pool, Postgres, PostgresStatus, Script, Server, TemporaryDatabase};
use std::{cell::Cell, fs, time::Duration};

fn seconds(s: f64) -> Duration {
    Duration::from_secs_f64(s)
}

fn only(record: &Record) -> &StreamRecord {
    let stream = &record.streams[0];
    assert!(stream.accounting.balances(), "{:?}", stream.accounting);
    stream
}

/// Successes, and those that may have been: warm-up included.
fn bounds(stream: &StreamRecord) -> (u64, u64) {
    let (a, w) = (&stream.accounting, &stream.warmup.accounting);
    let sure = a.succeeded + w.succeeded;
    (sure, sure + a.unknown + w.unknown + a.unfinished + w.unfinished + stream.carried_in)
}

#[test]
fn a_run_in_a_temporary_database_from_its_making_to_its_end() {
    let Some(pg) = Pg::start(&[]) else { return };
    let database = on_worker(TemporaryDatabase::create(&pg.server())).unwrap();
    let server = database.server().clone();
    let data = Pgbench::scale(4).unwrap();
    on_worker(data.load(&server, |_| ())).unwrap();
    for pool in [None, Some(Pool::new(2).unwrap())] {
        on_worker(data.tidy(&server)).unwrap();
        let before = on_worker(data.balances(&server)).unwrap();
        let mut workload = Postgres::tpcb(&server, 4).unwrap();
        if let Some(pool) = pool.clone() {
            workload = workload.pool(pool).unwrap();
        }
        let record = Plan::new()
            .stream("postgres", workload, Load::closed(4).workers(2))
            .warmup(seconds(0.3))
            .measure(seconds(1.0))
            .calibrate(seconds(0.1))
            .run()
            .unwrap();
        let stream = only(&record);
        let added = on_worker(data.balances(&server)).unwrap().since(&before);
        assert!(added.agree() && stream.failures.is_empty(), "{added:?} {:?}", stream.failures);
        let (sure, perhaps) = bounds(stream);
        let rows = added.history_rows as u64;
        assert!(
            sure <= rows && rows <= perhaps && stream.accounting.succeeded > 20,
            "{sure} {rows} {perhaps}"
        );
        let sum: f64 = stream.steps.values().map(|d| d.mean_ns).sum();
        let service = stream.service.as_ref().unwrap().mean_ns;
        assert!(
            (0.8..=1.01).contains(&(sum / service)),
            "the steps make up the service time: {sum} of {service}"
        );
        assert_eq!(stream.facts["postgres_protocol"], "prepared");
        assert_eq!(stream.facts["postgres_tls"], "off");
        let evidence = format!("{:?}", stream.verdict);
        assert!(evidence.contains("ceiling"), "{evidence}");
        let json = record.to_json().unwrap();
        assert!(!json.contains(CANARY));
    }
    let check = on_worker(database.remove());
    assert!(check.passed, "{}", check.detail);
    assert_eq!(pg.psql("postgres", "select count(*) from pg_database where datname like 'openloop%'"), "0");
}

#[test]
fn rows_lie_between_what_is_sure_and_what_may_be_across_a_restart() {
    let Some(pg) = Pg::start(&[]) else { return };
    let server = pg.server();
    let data = Pgbench::scale(8).unwrap();
    on_worker(data.load(&server, |_| ())).unwrap();
    for load in [Load::closed(8).workers(2), Load::open(Schedule::constant("200/s").unwrap()).sessions(8)] {
        on_worker(data.tidy(&server)).unwrap();
        let before = on_worker(data.balances(&server)).unwrap();
        let running = Plan::new()
            .stream("postgres", Postgres::tpcb(&server, 8).unwrap(), load)
            .warmup(seconds(0.5))
            .measure(seconds(6.0))
            .calibrate(Duration::ZERO)
            .start();
        std::thread::sleep(seconds(2.0));
        pg.restart(false);
        let record = running.wait().unwrap();
        let stream = only(&record);
        let added = on_worker(data.balances(&server)).unwrap().since(&before);
        let (sure, perhaps) = bounds(stream);
        let rows = added.history_rows as u64;
        let said = format!("{sure} {rows} {perhaps} {:?} {:?}", stream.accounting, stream.failures);
        assert!(sure <= rows && rows <= perhaps, "{said}");
        assert!(added.agree() && stream.accounting.failed > 0, "{said}");
        assert!(stream.connects.ok > 8, "it came back: {said}");
        let last = stream.windows.iter().rfind(|w| !w.drain).unwrap();
        assert!(last.succeeded > 0, "and went on: {said}");
        for failure in &stream.failures {
            assert!(
                matches!(failure.class, Class::Sql | Class::Closed | Class::Reset | Class::Connect),
                "{said}"
            );
        }
    }
    assert_eq!(pg.sessions("postgres"), 0);
}

#[test]
fn a_run_that_cannot_be_is_told_why() {
    let Some(pg) = Pg::start(&[("max_connections", "6"), ("superuser_reserved_connections", "2")]) else {
        return;
    };
    pg.psql("postgres", "create role bench login password 'x'; grant pg_read_all_stats to bench");
    let one = |server: &Server| {
        Postgres::script(server, Script::new("one").statement("one", "SELECT 1").unwrap()).unwrap()
    };
    let run = |workload: Postgres, sessions: usize| {
        Plan::new()
            .stream("postgres", workload, Load::closed(sessions).workers(1))
            .measure(seconds(0.5))
            .connect_timeout(seconds(3.0))
            .calibrate(Duration::ZERO)
            .run()
    };
    let refused = |workload: Postgres, why: &str| match run(workload, 2).unwrap_err() {
        RunError::Connect { cause, .. } => assert!(cause.contains(why) && !cause.contains(CANARY), "{cause}"),
        other => panic!("{other}"),
    };
    let at = |login: &str, database: &str| {
        Server::parse(&format!("postgres://{login}@127.0.0.1:{}/{database}", pg.port)).unwrap()
    };
    refused(
        one(&at(&format!("bench:{CANARY}"), "postgres")),
        "password authentication failed for user \"bench\"",
    );
    refused(one(&at("bench:x", "nowhere")), "database \"nowhere\" does not exist");
    refused(Postgres::tpcb(&pg.server(), 1).unwrap(), "table pgbench_history is missing");

    // More than there is room for: as many as there is room for run, and the record says so.
    let record = run(one(&at("bench:x", "postgres")), 12).unwrap();
    let stream = only(&record);
    assert!(stream.accounting.succeeded > 0 && stream.connects.failed > 0);
    assert!(
        stream.facts["postgres_connections"].starts_with("12 connections are wanted; max_connections is 6")
    );
    pg.down();
    refused(one(&at("bench:x", "postgres")), "Connection refused");
}

#[test]
fn a_server_that_stops_answering_does_not_hold_up_the_end() {
    let Some(pg) = Pg::start(&[]) else { return };
    let script = Script::new("one").statement("one", "SELECT pg_sleep(0.01)").unwrap();
    let workload = Postgres::script(&pg.server(), script).unwrap().statement_timeout(seconds(1.0)).unwrap();
    let running = Plan::new()
        .stream("postgres", workload, Load::closed(4).workers(1))
        .measure(seconds(4.0))
        .drain(seconds(1.0))
        .calibrate(Duration::ZERO)
        .start();
    std::thread::sleep(seconds(1.0));
    pg.process().pause().unwrap();
    let start = std::time::Instant::now();
    let record = running.wait().unwrap();
    assert!(start.elapsed() < seconds(30.0));
    pg.process().resume().unwrap();
    let stream = only(&record);
    let timeouts: u64 = stream.failures.iter().filter(|f| f.class == Class::Timeout).map(|f| f.count).sum();
    assert!(timeouts >= 4, "{:?}", stream.failures);
    assert_eq!(stream.accounting.unknown, timeouts, "{:?}", stream.failures);
}

/// What the two say of the same work where nothing of it is the client's: sleeping on the server, arrivals at half of what
/// the sessions can do. In turns, for the machine may be busy with something else now and then.
#[test]
fn alone_open_loop_agrees_with_pgbench_where_the_client_does_not_matter() {
    let Some(pg) = Pg::start(&[]) else { return };
    let (rate, rounds) = (200.0, 3);
    let seconds: u64 = if full() { 30 } else { 4 };
    let file = pg.dir().join("sleep.sql");
    fs::write(&file, "SELECT pg_sleep(0.01);\n").unwrap();
    let file = file.to_str().unwrap();
    // Seeds are fixed, so that the number of arrivals is the same in every run.
    let pgbench = |round: u64| {
        let (time, seed) = (seconds.to_string(), format!("--random-seed={}", round + 1));
        let args = [
            "-n", "-M", "prepared", "-f", file, "-c", "4", "-j", "1", "-R", "200", "-T", &time, &seed,
            "postgres",
        ];
        let said = pg.run("pgbench", &args);
        let after = |text: &str| -> f64 {
            let line = said.lines().find_map(|l| l.split_once(text)).unwrap_or_else(|| panic!("{said}"));
            line.1.split_whitespace().next().unwrap().parse().unwrap()
        };
        (after("number of transactions actually processed: "), after("latency average = "))
    };
    let script = Script::new("sleep").statement("sleep", "SELECT pg_sleep(0.01)").unwrap();
    let busiest = Cell::new(0.0f64);
    let openloop = |round: u64| {
        let load = Load::open(Schedule::constant(rate).unwrap().poisson()).sessions(4);
        let record = Plan::new()
            .stream("postgres", Postgres::script(&pg.server(), script.clone()).unwrap(), load)
            .measure(Duration::from_secs(seconds))
            .seed(round)
            .calibrate(Duration::ZERO)
            .run()
            .unwrap();
        let stream = only(&record);
        let mean = |d: &Option<load_core::record::Distribution>| d.as_ref().unwrap().mean_ns / 1e6;
        let (response, wait, service) = (mean(&stream.response), mean(&stream.wait), mean(&stream.service));
        assert!(service >= 10.0 && (response - wait - service).abs() < 1e-3, "{response} {wait} {service}");
        let a = &stream.accounting;
        assert_eq!(a.failed, 0, "{a:?}");
        // What is in flight when time is up may end; what still waits is not begun, and does not wait for us.
        assert!(!full() || a.unfinished <= 12, "{a:?}");
        let busy = format!("{:?}", stream.verdict.evidence.get("host_cpu_busy"));
        eprintln!(
            "openloop: response {response:.3}, of which wait {wait:.3}, service {service:.3} ms; host busy {busy}"
        );
        busiest.set(service.max(busiest.get()));
        (a.scheduled as f64, response)
    };
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        theirs.push(pgbench(round));
        ours.push(openloop(round));
    }
    eprintln!("transactions and mean, pgbench: {theirs:?}; openloop: {ours:?}");
    let expected = rate * seconds as f64;
    for (who, runs) in [("pgbench", &theirs), ("openloop", &ours)] {
        for (count, _) in runs {
            let far = (count - expected) / expected.sqrt();
            // pgbench does not tell how many arrived while the machine had no time for it.
            let few = who == "openloop" || full();
            assert!(
                far < 3.0 && (!few || far > -3.0),
                "{who}: {count} of {expected}, {far:.2} standard deviations"
            );
        }
    }
    let median = |runs: &[(f64, f64)]| {
        let mut means: Vec<f64> = runs.iter().map(|r| r.1).collect();
        means.sort_by(f64::total_cmp);
        means[means.len() / 2]
    };
    let ratio = median(&ours) / median(&theirs);
    if !full() && busiest.get() > 13.0 {
        let service = busiest.get();
        eprintln!(
            "SKIPPED: means compared; 10 ms took {service:.1} ms, so busy is the machine with something else"
        );
        return;
    }
    // The client does not matter, but whatever else the machine does.
    let close = if full() { 0.95..1.05 } else { 0.7..1.4 };
    assert!(close.contains(&ratio), "mean response, openloop / pgbench: {ratio}");
}

#[test]
fn statistics_are_sampled_beside_the_load() {
    let Some(pg) = Pg::start(&[]) else { return };
    let server = pg.server();
    on_worker(Pgbench::scale(1).unwrap().load(&server, |_| ())).unwrap();
    let status = PostgresStatus::new(&server).unwrap().every(seconds(0.2)).unwrap();
    let record = Plan::new()
        .stream("postgres", Postgres::select_only(&server, 1).unwrap(), Load::closed(2).workers(1))
        .measure(seconds(1.5))
        .calibrate(Duration::ZERO)
        .sample(sampler::Sampler::new().source(status))
        .run()
        .unwrap();
    let series =
        |name: &str| record.series.iter().find(|s| s.name == name).unwrap_or_else(|| panic!("no {name}"));
    assert!(series("postgres.sessions").points.iter().any(|(_, v)| *v >= 2.0));
    assert!(series("postgres.commits").points.len() >= 2 && series("postgres.commits").unit == "1/s");
    assert!(!record.to_json().unwrap().contains(CANARY));
}
