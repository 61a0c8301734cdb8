//! PostgreSQL beside pgbench on the same server: 8 clients on two workers, beside `pgbench -c 8 -j 2 -M prepared`.

use openloop::{
    pg::{Protocol, Server},
    prelude::*,
    testbed,
};
use openloop_benches::{Target, client_with, is_client, report, run, say, secret, size};
use std::{process::Command, time::Duration};

const SCALE: u32 = 10;

/// `select|tpcb SECONDS`, the server's URL as the secret: prints transactions and rate.
fn as_client(arguments: &[String]) {
    let server = Server::parse(&secret()).expect("a URL");
    let workload = match arguments[0].as_str() {
        "select" => Postgres::select_only(&server, SCALE),
        _ => Postgres::tpcb(&server, SCALE),
    };
    let workload = workload.and_then(|w| Ok(w.protocol(Protocol::Prepared)?)).expect("a workload");
    let seconds = Duration::from_secs(arguments[1].parse().expect("a number"));
    let plan = Plan::new().stream("pg", workload, Load::closed(8).workers(2)).calibrate(Duration::ZERO);
    let record = plan.measure(seconds).run().expect("it runs");
    let s = &record.streams[0];
    assert_eq!(s.accounting.failed, 0, "{:?}", s.failures);
    say(&[s.accounting.succeeded as f64, s.succeeded_per_s]);
}

/// Transactions per second and CPU per transaction in µs, as pgbench prints and takes them.
fn pgbench(server: &testbed::Postgres, mode: &str, seconds: u64) -> Option<(f64, f64)> {
    let mut command = Command::new(server.programs().join("pgbench"));
    let (port, time) = (server.addr().port().to_string(), seconds.to_string());
    command.args(["-h", "127.0.0.1", "-p", &port, "-U", server.user(), "-n", "-M", "prepared"]);
    command.args(["-c", "8", "-j", "2", "-T", &time]).env("PGPASSWORD", server.password());
    if mode == "select" {
        command.arg("-S");
    }
    let used = run(command.arg(server.database())).ok()?;
    let after = |text: &str| {
        let line = used.output.lines().find_map(|l| l.strip_prefix(text))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    let n = after("number of transactions actually processed: ")?;
    Some((after("tps = ")?, used.cpu.as_secs_f64() * 1e6 / n))
}

fn main() {
    if let Some(arguments) = is_client() {
        return as_client(&arguments);
    }
    if !testbed::Postgres::is_installed() {
        return println!("SKIPPED: PostgreSQL is not installed");
    }
    let (rounds, seconds) = size(5, 4);
    let server = testbed::Postgres::builder().start_blocking().expect("PostgreSQL starts");
    let url = server.url_with_password();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (target, data) = (Server::parse(&url).expect("a URL"), Pgbench::scale(SCALE).expect("a scale"));
    runtime.block_on(data.load(&target, |_| {})).expect("the data is loaded");
    println!("pg: PostgreSQL {}, scale {SCALE}, {rounds} rounds of {seconds} s in turns", server.version());
    for mode in ["select", "tpcb"] {
        let mut rows: Vec<[f64; 4]> = Vec::new();
        for round in 0..rounds {
            let ours = || {
                let arguments = [mode.to_string(), seconds.to_string()];
                let (used, numbers) = client_with(&arguments, &url).expect("the client runs");
                (numbers[1], used.cpu.as_secs_f64() * 1e6 / numbers[0])
            };
            let theirs = || pgbench(&server, mode, seconds).expect("pgbench runs");
            let (own, other) = if round % 2 == 0 {
                let own = ours();
                (own, theirs())
            } else {
                let other = theirs();
                (ours(), other)
            };
            rows.push([own.0, other.0, own.1, other.1]);
        }
        let column = |f: &dyn Fn(&[f64; 4]) -> f64| rows.iter().map(f).collect::<Vec<_>>();
        println!("{mode}, prepared, 8 clients");
        report("  openloop", "tps", &column(&|r| r[0]), Target::None);
        report("  pgbench -j 2", "tps", &column(&|r| r[1]), Target::None);
        report("  TPS: openloop / pgbench", "", &column(&|r| r[0] / r[1]), Target::AtLeast(0.95));
        report("  openloop, client CPU per transaction", "µs", &column(&|r| r[2]), Target::None);
        report("  pgbench, client CPU per transaction", "µs", &column(&|r| r[3]), Target::None);
        report("  CPU: openloop / pgbench", "", &column(&|r| r[2] / r[3]), Target::AtMost(1.05));
    }
}
