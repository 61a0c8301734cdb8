//! HTTP/1.1 beside wrk and others: rate, and client CPU per request. First on a server that costs so little that the
//! client is the limit, then on nginx. Clients and servers are processes of their own.

mod peers;

use openloop::{
    http::NullTarget,
    prelude::*,
    testbed::{Nginx, installed},
};
use openloop_benches::{
    Server, Target, client, is_client, is_server, on_core, report, say, serve_until_closed, size,
};
use peers::{Ran, ab, hey, oha, wrk};
use std::time::Duration;

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

fn openloop(url: &str, connections: usize, seconds: u64) -> Option<Ran> {
    let arguments = [url.to_string(), connections.to_string(), seconds.to_string()];
    let (used, numbers) = client(&arguments).ok()?;
    Some(Ran::new(&used, *numbers.first()?, *numbers.get(1)?))
}

type Client = fn(&str, usize, u64) -> Option<Ran>;

const CLIENTS: [(&str, Client); 5] =
    [("openloop", openloop), ("wrk", wrk), ("ab", ab), ("hey", hey), ("oha", oha)];

/// openloop and those of the others that are installed.
fn clients() -> Vec<(&'static str, Client)> {
    let mut clients = CLIENTS.to_vec();
    clients.retain(|(name, _)| {
        let there = *name == "openloop" || installed(name);
        if !there {
            println!("SKIPPED: {name} is not installed");
        }
        there
    });
    clients
}

/// Each client in each round; who begins changes from round to round. With each run what the server used in it, as a
/// share of a core.
fn rounds(
    clients: &[(&str, Client)],
    rounds: usize,
    run: impl Fn(Client) -> Option<Ran>,
    server_cpu: impl Fn() -> Duration,
) -> Vec<Vec<(Ran, f64)>> {
    let mut ran: Vec<Vec<(Ran, f64)>> = vec![Vec::new(); clients.len()];
    for round in 0..rounds {
        for turn in 0..clients.len() {
            let which = (round + turn) % clients.len();
            let before = server_cpu();
            let one = run(clients[which].1).unwrap_or_else(|| panic!("{} runs", clients[which].0));
            let served = server_cpu().saturating_sub(before).as_secs_f64();
            ran[which].push((one, served / one.wall));
        }
    }
    ran
}

fn column(ran: &[(Ran, f64)], f: impl Fn(&(Ran, f64)) -> f64) -> Vec<f64> {
    ran.iter().map(f).collect()
}

/// A server that says the same to everybody, and costs less than any client.
fn on_canned(n: usize, seconds: u64) {
    const CONNECTIONS: usize = 50;
    // One core for the server and another for the client: a child begins where its parent is.
    let apart = on_core(1);
    let server = Server::start().expect("the server starts");
    on_core(0);
    println!("canned replies from a process of its own, {CONNECTIONS} connections");
    if !apart {
        println!("SKIPPED: there is no second core, so that the server takes the client's");
        return;
    }
    let url = format!("http://{}/", server.address());
    let clients = clients();
    let ran = rounds(&clients, n, |run| run(&url, CONNECTIONS, seconds), || server.cpu());
    for ((name, _), ran) in clients.iter().zip(&ran) {
        report(&format!("  {name}, rate"), "req/s", &column(ran, |(r, _)| r.rate), Target::None);
        report(
            &format!("  {name}, CPU per request"),
            "µs",
            &column(ran, |(r, _)| r.cpu_each()),
            Target::None,
        );
        report(
            &format!("  {name}, client busy"),
            "cores",
            &column(ran, |(r, _)| r.cpu / r.wall),
            Target::None,
        );
        report(&format!("  {name}, server busy"), "cores", &column(ran, |(_, s)| *s), Target::None);
    }
    if clients.get(1).is_none_or(|(name, _)| *name != "wrk") {
        return;
    }
    let (ours, theirs) = (&ran[0], &ran[1]);
    let ratio = |f: fn(&Ran) -> f64| -> Vec<f64> {
        ours.iter().zip(theirs).map(|((own, _), (other, _))| f(own) / f(other)).collect()
    };
    report("  rate: openloop / wrk", "", &ratio(|r| r.rate), Target::AtLeast(0.8));
    report("  CPU: openloop / wrk", "", &ratio(Ran::cpu_each), Target::AtMost(1.25));
    let limit = |(ran, served): &(Ran, f64)| ran.cpu / ran.wall >= 0.95 && *served < 0.95;
    let rounds = |ran: &[(Ran, f64)]| ran.iter().filter(|r| limit(r)).count();
    println!(
        "  the client was the limit (busy for 95 % of the time or more, the server for less): openloop in {} of {n} \
         rounds, wrk in {}",
        rounds(ours),
        rounds(theirs)
    );
}

fn on_nginx(n: usize, seconds: u64) {
    for program in ["nginx", "wrk"] {
        if !installed(program) {
            return println!("SKIPPED: {program} is not installed");
        }
    }
    let nginx = Nginx::builder().worker_processes(1).start_blocking().expect("nginx starts");
    println!("nginx {} with one worker", nginx.version());
    for connections in [10usize, 50, 100] {
        let run = |client: Client| client(&nginx.url(), connections, seconds);
        let ran = rounds(&CLIENTS[..2], n, run, || Duration::ZERO);
        println!("{connections} connections");
        for ((name, _), ran) in CLIENTS.iter().zip(&ran) {
            report(&format!("  {name}, rate"), "req/s", &column(ran, |(r, _)| r.rate), Target::None);
            report(
                &format!("  {name}, CPU per request"),
                "µs",
                &column(ran, |(r, _)| r.cpu_each()),
                Target::None,
            );
        }
        let ratios: Vec<f64> =
            ran[0].iter().zip(&ran[1]).map(|((a, _), (b, _))| a.cpu_each() / b.cpu_each()).collect();
        report("  CPU: openloop / wrk", "", &ratios, Target::AtMost(1.15));
    }
}

fn main() {
    if is_server() {
        let target = NullTarget::start(Duration::ZERO).expect("a free port");
        return serve_until_closed(target.address());
    }
    if let Some(arguments) = is_client() {
        return as_client(&arguments);
    }
    let (n, seconds) = size(5, 3);
    println!("http: {n} rounds of {seconds} s in turns, medians [lowest .. highest]");
    let anywhere = openloop_benches::cores();
    on_canned(n, seconds);
    openloop_benches::on_cores(&anywhere);
    on_nginx(n, seconds);
}
