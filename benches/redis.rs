//! Redis beside redis-benchmark on the same server: SET and GET, 50 and 100 clients, pipelines of 1 and of 16.

use openloop::{
    prelude::*,
    redis::{Client, Command as Redis, Keys, Payload, Target as Server},
    testbed,
};
use openloop_benches::{Target, client_with, is_client, own_cpu, report, run, say, secret, size};
use std::{process::Command, time::Duration};

/// `set|get CLIENTS PIPELINE lean|fred SECONDS`, the server's URL as the secret: prints commands, rate and CPU seconds of
/// the run. Finding a free part of the database before it and removing the keys after it, which redis-benchmark does not
/// do, are not in them.
fn as_client(arguments: &[String]) {
    let server = Server::url(&secret()).expect("a URL").database(15);
    let space = server.isolate().allow_foreign("*").open_blocking().expect("a part of the database");
    let client = if arguments[3] == "fred" { Client::Fred } else { Client::Lean };
    let workload = openloop::redis::Redis::within(&space)
        .command(Redis::by_name(&arguments[0]).expect("a command"))
        .keys(Keys::uniform(100_000))
        .payload(Payload::fixed(3))
        .pipeline(arguments[2].parse().expect("a number"))
        .client(client)
        .build()
        .expect("a workload");
    let load = Load::closed(arguments[1].parse().expect("a number")).workers(1);
    let seconds = Duration::from_secs(arguments[4].parse().expect("a number"));
    let plan = Plan::new().stream("redis", workload, load).calibrate(Duration::ZERO);
    let before = own_cpu();
    let record = plan.measure(seconds).run().expect("it runs");
    let cpu = own_cpu().saturating_sub(before);
    let s = &record.streams[0];
    assert_eq!(s.accounting.failed, 0, "{:?}", s.failures);
    say(&[s.units as f64, s.units as f64 * 1e9 / s.elapsed_ns as f64, cpu.as_secs_f64()]);
    assert!(space.cleanup_blocking().passed);
}

/// Commands per second and CPU per command in µs, of redis-benchmark.
fn benchmark(
    server: &testbed::Redis,
    command: &str,
    clients: usize,
    pipeline: usize,
    n: u64,
) -> Option<(f64, f64)> {
    let text = |n: u64| n.to_string();
    let (port, n_text) = (text(server.addr().port().into()), text(n));
    let (c, p) = (clients.to_string(), pipeline.to_string());
    let mut program = Command::new("redis-benchmark");
    program.args(["-h", "127.0.0.1", "-p", &port, "--dbnum", "14", "-t", command, "-c", &c, "-P", &p]);
    program.args(["-n", &n_text, "-r", "100000", "-d", "3", "--csv", "-a", server.password()]);
    let used = run(&mut program).ok()?;
    let line = used.output.lines().find(|l| l.to_lowercase().starts_with(&format!("\"{command}\"")))?;
    let rate: f64 = line.split(',').nth(1)?.trim_matches('"').parse().ok()?;
    Some((rate, used.cpu.as_secs_f64() * 1e6 / n as f64))
}

fn main() {
    if let Some(arguments) = is_client() {
        return as_client(&arguments);
    }
    for program in ["redis-server", "redis-benchmark"] {
        if !testbed::installed(program) {
            return println!("SKIPPED: {program} is not installed");
        }
    }
    let (rounds, seconds) = size(5, 3);
    let server = testbed::Redis::builder().start_blocking().expect("Redis starts");
    let url = server.url_with_password();
    println!("redis: Redis {}, {rounds} rounds of {seconds} s in turns", server.version());
    // As many as take about the same time.
    let sizes = [(1usize, 50usize), (1, 100), (16, 50)];
    for (pipeline, clients) in sizes {
        for command in ["set", "get"] {
            let n = seconds * if pipeline == 1 { 80_000 } else { 600_000 };
            let mut rows: Vec<[f64; 6]> = Vec::new();
            for round in 0..rounds {
                let ours = |kind: &str| {
                    let arguments = [
                        command.into(),
                        clients.to_string(),
                        pipeline.to_string(),
                        kind.into(),
                        seconds.to_string(),
                    ];
                    let (_, numbers) = client_with(&arguments, &url).expect("the client runs");
                    (numbers[1], numbers[2] * 1e6 / numbers[0])
                };
                let theirs =
                    || benchmark(&server, command, clients, pipeline, n).expect("redis-benchmark runs");
                let (lean, other) = if round % 2 == 0 {
                    let lean = ours("lean");
                    (lean, theirs())
                } else {
                    let other = theirs();
                    (ours("lean"), other)
                };
                let fred = if pipeline == 1 { ours("fred") } else { (f64::NAN, f64::NAN) };
                rows.push([lean.0, other.0, lean.1, other.1, fred.0, fred.1]);
            }
            let column = |f: &dyn Fn(&[f64; 6]) -> f64| rows.iter().map(f).collect::<Vec<_>>();
            println!("{command}, {clients} clients, pipeline {pipeline}");
            report("  openloop, lean client", "cmd/s", &column(&|r| r[0]), Target::None);
            report("  redis-benchmark", "cmd/s", &column(&|r| r[1]), Target::None);
            let (rate, cpu) = if pipeline == 1 { (Target::AtLeast(1.4), 0.7) } else { (Target::None, 0.85) };
            report("  rate: lean / redis-benchmark", "", &column(&|r| r[0] / r[1]), rate);
            report("  lean, client CPU per command", "µs", &column(&|r| r[2]), Target::None);
            report("  redis-benchmark, client CPU per command", "µs", &column(&|r| r[3]), Target::None);
            report("  CPU: lean / redis-benchmark", "", &column(&|r| r[2] / r[3]), Target::AtMost(cpu));
            if pipeline == 1 {
                report("  CPU: fred / redis-benchmark", "", &column(&|r| r[5] / r[3]), Target::AtMost(1.05));
            }
        }
    }
}
