//! nginx, a static page: 15 s at concurrency 10, 50 and 100, three rounds; and the published mistake, on purpose.

use clap::{Parser, ValueEnum};
use openloop::{prelude::*, record::Server, testbed::Nginx};
use openloop_examples::{Failed, Flags, arguments, blocking::BlockingGet, finish, http_target, measure};
use std::{net::ToSocketAddrs, process::ExitCode};

#[derive(Debug, Parser)]
#[command(about = "nginx, a static page, closed loop at concurrency 10, 50 and 100")]
struct Arguments {
    #[command(flatten)]
    flags: Flags,
    /// Load this nginx instead of starting one
    #[arg(long, value_name = "URL")]
    nginx: Option<String>,
    /// Which client sends the requests
    #[arg(long, default_value = "hyper")]
    client: Client,
    /// Worker threads of the load generator (default: all cores but one, at least one; 4 for the blocking client)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    workers: Option<u64>,
    /// Worker processes of the nginx that is started
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    nginx_workers: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum Client {
    /// One asynchronous connection a session
    Hyper,
    /// The mistake: synchronous requests on a few threads
    Blocking,
}

fn run(arguments: &Arguments) -> Result<Record, Failed> {
    let flags = &arguments.flags;
    flags.begin()?;
    let given = arguments.nginx.as_deref().map(|url| http_target("--nginx", url, flags)).transpose()?;
    let own = match given {
        Some(_) => None,
        None => Some(Nginx::builder().worker_processes(arguments.nginx_workers).start_blocking()?),
    };
    let url = given.unwrap_or_else(|| own.as_ref().expect("one of the two").url());

    let workers = arguments.workers.or((arguments.client == Client::Blocking).then_some(4));
    let load = move |concurrency: &usize| {
        let load = Load::closed(*concurrency);
        workers.map_or(load.clone(), |n| load.workers(n as usize))
    };
    let plan = Plan::new().experiment("nginx_static");
    let plan = match arguments.client {
        Client::Hyper => plan.stream("nginx", Http::get(&url)?.expect_status(200)?, load(&10)),
        Client::Blocking => {
            let (address, path) = split(&url)?;
            let address = address.to_socket_addrs()?.next().ok_or_else(|| Failed::new("no address"))?;
            plan.stream("nginx", BlockingGet::new(address, path), load(&10))
        }
    };
    let mut plan = plan
        .levels([10, 50, 100], load)
        .warmup(flags.warmup(2))
        .measure(flags.seconds(15))
        .rounds(flags.rounds(3))
        .setting("client", format!("{:?}", arguments.client).to_lowercase());
    if let Some(nginx) = &own {
        let server =
            nginx.settings().into_iter().fold(Server::new(nginx.version()), |s, (k, v)| s.setting(k, v));
        plan = plan.server("nginx", server);
    }
    measure(plan)
}

/// Address and path of a URL that was checked already.
fn split(url: &str) -> Result<(String, &str), Failed> {
    let rest = url.strip_prefix("http://").ok_or_else(|| Failed::new("not an http URL"))?;
    let (authority, _) = rest.split_once('/').ok_or_else(|| Failed::new("no path"))?;
    let port = if authority.contains(':') { "" } else { ":80" };
    Ok((format!("{authority}{port}"), &rest[authority.len()..]))
}

fn main() -> ExitCode {
    let arguments: Arguments = arguments();
    finish(run(&arguments), &arguments.flags)
}
