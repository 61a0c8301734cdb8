//! libpq's `sslmode`s against a server with a certificate of its own making.

use crate::{
    fixture::{CANARY, Pg, give},
    run::{Driver, kind, on_worker, run},
};
use load_core::{Class, Failure};
use pg_load::{Error, Pool, Postgres, Script, Server, SslMode};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

const SLEEPERS: &str =
    "select count(*) from pg_stat_activity where state = 'active' and application_name = 'openloop'";

fn openssl(dir: &Path, args: &str) -> bool {
    Command::new("openssl")
        .args(args.split(' '))
        .current_dir(dir)
        .output()
        .is_ok_and(|done| done.status.success())
}

/// Makes `name.crt` and `name.key`, signed by itself, good for the host name `localhost` but not for its address; `false`:
/// no openssl here.
fn certificate(dir: &Path, name: &str) -> bool {
    let args = format!(
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
         -keyout {name}.key -out {name}.crt"
    );
    openssl(dir, &args)
}

/// The same, signed by the authority `root`.
fn signed_certificate(dir: &Path, name: &str, root: &str) -> bool {
    fs::write(dir.join("extensions"), "subjectAltName=DNS:localhost\n").unwrap();
    let ask = format!("req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout {name}.key -out {name}.csr");
    let sign = format!(
        "x509 -req -in {name}.csr -CA {root}.crt -CAkey {root}.key -CAcreateserial -days 2 -extfile extensions -out {name}.crt"
    );
    certificate(dir, root) && openssl(dir, &ask) && openssl(dir, &sign)
}

fn has_openssl() -> bool {
    let has = certificate(tempfile::tempdir().unwrap().path(), "probe");
    if !has {
        eprintln!("SKIPPED: no openssl to make a certificate");
    }
    has
}

/// A server that takes clients with TLS only.
struct Tls {
    pg: Pg,
    /// The root certificate that vouches for it, and one that does not.
    own: PathBuf,
    another: PathBuf,
    _dir: tempfile::TempDir,
}

fn start(signed: bool) -> Option<Tls> {
    if !has_openssl() {
        return None;
    }
    let dir = tempfile::Builder::new().prefix("pg-load-tls-").tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o711)).unwrap();
    let made = if signed {
        signed_certificate(dir.path(), "server", "root")
    } else {
        certificate(dir.path(), "server")
    };
    assert!(made && certificate(dir.path(), "another"));
    for file in ["server.crt", "server.key"] {
        let file = dir.path().join(file);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        give(&file);
    }
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (certificate, key) = (path("server.crt"), path("server.key"));
    let pg = Pg::start(&[("ssl", "on"), ("ssl_cert_file", &certificate), ("ssl_key_file", &key)])?;
    let hba = pg.psql("postgres", "show hba_file");
    fs::write(hba, "hostssl all all all scram-sha-256\n").unwrap();
    pg.psql("postgres", "select pg_reload_conf()");
    let root = if signed { "root.crt" } else { "server.crt" };
    let (own, another) = (dir.path().join(root), dir.path().join("another.crt"));
    Some(Tls { pg, own, another, _dir: dir })
}

#[test]
fn each_mode_does_what_libpq_does_with_a_signed_certificate() {
    each_mode(true);
}

#[test]
fn each_mode_does_what_libpq_does_with_a_self_signed_certificate() {
    each_mode(false);
}

