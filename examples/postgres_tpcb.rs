//! PostgreSQL, pgbench's TPC-B-like transaction: scale 10, 30 s with 10 and with 20 clients, three rounds.

use clap::Parser;
use openloop::{
    pg::{Protocol, Server, TemporaryDatabase},
    prelude::*,
    testbed,
};
use openloop_examples::{
    Failed, Flags, arguments, check_interrupted, cleaned, finish, is_local, measure_async, unless_interrupted,
};
use std::{process::ExitCode, time::Instant};

#[derive(Debug, Parser)]
#[command(about = "PostgreSQL, pgbench's TPC-B-like transaction, 10 and 20 clients")]
struct Arguments {
    #[command(flatten)]
    flags: Flags,
    /// Load this server (a temporary database is made and dropped) instead of starting one
    #[arg(long, value_name = "URL")]
    postgres: Option<String>,
    /// Scale: branches; 100,000 accounts each
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    scale: u32,
}

async fn run(arguments: &Arguments) -> Result<Record, Failed> {
    let flags = &arguments.flags;
    flags.begin()?;
    let own = match &arguments.postgres {
        Some(_) => None,
        None => Some(testbed::Postgres::builder().start().await?),
    };
    check_interrupted()?;
    let url = arguments.postgres.clone().or_else(|| own.as_ref().map(|own| own.url_with_password()));
    let admin = Server::parse(&url.unwrap_or_default())?;
    if own.is_none() {
        is_local("--postgres", &admin.hosts(), flags)?;
    }
    let scale = if flags.quick { 1 } else { arguments.scale };
    let database = TemporaryDatabase::create(&admin).await?;
    // Whatever happens now, the database goes again.
    let result = in_database(arguments, database.server(), scale).await;
    cleaned(result, [database.remove().await])
}

async fn in_database(arguments: &Arguments, server: &Server, scale: u32) -> Result<Record, Failed> {
    let flags = &arguments.flags;
    let data = Pgbench::scale(scale)?;
    eprintln!("loading pgbench's tables at scale {scale}");
    unless_interrupted(data.load(server, |_| {})).await?;
    unless_interrupted(data.tidy(server)).await?;
    let plan = Plan::new()
        .experiment("postgres_tpcb")
        .stream("postgres", Postgres::tpcb(server, scale)?.protocol(Protocol::Prepared)?, Load::closed(10))
        .levels([10, 20], |clients| Load::closed(*clients))
        .warmup(flags.warmup(2))
        .measure(flags.seconds(30))
        .rounds(flags.rounds(3))
        .setting("scale", scale)
        .server("postgres", server.environment().await?);
    let mut record = measure_async(plan).await?;
    let read = Instant::now();
    let balances = data.balances(server).await?;
    record.checks.push(balances.check(read.elapsed().as_nanos() as u64));
    Ok(record)
}

fn main() -> ExitCode {
    let arguments: Arguments = arguments();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(run(&arguments)),
        Err(error) => Err(error.into()),
    };
    finish(result, &arguments.flags)
}
