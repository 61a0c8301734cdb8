//! A password that must appear nowhere.

use crate::{
    fixture::{CANARY, Pg},
    run::{Driver, on_worker},
};
use load_core::{Failure, Load, Readings, Source, Workload};
use load_engine::Plan;
use pg_load::{
    Error, Pgbench, Pool, Postgres, PostgresStatus, Server, TemporaryDatabase, custom, custom_pooled,
    tokio_postgres::Client,
};
use sampler::Sampler;
use std::{
    io::Write,
    sync::{Arc, Mutex},
    time::Duration,
};

/// All that is traced.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_password_is_in_no_text_that_we_make() {
    let Some(pg) = Pg::start(&[]) else { return };
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let said = Mutex::new(String::new());
    let say = |text: String| said.lock().unwrap().push_str(&format!("{text}\n"));
    let error = |error: Error| {
        say(format!("{error} {error:?}"));
        let mut failure = Failure::from(error);
        failure.classify(&[pg_load::classify]);
        say(format!("{failure:?} {}", failure.describe()));
    };
    // For the threads of the engine too.
    tracing::subscriber::set_global_default(subscriber).expect("nobody else in this program does");
    {
        on_worker(async {
            let server = pg.server();
            say(format!("{server} {server:?}"));
            let connection = server.connect().await.unwrap();
            say(format!("{connection:?}"));
            connection.close().await;
            let database = TemporaryDatabase::create(&server).await.unwrap();
            say(format!("{database:?} {} {}", database.name(), database.server()));
            let data = Pgbench::scale(1).unwrap();
            data.load(database.server(), |p| say(format!("{p:?}"))).await.unwrap();
            let tpcb = Postgres::tpcb(database.server(), 1).unwrap();
            for workload in [tpcb.clone(), tpcb.clone().pool(Pool::new(1).unwrap()).unwrap()] {
                say(format!("{workload:?} {}", workload.describe()));
                let mut driver = Driver::connect(&workload, 0, 30).await.unwrap();
                driver.call().await.unwrap();
                say(format!("{:?} {:?}", driver.session, driver.op));
                say(format!("{:?}", driver.op.take_facts()));
            }
            let closure = custom(&server, async |_: &Client| Ok(()), async |_, (), _| Ok(())).unwrap();
            let pooled = custom_pooled(&server, Pool::new(1).unwrap(), async |client, _| {
                let shown = format!("{client:?}");
                assert!(!shown.contains(CANARY), "{shown}");
                Ok(())
            });
            let pooled = pooled.unwrap();
            say(format!("{closure:?} {pooled:?} {} {}", closure.describe(), pooled.describe()));
            let mut driver = Driver::connect(&pooled, 0, 1).await.unwrap();
            driver.call().await.unwrap();
            say(format!("{:?}", driver.session));
            let mut status = PostgresStatus::new(&server).unwrap();
            let mut readings = Readings::new();
            status.read(&mut readings).await.unwrap();
            say(format!(
                "{status:?} {} {readings:?} {:?}",
                status.origin(),
                server.environment().await.unwrap()
            ));
            say(format!("{:?}", database.remove().await));

            // The right one as a wrong one.
            let url = format!("postgres://nobody:{CANARY}@127.0.0.1:{}/postgres", pg.port);
            error(Server::parse(&url).unwrap().connect().await.unwrap_err());
            error(server.clone().with_database("nowhere").connect().await.unwrap_err());
            error(Server::parse(&format!("{url}?sslmode=sometimes")).unwrap_err());
            error(Pgbench::scale(9).unwrap().check(&server).await.unwrap_err());
            let missing = Postgres::tpcb(&server, 9).unwrap();
            say(format!("{:?}", Driver::connect(&missing, 0, 1).await.err().unwrap()));
        });
        on_worker(Pgbench::scale(1).unwrap().load(&pg.server(), |_| ())).unwrap();
        let wrong =
            Server::parse(&format!("postgres://nobody:{CANARY}@127.0.0.1:{}/postgres", pg.port)).unwrap();
        for (server, sessions) in [(pg.server(), 2), (wrong, 2)] {
            let tpcb = Postgres::tpcb(&server, 1).unwrap();
            let pooled = tpcb.clone().pool(Pool::new(1).unwrap()).unwrap();
            let status = PostgresStatus::new(&server).unwrap().every(Duration::from_millis(100)).unwrap();
            let mut plan = Plan::new()
                .stream("own", tpcb, Load::closed(sessions))
                .stream("pooled", pooled, Load::closed(sessions))
                .sample(Sampler::new().source(status))
                .measure(Duration::from_millis(500))
                .calibrate(Duration::from_millis(50));
            if let Ok(environment) = on_worker(server.environment()) {
                plan = plan.server("postgres", environment);
            }
            say(format!("{plan:?} {}", plan.to_json()));
            match plan.run() {
                Ok(record) => say(record.to_json().unwrap()),
                Err(error) => say(format!("{error} {error:?}")),
            }
        }
        pg.down();
        on_worker(async {
            error(pg.server().connect().await.unwrap_err());
            error(TemporaryDatabase::create(&pg.server()).await.unwrap_err());
        });
    }
    let traced = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let said = said.into_inner().unwrap();
    assert!(traced.contains("30 connections work on 1 branch"), "tracing was seen: {traced}");
    assert!(said.contains("28P01") && said.len() > 2000);
    for text in [traced, said] {
        let at = text.find(CANARY).map(|at| &text[at.saturating_sub(80)..at]);
        assert_eq!(at, None, "the password follows this");
    }
}