fn each_mode(signed: bool) {
    let Some(Tls { pg, own, another, _dir }) = start(signed) else { return };
    let server = |host: &str, mode: SslMode, root: Option<&PathBuf>| {
        let words = format!("host={host} port={} user=tester password={CANARY} dbname=postgres", pg.port);
        let server = Server::parse(&words).unwrap().with_ssl_mode(mode);
        match root {
            Some(root) => server.with_root_certificate(root),
            None => server,
        }
    };
    on_worker(async {
        for (host, mode, root, expected) in [
            ("127.0.0.1", SslMode::Disable, None, Err("28000")),
            ("127.0.0.1", SslMode::Prefer, None, Ok(true)),
            ("127.0.0.1", SslMode::Prefer, Some(&another), Ok(true)),
            ("127.0.0.1", SslMode::Require, None, Ok(true)),
            ("127.0.0.1", SslMode::Require, Some(&own), Ok(true)),
            ("127.0.0.1", SslMode::Require, Some(&another), Err("handshake")),
            ("127.0.0.1", SslMode::VerifyCa, Some(&own), Ok(true)),
            ("127.0.0.1", SslMode::VerifyCa, Some(&another), Err("handshake")),
            ("127.0.0.1", SslMode::VerifyFull, Some(&own), Err("handshake")),
            ("localhost", SslMode::VerifyFull, Some(&own), Ok(true)),
            ("localhost", SslMode::VerifyFull, Some(&another), Err("handshake")),
        ] {
            let opened = server(host, mode, root).connect().await;
            let found = opened.map(|c| c.is_encrypted()).map_err(|error| {
                let said = error.to_string();
                assert!(!said.contains(CANARY), "{said}");
                let mut failure = Failure::from(error);
                failure.classify(&[pg_load::classify]);
                failure.code().to_owned()
            });
            assert_eq!(found, expected.map_err(str::to_owned), "{host} {mode}");
        }
        let gone = server("localhost", SslMode::VerifyFull, Some(&PathBuf::from("/nonexistent.pem")))
            .connect()
            .await;
        let said = gone.unwrap_err().to_string();
        assert!(said.starts_with("sslrootcert: /nonexistent.pem is not allowed"), "{said}");
        let missing = server("localhost", SslMode::VerifyCa, None).connect().await;
        assert!(matches!(missing, Err(Error::Config(_))));

        // The reason of a refused certificate is said in words.
        let refused =
            server("127.0.0.1", SslMode::VerifyFull, Some(&own)).connect().await.unwrap_err().to_string();
        assert!(refused.contains("not valid for name"), "{refused}");
        let unknown =
            server("localhost", SslMode::VerifyFull, Some(&another)).connect().await.unwrap_err().to_string();
        // The other root has the same name as the right one, so that a chain seems to lead there.
        let expected = if signed { "BadSignature" } else { "UnknownIssuer" };
        assert!(unknown.contains(expected), "{unknown}");
    });
}

#[test]
fn load_pools_and_cancels_go_over_tls_too() {
    let Some(Tls { pg, own, _dir, .. }) = start(true) else { return };
    on_worker(async {
        let words = format!("host=localhost port={} user=tester password={CANARY} dbname=postgres", pg.port);
        let server =
            Server::parse(&words).unwrap().with_ssl_mode(SslMode::VerifyFull).with_root_certificate(own);
        let script = |sql: &str| Script::new("s").statement("s", sql).unwrap();
        let encrypted = script("SELECT 1 / (SELECT ssl::int FROM pg_stat_ssl WHERE pid = pg_backend_pid())");
        let workload = Postgres::script(&server, encrypted).unwrap();
        for workload in [workload.clone(), workload.pool(Pool::new(2).unwrap()).unwrap()] {
            let books = run(&workload, 4, |b| b.succeeded >= 40).await;
            assert!(books.failed.is_empty(), "{books:?}");
        }
        let sleeps = Postgres::script(&server, script("SELECT pg_sleep(60)")).unwrap();
        let sleeps = sleeps.statement_timeout(Duration::from_millis(200)).unwrap();
        for workload in [sleeps.clone(), sleeps.pool(Pool::new(1).unwrap()).unwrap()] {
            let mut driver = Driver::connect(&workload, 0, 1).await.unwrap();
            let facts = driver.op.take_facts();
            assert!(
                facts.contains(&("postgres_tls", "on".into()))
                    || facts.iter().all(|(n, _)| *n != "postgres_tls"),
                "{facts:?}"
            );
            assert_eq!(kind(&driver.call().await.unwrap_err()), (Class::Timeout, "statement"));
        }
        assert_eq!(server.environment().await.unwrap().settings["connection_tls"], "on");
    });
    let end = std::time::Instant::now() + Duration::from_secs(20);
    while pg.psql("postgres", SLEEPERS) != "0" {
        assert!(std::time::Instant::now() < end, "not cancelled");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_server_without_tls_is_refused_where_tls_is_asked_for() {
    let Some(pg) = Pg::start(&[]) else { return };
    on_worker(async {
        let error = pg.server().with_ssl_mode(SslMode::Require).connect().await.unwrap_err();
        assert!(error.to_string().contains("server does not support TLS"), "{error}");
        let mut failure = Failure::from(error);
        failure.classify(&[pg_load::classify]);
        assert_eq!(failure.class(), Class::Tls);
    });
}
