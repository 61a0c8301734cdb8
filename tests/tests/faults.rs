//! Servers that die, sessions that never return, and what the record says of it.

use openloop::{
    prelude::*,
    testbed::{Known, Nginx, installed},
};
use openloop_tests::{check, full, skip};
use std::time::{Duration, Instant};

#[test]
fn real_nginx_killed_mid_run_ends_on_time_with_every_failure_in_a_class() {
    if !installed("nginx") {
        return skip("real_nginx_killed_mid_run", "nginx is not installed");
    }
    let (kill_at, length) = if full() { (5, 20) } else { (1, 4) };
    let nginx = Nginx::builder().start_blocking().unwrap();
    let page = Http::get(&nginx.url()).unwrap().expect_status(200).unwrap();
    let started = Instant::now();
    let running = Plan::new()
        .stream("closed", page.clone(), Load::closed(10))
        .stream("open", page, Load::open(Schedule::constant(200.0).unwrap()).sessions(10))
        .measure(Duration::from_secs(length))
        .calibrate(Duration::ZERO)
        .start();
    std::thread::sleep(Duration::from_secs(kill_at));
    nginx.process().kill().unwrap();
    let before = cpu_ns();
    let record = running.wait().unwrap();
    let used = cpu_ns() - before;
    check(&record);
    assert!(started.elapsed() < Duration::from_secs(length + 3), "on time");
    assert!(
        used < (length - kill_at) * 1_000_000_000 / 2,
        "no hot loop: {used} ns of CPU after the end of the server"
    );
    for s in &record.streams {
        assert!(s.accounting.succeeded > 0, "{:?}", s.accounting);
        assert!(
            s.connects.failures.iter().any(|f| f.class == Class::Connect && f.code == "refused"),
            "{:?}",
            s.connects
        );
        assert!(
            s.failures.iter().all(|f| [Class::Reset, Class::Closed, Class::Connect].contains(&f.class)),
            "{:?}",
            s.failures
        );
        assert_eq!(s.elapsed_ns, length * 1_000_000_000);
    }
    let open = &record.streams[1];
    assert_eq!(open.accounting.scheduled, 200 * length, "arrivals go on while the server is gone");
}

fn cpu_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<_> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    (fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()) * 10_000_000
}

#[test]
fn a_server_that_never_answers_gives_timeouts_and_no_percentile_of_successes() {
    let server = Known::silent().start().unwrap();
    let page = Http::get(&server.url()).unwrap().timeout(Duration::from_millis(300)).unwrap();
    let record =
        Plan::new().stream("s", page, Load::closed(5)).measure(Duration::from_secs(2)).run().unwrap();
    check(&record);
    let s = &record.streams[0];
    assert_eq!((s.accounting.succeeded, s.accounting.failed), (0, s.accounting.scheduled));
    assert!(s.accounting.failed >= 10 && s.accounting.unknown == s.accounting.failed, "{:?}", s.accounting);
    assert!(s.failures.iter().all(|f| f.class == Class::Timeout));
    assert_eq!((s.response.as_ref(), s.elapsed_ns), (None, 2_000_000_000));
}

#[test]
fn operations_at_the_deadline_are_drained_or_cut_and_are_no_errors() {
    let server = Known::http().delay(Duration::from_millis(700)).start().unwrap();
    let plan = || {
        let page = Http::get(&server.url()).unwrap();
        Plan::new().stream("s", page, Load::closed(25)).measure(Duration::from_secs(2))
    };
    let drained = plan().run().unwrap();
    check(&drained);
    let s = &drained.streams[0];
    assert_eq!((s.accounting.scheduled, s.accounting.succeeded), (75, 75));
    assert!(s.drain_ns > 0);
    assert_eq!(server.stats().requests, 75);
    server.forget();
    let cut = plan().drain(Duration::ZERO).run().unwrap();
    check(&cut);
    let s = &cut.streams[0];
    assert_eq!((s.accounting.succeeded, s.accounting.unfinished, s.accounting.failed), (50, 25, 0));
    assert_eq!(server.stats().requests, 75);
}

