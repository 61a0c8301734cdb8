//! Limits of this machine: many connections, too few descriptors, no local ports left.

mod common;

use http_load::{Http, NginxStatus};
use load_core::{Class, Load, Readings, Record, Schedule, Source, Status};
use load_engine::Plan;
use rustix::process::{Resource, getrlimit};
use std::{
    path::Path,
    process::{Command, Output},
    time::Duration,
};
use testbed::{Known, Nginx};

/// Set in a copy of this program that was started to see a limit from inside.
const INSIDE: &str = "OPENLOOP_TEST_INSIDE";

/// Runs one of these tests again under another program.
fn again(under: &[&str], test: &str, inside: &str) -> Output {
    let mut command = Command::new(under[0]);
    command.args(&under[1..]).arg(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(INSIDE, inside);
    command.output().unwrap()
}

fn passed(output: &Output) {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("1 passed"), "{}", text(&output.stdout));
}

fn balanced(record: &Record) {
    let a = &record.streams[0].accounting;
    assert_eq!(a.scheduled, a.succeeded + a.failed + a.dropped + a.skipped + a.unfinished, "{a:?}");
}

#[test]
fn real_two_thousand_connections_are_held() {
    const CONNECTIONS: u64 = 2000;
    if !testbed::installed("nginx") {
        return eprintln!("SKIPPED: nginx is not installed");
    }
    let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    if descriptors < CONNECTIONS + 200 {
        return eprintln!(
            "SKIPPED: RLIMIT_NOFILE is {descriptors}, {CONNECTIONS} connections need {}",
            CONNECTIONS + 200
        );
    }
    let nginx = Nginx::builder().page("/a", "hello").worker_connections(5000).start_blocking().unwrap();
    let page = Http::get(&format!("{}a", nginx.url())).unwrap().expect_body("hello");
    let running = Plan::new()
        .stream("nginx", page, Load::closed(CONNECTIONS as usize))
        .measure(Duration::from_secs(3))
        .calibrate(Duration::ZERO)
        .start();
    // nginx counts them too.
    let mut most = 0.0f64;
    let mut status = NginxStatus::new(&nginx.status_url().unwrap()).unwrap();
    let waiting = std::thread::spawn(move || running.wait());
    while !waiting.is_finished() {
        let mut readings = Readings::new();
        if common::run(status.read(&mut readings)).is_ok() {
            let active = readings.values().iter().find(|(name, ..)| name == "nginx.connections.active");
            most = most.max(active.unwrap().2);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    let record = waiting.join().unwrap().unwrap();
    balanced(&record);
    let s = &record.streams[0];
    assert_eq!((s.connects.open_at_start, s.connects.failed), (CONNECTIONS, 0), "{:?}", s.connects);
    assert_eq!((s.accounting.failed, s.connects.ok), (0, CONNECTIONS), "{:?}", s.failures);
    assert!(s.accounting.succeeded >= CONNECTIONS, "{:?}", s.accounting);
    assert!(most >= CONNECTIONS as f64 && most <= CONNECTIONS as f64 + 10.0, "nginx saw {most} at once");
}

#[test]
fn real_too_few_descriptors_are_named_and_are_not_the_servers_fault() {
    const NAME: &str = "real_too_few_descriptors_are_named_and_are_not_the_servers_fault";
    if let Ok(url) = std::env::var(INSIDE) {
        return too_few_descriptors(&url);
    }
    if !testbed::installed("nginx") {
        return eprintln!("SKIPPED: nginx is not installed");
    }
    let nginx = Nginx::builder().worker_connections(2000).start_blocking().unwrap();
    passed(&again(&["sh", "-c", "ulimit -n 200; exec \"$0\" \"$@\""], NAME, &nginx.url()));
}

fn too_few_descriptors(url: &str) {
    let plan = || {
        Plan::new()
            .stream("nginx", Http::get(url).unwrap(), Load::closed(400))
            .measure(Duration::from_secs(1))
            .calibrate(Duration::ZERO)
    };
    let record = plan().run().unwrap();
    balanced(&record);
    let s = &record.streams[0];
    assert!(s.connects.open_at_start < 200 && s.accounting.succeeded > 0, "{:?}", s.connects);
    let why = &s.connects.failures[0];
    assert_eq!((why.class, &*why.code), (Class::Local, "no file descriptor (EMFILE)"), "{:?}", s.connects);
    assert!(why.example.contains("RLIMIT_NOFILE is 200"), "{}", why.example);
    assert_eq!(record.verdict.status, Status::Rejected, "{:?}", record.verdict);
    // Whoever must have them all is told before anything is measured.
    let said = plan().strict_connections(true).run().unwrap_err().to_string();
    assert!(said.contains("of 400 sessions") && said.contains("RLIMIT_NOFILE is 200"), "{said}");
}

#[test]
fn running_out_of_local_ports_is_no_error_of_the_servers() {
    const NAME: &str = "running_out_of_local_ports_is_no_error_of_the_servers";
    if std::env::var_os(INSIDE).is_some() {
        return out_of_ports();
    }
    let namespace = "ip link set lo up && cd /proc/sys/net/ipv4 && echo 40000 40199 > ip_local_port_range && \
                     echo 0 > tcp_tw_reuse && cd / && exec \"$0\" \"$@\"";
    let possible = Command::new("unshare").args(["-rn", "sh", "-c", namespace, "true"]).output();
    match possible {
        Ok(output) if output.status.success() && Path::new("/proc/sys/net/ipv4").exists() => {}
        _ => return eprintln!("SKIPPED: no network namespace of its own with `unshare` and `ip`"),
    }
    passed(&again(&["unshare", "-rn", "sh", "-c", namespace], NAME, "1"));
}

/// 200 ports, of which the server has one. A connection each, closed by the client: its port is taken for another minute.
fn out_of_ports() {
    let server = Known::raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").start().unwrap();
    let page = Http::get(&server.url()).unwrap().keep_alive(false);
    let load = Load::open(Schedule::constant(200.0).unwrap()).sessions(8);
    let plan = Plan::new().stream("s", page, load).measure(Duration::from_secs(3));
    let record = plan.calibrate(Duration::ZERO).run().unwrap();
    balanced(&record);
    let s = &record.streams[0];
    let a = &s.accounting;
    // Sessions that fail again and again pause; what they do not get to any more is unfinished.
    assert_eq!(a.scheduled, 600);
    assert!((150..200).contains(&a.succeeded) && a.failed > 0, "{a:?}");
    assert_eq!(server.stats().requests, a.succeeded);
    let [why] = &*s.failures else { panic!("{:?}", s.failures) };
    assert_eq!((why.class, &*why.code), (Class::Local, "no local port (EADDRNOTAVAIL)"));
    assert!(why.example.contains("ip_local_port_range"), "{}", why.example);
    assert_eq!((a.unknown, s.verdict.status), (0, Status::Rejected), "{:?}", s.verdict);
    assert!(s.verdict.reasons.iter().any(|r| r.contains("local")), "{:?}", s.verdict);
    let share = s.verdict.evidence["local_limits"].number().unwrap();
    assert!((share - a.failed as f64 / 600.0).abs() < 1e-9, "{share}");
}
