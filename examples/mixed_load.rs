//! nginx, PostgreSQL and Redis loaded together on one clock: 60 s in windows of 15 s, after each of them alone.

use clap::Parser;
use openloop::{
    http::NginxStatus,
    pg::{PostgresStatus, Protocol, Server, TemporaryDatabase},
    prelude::*,
    record::{Check, StreamRecord},
    redis::{RedisStatus, Space, fred::prelude::*},
    report::interference,
    sampler::{ProcessTree, Sampler},
    testbed::{LocalProcess, Nginx, Stack},
};
use openloop_examples::{
    Failed, Flags, Servers, Started, arguments, changed_servers, cleaned, finish_with, measure_async,
    published_mix, unless_interrupted,
};
use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

#[derive(Debug, Parser)]
#[command(
    about = "nginx, PostgreSQL and Redis loaded together, after each of them alone: some five and a half minutes"
)]
struct Arguments {
    #[command(flatten)]
    flags: Flags,
    #[command(flatten)]
    servers: Servers,
}

/// For connecting: 20 sessions prove their passwords on one worker, which takes its time when nothing is optimised.
const PATIENCE: Duration = Duration::from_secs(30);
/// For what is asked of a server before and after the run; one that has died meanwhile does not hold us up for longer.
const AFTERWARDS: Duration = Duration::from_secs(10);
/// What runs in each phase. Each stream alone first, so that there is something to hold the mix against.
const PHASES: [(&str, &[&str]); 5] = [
    ("idle", &[]),
    ("nginx alone", &["nginx"]),
    ("postgres alone", &["postgres"]),
    ("redis alone", &["redis"]),
    ("together", &["nginx", "postgres", "redis"]),
];

async fn run(arguments: &Arguments) -> Result<Record, Failed> {
    let flags = &arguments.flags;
    flags.begin()?;
    let Started { page, admin, cache, stack } = arguments.servers.start(flags).await?;
    let admin = admin.with_connect_timeout(PATIENCE);
    let space = cache.isolate().wait_ready(AFTERWARDS).cleanup_limit(AFTERWARDS).open().await?;
    for left in space.swept() {
        eprintln!("removed {left}");
    }
    let database = TemporaryDatabase::create(&admin).await?;
    // Whatever happens now, the database and the keys go again, and after them the servers that are ours.
    let result = load(flags, &stack, &page, database.server(), &space).await;
    cleaned(result, [database.remove().await, space.cleanup().await])
}

async fn load(
    flags: &Flags,
    stack: &Stack,
    page: &str,
    database: &Server,
    space: &Space,
) -> Result<Record, Failed> {
    let scale = if flags.quick { 1 } else { 10 };
    let data = Pgbench::scale(scale)?;
    eprintln!("loading pgbench's tables at scale {scale}");
    unless_interrupted(data.load(database, |_| {})).await?;
    unless_interrupted(data.tidy(database)).await?;

    let (warmup, length, rounds) = (flags.warmup(2), flags.seconds(60), flags.rounds(1));
    let mut plan = Plan::new()
        .experiment("mixed_load")
        // One worker each: on a small machine more would take the servers' processors.
        .stream("nginx", Http::get(page)?.expect_status(200)?, Load::closed(50).workers(1))
        .stream(
            "postgres",
            Postgres::tpcb(database, scale)?.protocol(Protocol::Prepared)?,
            Load::closed(20).workers(1),
        )
        .stream("redis", marker(space).await?, Load::open(Schedule::constant("1/s")?).sessions(1))
        .connect_timeout(PATIENCE)
        .warmup(warmup)
        .measure(length)
        .window(length / 4)
        .rounds(rounds)
        .setting("scale", scale)
        .server("postgres", database.environment().await?)
        .server("redis", space.target().environment().await?);
    for (name, streams) in PHASES {
        plan = plan.phase(name, streams.iter().copied());
    }
    if let Some(nginx) = stack.nginx() {
        plan = plan.server("nginx", nginx.describe());
    }
    let total = (warmup + length) * rounds * PHASES.len() as u32;
    eprintln!(
        "{} phases, each {} s of warm-up and {} s measured, rounds: {rounds}. It takes about {}:{:02} minutes",
        PHASES.len(),
        warmup.as_secs_f64(),
        length.as_secs_f64(),
        total.as_secs() / 60,
        total.as_secs() % 60,
    );
    let before: Vec<u32> = stack.processes().map(LocalProcess::pid).collect();
    let mut record = measure_async(plan.sample(sampler(stack, database, space)?)).await?;
    record.checks.push(same_processes(stack, &before, &record));
    record.checks.extend(marker_kept(&record));
    let read = Instant::now();
    let balances = match tokio::time::timeout(AFTERWARDS, data.balances(database)).await {
        Ok(Ok(balances)) => balances.check(read.elapsed().as_nanos() as u64),
        // A server that has died does not take the record with it.
        Ok(Err(error)) => Check::new("postgres.balances", false, 0, error.to_string()),
        Err(_) => Check::new("postgres.balances", false, 0, "no answer"),
    };
    record.checks.push(balances);
    Ok(record)
}

