//! Who is the limit: the server, or the load generator?

use crate::{figure, fired, run};
use openloop::{
    core::{NullTargetError, Nulled, calibrated},
    http::NullTarget,
    prelude::*,
    testbed::{Known, Nginx, installed},
};
use openloop_tests::{full, skip};
use std::{net::SocketAddr, time::Duration};

/// The page of a server, with a null target.
fn page(address: SocketAddr) -> impl Workload {
    let null = |delay| {
        let target = NullTarget::start(delay).map_err(|error| NullTargetError::new("GET", error))?;
        Ok(Nulled::new(target.address(), target))
    };
    calibrated(address, |address| Http::get(&format!("http://{address}/")).unwrap(), null)
}

fn length() -> Duration {
    Duration::from_secs(if full() { 15 } else { 2 })
}

#[test]
fn a_slow_server_taken_for_a_bad_generator() {
    // Four connections, 100 ms each: 40/s at most, and twice that offered.
    let server = Known::http().delay(Duration::from_millis(100)).start().unwrap();
    for overload in [Overload::Drop, Overload::queue(1000)] {
        let load = Load::open(Schedule::constant(80.0).unwrap()).sessions(4).overload(overload);
        let record = run(Plan::new().stream("s", Http::get(&server.url()).unwrap(), load).measure(length()));
        let s = &record.streams[0];
        assert!(s.accounting.started < s.accounting.scheduled * 6 / 10, "{:?}", s.accounting);
        assert!(
            s.verdict.findings.iter().any(|f| f.contains("4 sessions were the limit")),
            "{:?}",
            s.verdict.findings
        );
        assert_ne!(s.verdict.status, Status::Rejected, "{:?}", s.verdict);
        for rule in ["lateness", "generator_cpu", "loop_lag", "little"] {
            assert!(fired(s, rule).is_none(), "{:?}", s.verdict);
        }
    }
}

#[test]
fn real_half_of_what_both_can_do_taken_for_too_much() {
    if !installed("nginx") {
        return skip("half_of_what_both_can_do", "nginx is not installed");
    }
    let nginx = Nginx::builder().worker_processes(2).start_blocking().unwrap();
    let full_speed = run(Plan::new().stream("nginx", page(nginx.addr()), Load::closed(16)).measure(length()));
    let s = &full_speed.streams[0];
    let (can, ceiling) = (s.succeeded_per_s, figure(s, "ceiling_per_s").expect("it was calibrated"));
    // In a debug build the wake-ups of an open loop cost ten times as much and are most of a core at half of the rate.
    let share = if cfg!(debug_assertions) { 0.1 } else { 0.5 };
    let half = can.min(ceiling) * share;
    let load = Load::open(Schedule::constant(half).unwrap()).sessions(16);
    let record = run(Plan::new().stream("nginx", page(nginx.addr()), load).measure(length()));
    let s = &record.streams[0];
    eprintln!("client {ceiling:.0}/s, server {can:.0}/s, {half:.0}/s offered: {:?}", s.verdict);
    for rule in ["in_flight", "ceiling", "concurrency_kept", "generator_cpu"] {
        assert!(fired(s, rule).is_none(), "{:?}", s.verdict);
    }
    assert!(figure(s, "ceiling").is_some_and(|ceiling| ceiling > share * 0.4), "{:?}", s.verdict.evidence);
}

#[test]
fn real_a_generator_at_its_limit_taken_for_the_servers() {
    if !installed("nginx") {
        return skip("a_generator_at_its_limit", "nginx is not installed");
    }
    let nginx = Nginx::builder().worker_processes(2).start_blocking().unwrap();
    let load = Load::closed(64).workers(1);
    let record = run(Plan::new().stream("nginx", page(nginx.addr()), load).measure(length()));
    let s = &record.streams[0];
    eprintln!("{:.0}/s: {:?}", s.succeeded_per_s, s.verdict);
    assert_ne!(s.verdict.status, Status::Valid);
    let rules = ["ceiling", "generator_cpu", "run_queue", "loop_lag"];
    assert!(rules.iter().any(|rule| fired(s, rule).is_some()), "{:?}", s.verdict);
}
