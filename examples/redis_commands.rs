//! Redis, SET and GET as redis-benchmark runs them: an isolated part of database 15, 50 and 100 clients, three rounds.

use clap::Parser;
use openloop::{
    prelude::*,
    redis::{Command, Keys, Payload, Space, Target},
    testbed,
};
use openloop_examples::{Failed, Flags, arguments, check_interrupted, cleaned, finish, is_local, measure};
use std::{process::ExitCode, time::Duration};

#[derive(Debug, Parser)]
#[command(about = "Redis, SET and GET (or all commands of redis-benchmark), 50 and 100 clients")]
struct Arguments {
    #[command(flatten)]
    flags: Flags,
    /// Load this server (in keys of the run's own, removed afterwards) instead of starting one
    #[arg(long, value_name = "URL")]
    redis: Option<String>,
    /// All commands that redis-benchmark has
    #[arg(long)]
    all: bool,
    /// Requests in one write
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pipeline: u32,
}

fn run(arguments: &Arguments) -> Result<Record, Failed> {
    let flags = &arguments.flags;
    flags.begin()?;
    let own = match &arguments.redis {
        Some(_) => None,
        None => Some(testbed::Redis::builder().start_blocking()?),
    };
    check_interrupted()?;
    let url = arguments.redis.clone().or_else(|| own.as_ref().map(|own| own.url_with_password()));
    let mut target = Target::url(&url.unwrap_or_default())?;
    if own.is_some() {
        target = target.database(15);
    }
    if own.is_none() {
        is_local("--redis", &target.hosts(), flags)?;
    }
    let space = target.isolate().wait_ready(Duration::from_secs(5)).open_blocking()?;
    for left in space.swept() {
        eprintln!("removed {left}");
    }
    // Whatever happens now, the keys go again.
    let result = in_space(arguments, &space, own.as_ref());
    cleaned(result, [space.cleanup_blocking()])
}

fn in_space(arguments: &Arguments, space: &Space, own: Option<&testbed::Redis>) -> Result<Record, Failed> {
    let flags = &arguments.flags;
    let commands = if arguments.all { Command::all() } else { vec![Command::set(), Command::get()] };
    let mut plan = Plan::new()
        .experiment("redis_commands")
        .levels([50, 100], |clients| Load::closed(*clients))
        .warmup(flags.warmup(1))
        .measure(flags.seconds(10))
        .rounds(flags.rounds(3))
        .setting("pipeline", arguments.pipeline);
    for command in commands {
        let name = command.name();
        let redis = Redis::within(space)
            .command(command)
            .keys(Keys::uniform(100_000))
            .payload(Payload::fixed(3))
            .pipeline(arguments.pipeline as usize)
            .build()?;
        // Each command alone, one after the other.
        plan = plan.stream(name, redis, Load::closed(50)).phase(name, [name]);
    }
    if let Some(own) = own {
        plan = plan.server("redis", own.describe());
    }
    measure(plan)
}

fn main() -> ExitCode {
    let arguments: Arguments = arguments();
    finish(run(&arguments), &arguments.flags)
}