#[test]
fn a_session_that_never_returns_ends_at_the_drain_limit() {
    let stuck = workload(async |_: &mut Op| std::future::pending::<Outcome>().await);
    let started = Instant::now();
    let plan = Plan::new()
        .stream("s", stuck, Load::closed(2000))
        .measure(Duration::from_millis(500))
        .drain(Duration::from_millis(500));
    let record = plan.run().unwrap();
    check(&record);
    assert_eq!(record.streams[0].accounting.unfinished, 2000);
    assert!(started.elapsed() < Duration::from_secs(4));
}

#[test]
fn a_session_that_blocks_its_thread_for_ever_is_named() {
    let stuck = workload(async |_: &mut Op| {
        loop {
            std::thread::park()
        }
    });
    let plan = Plan::new()
        .stream("stone", stuck, Load::closed(1))
        .measure(Duration::from_millis(100))
        .drain(Duration::from_millis(100));
    let error = plan.run().unwrap_err();
    assert!(
        matches!(&error, openloop::RunError::Stuck { .. }) && error.to_string().contains("stone"),
        "{error}"
    );
}

#[test]
fn a_panicking_session_is_a_failure_and_nothing_hangs() {
    let panics = workload(async |op: &mut Op| {
        assert!(op.seq() % 50 != 49, "every fiftieth");
        Ok(())
    });
    let load = Load::open(Schedule::constant(1000.0).unwrap()).sessions(10);
    let record = Plan::new().stream("s", panics, load).measure(Duration::from_secs(1)).run().unwrap();
    check(&record);
    let s = &record.streams[0];
    assert_eq!((s.accounting.succeeded, s.accounting.failed), (980, 20));
    assert_eq!((s.failures[0].class, s.failures[0].count), (Class::Panic, 20));
}

#[test]
fn a_failing_connect_names_stream_and_reason() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let page = Http::get(&format!("http://{free}/")).unwrap();
    let error =
        Plan::new().stream("nginx", page, Load::closed(4)).measure(Duration::from_secs(1)).run().unwrap_err();
    let text = error.to_string();
    assert!(text.contains("nginx") && text.contains("refused") && text.contains(&free.to_string()), "{text}");
}

#[test]
fn fewer_connections_than_asked_are_said_and_can_be_fatal() {
    let server = Known::http().max_connections(30).start().unwrap();
    let plan = || {
        let page = Http::get(&server.url()).unwrap();
        Plan::new().stream("s", page, Load::closed(60)).measure(Duration::from_millis(500))
    };
    // The server takes the connection before it resets it, so that the reset shows at the first request.
    let record = plan().run().unwrap();
    check(&record);
    let s = &record.streams[0];
    assert!(s.accounting.failed > 0 || s.connects.failed > 0, "{s:?}");
    assert_ne!(record.verdict.status, Status::Valid, "{:?}", record.verdict);
}

#[test]
fn a_handle_may_be_dropped_and_a_run_awaited_in_any_runtime() {
    let server = Known::http().start().unwrap();
    // Not calibrated: what happens when is told from the start of the run.
    let page = || Http::get(&server.url()).unwrap();
    let plan = || Plan::new().stream("s", page(), Load::closed(4)).calibrate(Duration::ZERO);
    let started = Instant::now();
    drop(plan().measure(Duration::from_secs(60)).start());
    // The workers stop in the background: the server sees no more requests soon.
    let quiet = || {
        let before = server.stats().requests;
        std::thread::sleep(Duration::from_millis(200));
        server.stats().requests == before
    };
    while !quiet() {
        assert!(started.elapsed() < Duration::from_secs(20), "load goes on");
    }
    let running = plan().measure(Duration::from_secs(60)).start();
    let stopper = running.stopper();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(700));
        stopper.stop();
    });
    let record = running.wait().unwrap();
    check(&record);
    assert!(record.interrupted);
    let s = &record.streams[0];
    assert!(s.elapsed_ns < 5_000_000_000 && s.accounting.succeeded > 0);
    assert!((s.succeeded_per_s * s.elapsed_ns as f64 / 1e9 - s.accounting.succeeded as f64).abs() <= 8.0);
}
