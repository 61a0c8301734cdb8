//! A workload from scratch: cache-aside reads (Redis, on a miss PostgreSQL), then a page of nginx; Poisson arrivals.

use openloop::http::HttpSession;
use openloop::pg::{Connection, Server, TemporaryDatabase, tokio_postgres::Statement};
use openloop::redis::{Target, fred::prelude::*};
use openloop::{prelude::*, testbed};
use openloop_examples::{Failed, Flags, arguments, finish, measure_async};
use rand::RngExt;
use std::process::ExitCode;

const FILL: &str = "CREATE TABLE item AS SELECT id, md5(id::text) AS body FROM generate_series(1, 2000) id;
    ALTER TABLE item ADD PRIMARY KEY (id); ANALYZE item";

#[derive(Debug, clap::Parser)]
#[command(about = "Cache-aside reads and a page, 200 operations a second at random times")]
struct Arguments {
    #[command(flatten)]
    flags: Flags,
}

/// What all sessions share: where to connect.
struct CacheAside(Target, Server, Http, String);

/// What one session has: a connection of each kind.
struct Reader {
    cache: Client,
    database: Connection,
    select: Statement,
    page: HttpSession,
    keys: String,
}

impl Workload for CacheAside {
    type Session = Reader;

    fn describe(&self) -> String {
        "cache-aside read (fred, tokio-postgres), then a page (hyper)".into()
    }

    async fn connect(&self, id: &SessionId, op: &mut Op) -> Result<Reader, Failure> {
        let CacheAside(cache, database, page, keys) = self;
        let cache = cache.fred_builder()?.build()?;
        cache.init().await?;
        let database = database.connect().await?;
        let select = database.client().prepare("SELECT body FROM item WHERE id = $1").await?;
        let page = page.connect(id, op).await?;
        Ok(Reader { cache, database, select, page, keys: keys.clone() })
    }
}

impl Session for Reader {
    async fn call(&mut self, op: &mut Op) -> Outcome {
        let id = op.rng().random_range(1..=2000);
        let key = format!("{}{id}", self.keys);
        let found: Option<String> = op.timed("cache_get", self.cache.get(&key)).await?;
        op.kind(if found.is_some() { "hit" } else { "miss" });
        if found.is_none() {
            let row = async { self.database.client().query_one(&self.select, &[&id]).await };
            let body: String = op.timed("select", row).await?.try_get(0)?;
            let _: () = op.timed("cache_set", self.cache.set(&key, body, None, None, false)).await?;
        }
        let start = op.clock().now();
        op.scoped("http", async |op| self.page.call(op).await).await?;
        op.step("page", op.clock().now() - start);
        Ok(())
    }

    async fn close(self) {
        let _ = self.cache.quit().await;
    }
}

async fn run(flags: &Flags) -> Result<Record, Failed> {
    flags.begin()?;
    let nginx = testbed::Nginx::builder().start().await?;
    let postgres = testbed::Postgres::builder().start().await?;
    let redis = testbed::Redis::builder().start().await?;
    let database = TemporaryDatabase::create(&Server::parse(&postgres.url_with_password())?).await?;
    database.server().connect().await?.client().batch_execute(FILL).await?;
    let space = Target::url(&redis.url_with_password())?.isolate().open().await?;
    let page = Http::get(&nginx.url())?.expect_status(200)?;
    // `space.key`: keys of the run's own, removed after it.
    let reads = CacheAside(space.target().clone(), database.server().clone(), page, space.key("item:"));
    let plan = Plan::new()
        .experiment("custom_mix")
        .classify(openloop::pg::classify)
        .classify(openloop::redis::classify)
        .stream("reads", reads, Load::open(Schedule::constant("200/s")?.poisson()).sessions(8))
        .warmup(flags.warmup(0)) // a cold cache is part of it
        .measure(flags.seconds(15))
        .rounds(flags.rounds(1));
    let result = measure_async(plan).await;
    let cleanup = [database.remove().await, space.cleanup().await];
    let mut record = result?;
    record.checks.extend(cleanup);
    Ok(record)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Arguments { flags } = arguments();
    finish(run(&flags).await, &flags)
}
