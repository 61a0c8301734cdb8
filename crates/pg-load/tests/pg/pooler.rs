//! Behind pgbouncer in transaction mode, which gives each transaction another server connection.

use crate::{
    fixture::{CANARY, Pg, give, server_user},
    run::{Driver, kind, on_worker, run},
};
use load_core::Class;
use pg_load::{Pgbench, Postgres, PostgresStatus, Protocol, Server};
use std::{
    fs,
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

struct Bouncer {
    child: Child,
    port: u16,
}

impl Bouncer {
    fn start(pg: &Pg) -> Option<Bouncer> {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let mut dirs: Vec<PathBuf> = std::env::split_paths(&paths).collect();
        dirs.push("/usr/sbin".into());
        let Some(program) = dirs.into_iter().map(|d| d.join("pgbouncer")).find(|p| p.is_file()) else {
            eprintln!("SKIPPED: no pgbouncer found in PATH or /usr/sbin");
            return None;
        };
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = format!(
            "[databases]\npostgres = host=127.0.0.1 port={} user=tester password={CANARY}\n[pgbouncer]\n\
             listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\n\
             default_pool_size = 4\nmax_client_conn = 200\n",
            pg.port
        );
        let file = pg.dir().join("pgbouncer.ini");
        fs::write(&file, config).unwrap();
        give(&file);
        let mut command = Command::new(program);
        if let Some((uid, gid)) = server_user() {
            command.uid(uid).gid(gid);
        }
        let child = command.arg(file).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let end = Instant::now() + Duration::from_secs(20);
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < end, "pgbouncer did not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(Bouncer { child, port })
    }
}

impl Drop for Bouncer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn without_named_statements_all_is_well_and_with_them_it_is_said() {
    let Some(pg) = Pg::start(&[]) else { return };
    let Some(bouncer) = Bouncer::start(&pg) else { return };
    let server = Server::parse(&format!("postgres://tester@127.0.0.1:{}/postgres", bouncer.port)).unwrap();
    on_worker(async {
        let data = Pgbench::scale(1).unwrap();
        data.load(&pg.server(), |_| ()).await.unwrap();
        data.check(&server).await.unwrap();
        let mut readings = load_core::Readings::new();
        let mut status = PostgresStatus::new(&server).unwrap();
        load_core::Source::read(&mut status, &mut readings).await.unwrap();
        assert!(server.environment().await.unwrap().settings.contains_key("shared_buffers"));
        for protocol in [Protocol::Extended, Protocol::Simple] {
            let tpcb = Postgres::tpcb(&server, 1).unwrap().protocol(protocol).unwrap();
            let books = run(&tpcb, 20, |b| b.succeeded + b.failed.len() as u64 >= 300).await;
            assert!(books.failed.is_empty(), "{protocol:?}: {books:?}");
        }
        assert!(data.balances(&server).await.unwrap().agree());

        // Twenty sessions prepare on four connections; each then finds itself on one that has not heard of it, unless
        // pgbouncer is of a version and a setting (max_prepared_statements) that looks after that.
        let prepared = Postgres::tpcb(&server, 1).unwrap();
        let mut drivers = Vec::new();
        for index in 0..20 {
            match Driver::connect(&prepared, index, 20).await {
                Ok(driver) => drivers.push(driver),
                Err(failure) => assert_eq!(kind(&failure), (Class::Sql, "26000")),
            }
        }
        let outcomes = futures_util::future::join_all(drivers.iter_mut().map(|d| d.call())).await;
        let failures: Vec<_> = outcomes.into_iter().filter_map(Result::err).collect();
        if failures.is_empty() {
            eprintln!("this pgbouncer keeps prepared statements");
        }
        for failure in failures {
            assert!(matches!(failure.code(), "26000" | "42P05"), "{failure:?}");
            assert!(failure.describe().contains("use the extended or the simple protocol"), "{failure:?}");
        }
    });
}
