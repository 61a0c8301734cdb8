//! HTTP/1.1 beside wrk on the same nginx: rate, and client CPU per request. Both clients are processes of their own.

use openloop::{
    prelude::*,
    testbed::{Nginx, installed},
};
use openloop_benches::{Target, client, is_client, report, run, say, size};
use std::{process::Command, time::Duration};

/// `URL CONNECTIONS SECONDS`: prints the requests that were answered and the rate.
fn as_client(arguments: &[String]) {
    let page = Http::get(&arguments[0]).expect("a URL");
    let load = Load::closed(arguments[1].parse().expect("a number")).workers(1);
    let seconds = Duration::from_secs(arguments[2].parse().expect("a number"));
    let record = Plan::new()
        .stream("http", page, load)
        .measure(seconds)
        .calibrate(Duration::ZERO)
        .run()
        .expect("it runs");
    let s = &record.streams[0];
    assert_eq!(s.accounting.failed, 0, "{:?}", s.failures);
    say(&[s.accounting.succeeded as f64, s.succeeded_per_s]);
}

/// Requests and rate, as wrk prints them.
fn wrk(url: &str, connections: usize, seconds: u64) -> Option<(f64, f64, f64)> {
    let (c, d) = (format!("-c{connections}"), format!("-d{seconds}"));
    let used = run(Command::new("wrk").args(["-t1", &c, &d, url])).ok()?;
    let requests =
        used.output.lines().find_map(|l| l.trim().split_once(" requests in ")?.0.parse::<f64>().ok())?;
    let rate = used
        .output
        .lines()
        .find_map(|l| l.trim().strip_prefix("Requests/sec:")?.trim().parse::<f64>().ok())?;
    Some((requests, rate, used.cpu.as_secs_f64() * 1e6 / requests))
}

fn main() {
    if let Some(arguments) = is_client() {
        return as_client(&arguments);
    }
    for program in ["nginx", "wrk"] {
        if !installed(program) {
            return println!("SKIPPED: {program} is not installed");
        }
    }
    let (rounds, seconds) = size(5, 3);
    let nginx = Nginx::builder().worker_processes(1).start_blocking().expect("nginx starts");
    println!(
        "http: nginx {} with one worker, {rounds} rounds of {seconds} s in turns, medians [lowest .. highest]",
        nginx.version()
    );
    for connections in [10usize, 50, 100] {
        let mut rows: Vec<[f64; 4]> = Vec::new();
        for round in 0..rounds {
            let ours = || {
                let arguments = [nginx.url(), connections.to_string(), seconds.to_string()];
                let (used, numbers) = client(&arguments).expect("the client runs");
                (numbers[1], used.cpu.as_secs_f64() * 1e6 / numbers[0])
            };
            let theirs = || wrk(&nginx.url(), connections, seconds).expect("wrk runs");
            // Who begins changes from round to round.
            let (own, other) = if round % 2 == 0 {
                let a = ours();
                (a, theirs())
            } else {
                let b = theirs();
                (ours(), b)
            };
            rows.push([own.0, other.1, own.1, other.2]);
        }
        let column = |f: &dyn Fn(&[f64; 4]) -> f64| rows.iter().map(f).collect::<Vec<_>>();
        println!("{connections} connections");
        report("  openloop", "req/s", &column(&|r| r[0]), Target::None);
        report("  wrk -t1", "req/s", &column(&|r| r[1]), Target::None);
        report("  openloop, client CPU per request", "µs", &column(&|r| r[2]), Target::None);
        report("  wrk, client CPU per request", "µs", &column(&|r| r[3]), Target::None);
        report("  CPU: openloop / wrk", "", &column(&|r| r[2] / r[3]), Target::AtMost(1.15));
    }
}
