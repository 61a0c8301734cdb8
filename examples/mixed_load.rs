//! nginx, PostgreSQL and Redis loaded together on one clock: 60 s in windows of 15 s, after each of them alone.

use clap::Parser;
use openloop::{
    http::NginxStatus,
    pg::{PostgresStatus, Protocol, Server, TemporaryDatabase},
    prelude::*,
    record::Check,
    redis::{RedisStatus, Space, Target, fred::prelude::*},
    report::interference,
    sampler::{ProcessTree, Sampler},
    testbed,
};
use openloop_examples::{
    Failed, Flags, arguments, finish_with, http_target, is_local, measure_async, published_mix,
};
use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

#[derive(Debug, Parser)]
#[command(about = "nginx, PostgreSQL and Redis loaded together, after each of them alone")]
struct Arguments {
    #[command(flatten)]
    flags: Flags,
    /// Load this page instead of starting nginx
    #[arg(long, value_name = "URL")]
    nginx: Option<String>,
    /// Load this server (a temporary database is made and dropped) instead of starting one
    #[arg(long, value_name = "URL")]
    postgres: Option<String>,
    /// Probe this server (in keys of the run's own, removed afterwards) instead of starting one
    #[arg(long, value_name = "URL")]
    redis: Option<String>,
}

/// For connecting: 20 sessions prove their passwords on one worker, which takes its time when nothing is optimised.
const PATIENCE: Duration = Duration::from_secs(30);

/// The servers that this program started.
#[derive(Default)]
struct Servers {
    nginx: Option<testbed::Nginx>,
    postgres: Option<testbed::Postgres>,
    redis: Option<testbed::Redis>,
}

impl Servers {
    async fn start(arguments: &Arguments) -> Result<Servers, Failed> {
        let mut own = Servers::default();
        if arguments.nginx.is_none() {
            own.nginx = Some(testbed::Nginx::builder().start().await?);
        }
        if arguments.postgres.is_none() {
            own.postgres = Some(testbed::Postgres::builder().start().await?);
        }
        if arguments.redis.is_none() {
            own.redis = Some(testbed::Redis::builder().start().await?);
        }
        Ok(own)
    }

    fn processes(&self) -> Vec<(&'static str, &testbed::LocalProcess)> {
        let nginx = self.nginx.as_ref().map(|own| ("nginx", own.process()));
        let postgres = self.postgres.as_ref().map(|own| ("postgres", own.process()));
        let redis = self.redis.as_ref().map(|own| ("redis", own.process()));
        [nginx, postgres, redis].into_iter().flatten().collect()
    }
}

/// What is loaded: an address of each server, given or our own.
struct Targets {
    page: String,
    database: Server,
    space: Space,
}

async fn run(arguments: &Arguments) -> Result<Record, Failed> {
    let flags = &arguments.flags;
    flags.begin()?;
    let own = Servers::start(arguments).await?;
    let page = match (&arguments.nginx, &own.nginx) {
        (Some(url), _) => http_target("--nginx", url, flags)?,
        (None, own) => own.as_ref().map(testbed::Nginx::url).unwrap_or_default(),
    };
    let url = arguments.postgres.clone().or_else(|| own.postgres.as_ref().map(|own| own.url_with_password()));
    let admin = Server::parse(&url.unwrap_or_default())?.with_connect_timeout(PATIENCE);
    let url = arguments.redis.clone().or_else(|| own.redis.as_ref().map(|own| own.url_with_password()));
    let mut cache = Target::url(&url.unwrap_or_default())?;
    match own.postgres {
        Some(_) => {}
        None => is_local("--postgres", &admin.hosts(), flags)?,
    }
    match own.redis {
        Some(_) => cache = cache.database(15),
        None => is_local("--redis", &cache.hosts(), flags)?,
    }
    let space = cache.isolate().wait_ready(Duration::from_secs(5)).open().await?;
    let database = TemporaryDatabase::create(&admin).await?;
    let targets = Targets { page, database: database.server().clone(), space };
    // Whatever happens now, the database and the keys go again.
    let result = load(flags, &own, &targets).await;
    let cleanup = [database.remove().await, targets.space.cleanup().await];
    let mut record = result?;
    record.checks.extend(cleanup);
    Ok(record)
}

async fn load(flags: &Flags, own: &Servers, targets: &Targets) -> Result<Record, Failed> {
    let Targets { page, database, space } = targets;
    let scale = if flags.quick { 1 } else { 10 };
    let data = Pgbench::scale(scale)?;
    eprintln!("loading pgbench's tables at scale {scale}");
    data.load(database, |_| {}).await?;
    data.tidy(database).await?;
    let length = flags.seconds(60);
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
        .phase("idle", [])
        .phase("nginx alone", ["nginx"])
        .phase("postgres alone", ["postgres"])
        .phase("redis alone", ["redis"])
        .phase("together", ["nginx", "postgres", "redis"])
        .connect_timeout(PATIENCE)
        .warmup(flags.warmup(2))
        .measure(length)
        .window(length / 4)
        .rounds(flags.rounds(1))
        .setting("scale", scale)
        .server("postgres", database.environment().await?)
        .server("redis", space.target().environment().await?);
    if let Some(nginx) = &own.nginx {
        plan = plan.server("nginx", nginx.describe());
    }
    let before: Vec<u32> = own.processes().iter().map(|(_, process)| process.pid()).collect();
    let mut record = measure_async(plan.sample(sampler(own, database, space)?)).await?;
    record.checks.push(same_processes(own, &before));
    let read = Instant::now();
    let balances = data.balances(database).await?;
    record.checks.push(balances.check(read.elapsed().as_nanos() as u64));
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
fn sampler(own: &Servers, database: &Server, space: &Space) -> Result<Sampler, Failed> {
    let mut sampler = Sampler::new()
        .host()
        .source(PostgresStatus::new(database)?)
        .source(RedisStatus::new(space.target())?);
    for (name, process) in own.processes() {
        sampler = sampler.source(ProcessTree::new(name, process.pid()));
    }
    if let Some(url) = own.nginx.as_ref().and_then(testbed::Nginx::status_url) {
        sampler = sampler.source(NginxStatus::new(&url)?);
    }
    Ok(sampler)
}

/// No server that we started was restarted or ended meanwhile.
fn same_processes(own: &Servers, before: &[u32]) -> Check {
    let processes = own.processes();
    let changed = processes.iter().zip(before).filter(|((_, p), pid)| p.pid() != **pid || !p.is_running());
    let changed: Vec<&str> = changed.map(|((name, _), _)| *name).collect();
    let detail = match changed.as_slice() {
        [] => format!("{} servers, their processes the same at the end", processes.len()),
        names => format!("ended or restarted: {}", names.join(", ")),
    };
    Check::new("servers.restarts", changed.is_empty(), 0, detail)
}

/// What this example has to say beyond the report.
fn after(record: &Record) -> String {
    let verdict = format!("verdict: {}\n", record.verdict.status);
    [published_mix(record), interference(record).to_string(), verdict].join("\n")
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