/// A GET of a key whose value is known; any other answer is a failure of the class `check`.
async fn marker(space: &Space) -> Result<impl Workload, Failed> {
    const MARKER: &str = "still the same";
    let key = space.key("marker");
    let client = space.target().fred_builder()?.build()?;
    client.init().await?;
    let _: () = client.set(&key, MARKER, None, None, false).await?;
    client.quit().await?;
    Ok(Redis::with_fred(space.target(), async move |client, _| {
        let value: Option<String> = client.get(&key).await?;
        match value.as_deref() {
            Some(MARKER) => Ok(()),
            Some(_) => Err(Failure::check("marker changed")),
            None => Err(Failure::check("marker lost")),
        }
    }))
}

/// The machine, the load generator and the servers, on the clock of the run.
fn sampler(stack: &Stack, database: &Server, space: &Space) -> Result<Sampler, Failed> {
    let mut sampler = Sampler::new()
        .host()
        .source(PostgresStatus::new(database)?)
        .source(RedisStatus::new(space.target())?);
    for process in stack.processes() {
        sampler = sampler.source(ProcessTree::found_by(process.name(), process.follow()));
    }
    if let Some(url) = stack.nginx().and_then(Nginx::status_url) {
        sampler = sampler.source(NginxStatus::new(&url)?);
    }
    Ok(sampler)
}

/// No server was restarted or ended meanwhile: of our own we know the processes, of others what they say of themselves.
fn same_processes(stack: &Stack, before: &[u32], record: &Record) -> Check {
    let mut changed = changed_servers(record);
    for (process, pid) in stack.processes().zip(before) {
        if process.pid() != *pid || !process.is_running() {
            changed.insert(process.name().into());
        }
    }
    let detail = match changed.is_empty() {
        true => "every server is the process that it was".to_string(),
        false => format!("ended or restarted: {}", Vec::from_iter(changed.iter().cloned()).join(", ")),
    };
    Check::new("servers.restarts", changed.is_empty(), 0, detail)
}

/// Every probe of Redis was answered, and with the marker. `None`: the run was stopped before there was one.
fn marker_kept(record: &Record) -> Option<Check> {
    let sum = |get: fn(&StreamRecord) -> u64| record.streams_named("redis").map(get).sum::<u64>();
    let right = sum(|s| s.accounting.succeeded);
    // A probe that was under way when Ctrl-C came is no loss.
    let unfinished = if record.interrupted { sum(|s| s.accounting.unfinished) } else { 0 };
    let all = sum(|s| s.accounting.scheduled) - unfinished;
    let mut detail = format!("{right} of {all} probes found it");
    for failure in record.streams_named("redis").flat_map(|s| &s.failures) {
        detail += &format!("; {} x {} {}", failure.count, failure.class, failure.code);
    }
    (all > 0).then(|| Check::new("redis.marker", right == all, 0, detail))
}

/// What this example has to say beyond the report.
fn after(record: &Record) -> String {
    let verdict = format!("verdict: {}\n", record.verdict.status);
    let mut between = interference(record).to_string();
    if record.phases.iter().all(|phase| phase.round == 1) {
        between += "of one round, which has no spread; --rounds 3 shows it\n";
    }
    [published_mix(record), between, verdict].join("\n")
}

fn main() -> ExitCode {
    let arguments: Arguments = arguments();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(run(&arguments)),
        Err(error) => Err(error.into()),
    };
    finish_with(result, &arguments.flags, after)
}
