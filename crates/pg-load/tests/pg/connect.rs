//! Getting in, and being told why not.

use crate::{
    fixture::{CANARY, Pg},
    run::on_worker,
};
use load_core::{Class, Failure};
use pg_load::{Error, Server, SslMode};
use std::time::{Duration, Instant};

fn class(error: Error) -> (Class, String, String) {
    let mut failure = Failure::from(error);
    failure.classify(&[pg_load::classify]);
    assert!(!failure.is_unknown(), "nothing was sent");
    assert!(!format!("{failure:?} {}", failure.describe()).contains(CANARY));
    (failure.class(), failure.code().to_owned(), failure.describe())
}

#[test]
fn scram_over_tcp_and_unix_socket_with_one_iteration_and_fifty_at_once() {
    let Some(pg) = Pg::start(&[]) else { return };
    on_worker(async {
        let tcp = pg.server().connect().await.unwrap();
        assert!(!tcp.is_encrypted(), "the server has no certificate, and `prefer` takes what there is");
        assert!(tcp.server_version().starts_with(|c: char| c.is_ascii_digit()));
        let words = format!(
            "host={} port={} user=tester password={CANARY} dbname=postgres",
            pg.socket_dir().display(),
            pg.port
        );
        let unix = Server::parse(&words).unwrap().connect().await.unwrap();
        let row = unix
            .client()
            .query_one("select current_user::text, inet_client_addr() is null", &[])
            .await
            .unwrap();
        assert_eq!((row.get::<_, &str>(0), row.get::<_, bool>(1)), ("tester", true));

        // As many iterations as are usual, for which the client takes a tenth of a second when it is not optimised.
        pg.psql("postgres", "create role usual login password 'usual'");
        let usual = Server::parse(&format!("postgres://usual:usual@127.0.0.1:{}/postgres", pg.port)).unwrap();
        let server = usual.with_connect_timeout(Duration::from_secs(60));
        let opened: Vec<_> = futures_util::future::join_all((0..50).map(|_| server.connect())).await;
        assert_eq!(opened.iter().filter(|c| c.is_ok()).count(), 50);
        for connection in opened.into_iter().chain([Ok(tcp), Ok(unix)]) {
            connection.unwrap().close().await;
        }
    });
    assert_eq!(pg.sessions("postgres"), 0, "closed means closed");
}

#[test]
fn what_keeps_us_out_is_said_by_class_and_code() {
    let Some(pg) = Pg::start(&[("max_connections", "6"), ("superuser_reserved_connections", "1")]) else {
        return;
    };
    pg.psql("postgres", "create role bench login password 'x'");
    let parse = |url: String| Server::parse(&url).unwrap();
    on_worker(async {
        let wrong = parse(format!("postgres://tester:not-{CANARY}@127.0.0.1:{}/postgres", pg.port));
        let (class_, code, text) = class(wrong.connect().await.unwrap_err());
        assert_eq!((class_, &*code), (Class::Sql, "28P01"), "{text}");
        assert!(text.contains("password authentication failed"));

        let none = parse(format!("postgres://tester@127.0.0.1:{}/postgres", pg.port));
        let (class_, code, text) = class(none.connect().await.unwrap_err());
        assert_eq!((class_, &*code), (Class::Connect, "authentication"), "{text}");

        let missing = pg.server().with_database("nowhere");
        let error = missing.connect().await.unwrap_err();
        assert_eq!(error.sqlstate(), Some("3D000"));
        assert!(error.to_string().contains("database \"nowhere\" does not exist"), "{error}");

        let bench = parse(format!("postgres://bench:x@127.0.0.1:{}/postgres", pg.port));
        let mut held = Vec::new();
        let refused = loop {
            match bench.connect().await {
                Ok(connection) => held.push(connection),
                Err(error) => break error,
            }
        };
        let (class_, code, text) = class(refused);
        assert_eq!((class_, &*code), (Class::Sql, "53300"), "{text}");
        assert!((3..6).contains(&held.len()), "{}", held.len());
    });
    pg.down();
    on_worker(async {
        let (class_, code, _) = class(pg.server().connect().await.unwrap_err());
        assert_eq!((class_, &*code), (Class::Connect, "refused"));
        let nowhere = Server::parse("host=/nonexistent user=x").unwrap();
        let (class_, code, _) = class(nowhere.connect().await.unwrap_err());
        assert_eq!((class_, &*code), (Class::Connect, "no such socket"));
        let unnamed = parse("postgres://x@no-such-host.invalid/x".into());
        assert_eq!(class(unnamed.connect().await.unwrap_err()).0, Class::Dns);
    });
}

#[test]
fn a_silent_server_is_given_up_in_time() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://x:{CANARY}@{}/x", silent.local_addr().unwrap());
    on_worker(async {
        let server = Server::parse(&url).unwrap().with_connect_timeout(Duration::from_millis(300));
        let start = Instant::now();
        let error = server.connect().await.unwrap_err();
        assert!(start.elapsed() < Duration::from_secs(5));
        assert!(matches!(error, Error::ConnectTimeout { .. }), "{error}");
        assert_eq!(class(error).1, "timed out");
    });
}

#[test]
fn settings_that_cannot_be_meant_are_refused_before_anything_connects() {
    on_worker(async {
        let server = Server::parse("postgres://x@127.0.0.1:1/x").unwrap();
        let error = server.clone().with_connect_timeout(Duration::ZERO).connect().await.unwrap_err();
        assert!(error.to_string().starts_with("connect_timeout: 0 s"), "{error}");
        let error = server.with_ssl_mode(SslMode::VerifyFull).connect().await.unwrap_err();
        assert!(error.to_string().starts_with("sslmode: verify-full"), "{error}");
    });
}
