//! A workload from scratch: cache-aside reads (Redis, on a miss PostgreSQL), then a page of nginx; Poisson arrivals.

use openloop::pg::{Connection, Server, TemporaryDatabase, tokio_postgres::Statement};
use openloop::redis::{Target, fred::prelude::*};
use openloop::{http::HttpSession, prelude::*};
use openloop_examples::{Failed, Flags, Servers, Started, arguments, cleaned, finish, measure_async};
use rand::RngExt;
use std::process::ExitCode;

const FILL: &str = "CREATE TABLE item AS SELECT id, md5(id::text) AS body FROM generate_series(1, 2000) id;
    ALTER TABLE item ADD PRIMARY KEY (id); ANALYZE item";

#[derive(Debug, clap::Parser)]
#[command(about = "Cache-aside reads and a page, 200 operations a second at random times, for 15 s")]
struct Arguments {
    #[command(flatten)]
    flags: Flags,
    #[command(flatten)]
    servers: Servers,
}

/// The workload: what all sessions share, which is where to connect.
struct CacheAside {
    cache: Target,
    database: Server,
    page: Http,
    keys: String,
}

/// A session: what one user has open. It does one operation at a time.
struct User {
    cache: Client,
    database: Connection,
    select: Statement,
    page: HttpSession,
    keys: String,
}

impl Workload for CacheAside {
    type Session = User;

    async fn connect(&self, id: &SessionId, op: &mut Op) -> Result<User, Failure> {
        let cache = self.cache.fred_builder()?.build()?;
        cache.init().await?;
        let database = self.database.connect().await?;
        let select = database.client().prepare("SELECT body FROM item WHERE id = $1").await?;
        let page = self.page.connect(id, op).await?;
        Ok(User { cache, database, select, page, keys: self.keys.clone() })
    }
}

impl Session for User {
    async fn call(&mut self, op: &mut Op) -> Outcome {
        let id = op.rng().random_range(1..=2000); // the same ids in every run of one seed
        let key = format!("{}{id}", self.keys);
        let hit: Option<String> = op.timed("cache_get", self.cache.get(&key)).await?;
        op.kind(if hit.is_some() { "hit" } else { "miss" }); // counted and timed apart
        if hit.is_none() {
            let row = op.timed("select", self.database.client().query_one(&self.select, &[&id])).await?;
            let body: String = row.try_get("body")?;
            let _: () = op.timed("cache_set", self.cache.set(&key, body, None, None, false)).await?;
        }
        op.restart_marks(); // the page's own steps, page/first_byte and page/body, begin here
        op.scoped("page", async |op| self.page.call(op).await).await
    }

    async fn close(self) {
        let _ = self.cache.quit().await;
    }
}

async fn run(Arguments { flags, servers }: &Arguments) -> Result<Record, Failed> {
    flags.begin()?;
    let Started { page, admin, cache, stack: _ours } = servers.start(flags).await?;
    let space = cache.isolate().open().await?; // keys of our own, and a database of our own
    let database = TemporaryDatabase::create(&admin).await?;
    let (cache, server, keys) = (space.target().clone(), database.server().clone(), space.key("item:"));
    let result = load(flags, CacheAside { cache, database: server, page: Http::get(&page)?, keys }).await;
    cleaned(result, [database.remove().await, space.cleanup().await])
}

async fn load(flags: &Flags, reads: CacheAside) -> Result<Record, Failed> {
    reads.database.connect().await?.client().batch_execute(FILL).await?;
    let plan = Plan::new()
        .experiment("custom_mix")
        .classify(openloop::pg::classify) // what an error of each client means
        .classify(openloop::redis::classify)
        .stream("reads", reads, Load::open(Schedule::constant("200/s")?.poisson()).sessions(8))
        .warmup(flags.warmup(0)) // a cold cache is part of it
        .measure(flags.seconds(15))
        .rounds(flags.rounds(1));
    measure_async(plan).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Arguments = arguments();
    finish(run(&arguments).await, &arguments.flags)
}
