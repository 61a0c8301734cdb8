//! What other tools do with the same server, as they print it.

use openloop_benches::{Used, run};
use std::process::Command;

/// One run of one client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ran {
    /// Requests per second, as the client says.
    pub(crate) rate: f64,
    /// Requests that it made.
    pub(crate) requests: f64,
    /// CPU time of its process in seconds.
    pub(crate) cpu: f64,
    /// From its start to its end in seconds.
    pub(crate) wall: f64,
}

impl Ran {
    pub(crate) fn new(used: &Used, requests: f64, rate: f64) -> Ran {
        Ran { rate, requests, cpu: used.cpu.as_secs_f64(), wall: used.wall.as_secs_f64() }
    }

    /// CPU time for each request in µs.
    pub(crate) fn cpu_each(&self) -> f64 {
        self.cpu * 1e6 / self.requests
    }
}

/// With one thread, as it needs no more for 50 connections.
pub(crate) fn wrk(url: &str, connections: usize, seconds: u64) -> Option<Ran> {
    let used =
        run(Command::new("wrk").args(["-t1", &format!("-c{connections}"), &format!("-d{seconds}"), url]))
            .ok()?;
    let requests = used.output.lines().find_map(|l| l.trim().split_once(" requests in "))?.0.parse().ok()?;
    let rate = after(&used.output, "Requests/sec:")?;
    Some(Ran::new(&used, requests, rate))
}

/// With connections kept, as the others do.
pub(crate) fn ab(url: &str, connections: usize, seconds: u64) -> Option<Ran> {
    let (c, t) = (connections.to_string(), seconds.to_string());
    let used = run(Command::new("ab").args(["-q", "-k", "-c", &c, "-t", &t, "-n", "100000000", url])).ok()?;
    let requests = after(&used.output, "Complete requests:")?;
    Some(Ran::new(&used, requests, after(&used.output, "Requests per second:")?))
}

pub(crate) fn hey(url: &str, connections: usize, seconds: u64) -> Option<Ran> {
    let (c, z) = (connections.to_string(), format!("{seconds}s"));
    let used = run(Command::new("hey").args(["-z", &z, "-c", &c, url])).ok()?;
    // It keeps the figures of its first million requests only, but its rate is of all.
    let rate = after(&used.output, "Requests/sec:")?;
    Some(Ran::new(&used, rate * after(&used.output, "Total:")?, rate))
}

pub(crate) fn oha(url: &str, connections: usize, seconds: u64) -> Option<Ran> {
    let (c, z) = (connections.to_string(), format!("{seconds}s"));
    let used = run(Command::new("oha").args(["-z", &z, "-c", &c, "--no-tui", url])).ok()?;
    let rate = after(&used.output, "Requests/sec:")?;
    Some(Ran::new(&used, rate * after(&used.output, "Total:")?, rate))
}

/// The number behind a word at the start of a line.
fn after(text: &str, word: &str) -> Option<f64> {
    let rest = text.lines().find_map(|line| line.trim().strip_prefix(word))?;
    let end = |c: char| !c.is_ascii_digit() && c != '.';
    rest.trim().split(end).next()?.parse().ok()
}
