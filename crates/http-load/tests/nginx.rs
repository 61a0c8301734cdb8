//! Beside a real nginx.

mod common;

use common::{Driven, run};
use http_load::{Body, Http, NginxStatus};
use load_core::{Readings, Source, SourceError};
use std::{collections::BTreeMap, time::Duration};
use testbed::{Nginx, NginxBuilder};

/// Starts it, or says that there is none.
fn started(builder: NginxBuilder) -> Option<Nginx> {
    if !testbed::installed("nginx") {
        eprintln!("SKIPPED: nginx is not installed");
        return None;
    }
    Some(builder.start_blocking().unwrap())
}

fn values(readings: &Readings) -> BTreeMap<String, f64> {
    readings.values().iter().map(|(name, _, value)| (name.clone(), *value)).collect()
}

#[test]
fn a_limit_on_the_requests_of_a_connection_fails_none_and_leaks_no_socket() {
    let nginx = started(Nginx::builder().page("/a", "hello").extra_server_config("keepalive_requests 10;"));
    let Some(nginx) = nginx else { return };
    let http = Http::get(&format!("{}a", nginx.url())).unwrap().expect_status(200).unwrap();
    let status = nginx.status_url().unwrap();
    run(async {
        let mut sessions = Vec::new();
        for index in 0..8 {
            sessions.push(Driven::connect_as(&http, index).await.unwrap());
        }
        for _ in 0..250 {
            for session in &mut sessions {
                session.call().await.unwrap();
            }
        }
        let opened: u64 = sessions.iter().map(|s| s.counter("connections_opened")).sum();
        let stale: u64 = sessions.iter().map(|s| s.counter("stale_repeated")).sum();
        assert_eq!((opened, stale), (200, 0));
        let mut source = NginxStatus::new(&status).unwrap();
        let mut readings = Readings::new();
        source.read(&mut readings).await.unwrap();
        let active = values(&readings)["nginx.connections.active"];
        assert!(active <= 8.0 + 2.0, "{active} connections are open");
    });
}

#[test]
fn connections_that_the_server_closes_when_idle_fail_nothing() {
    let nginx = started(Nginx::builder().page("/a", "hello").extra_server_config("keepalive_timeout 100ms;"));
    let Some(nginx) = nginx else { return };
    let http = Http::get(&format!("{}a", nginx.url())).unwrap();
    run(async {
        let mut session = Driven::connect(&http).await.unwrap();
        for _ in 0..30 {
            session.call().await.unwrap();
            // As near to the moment of closing as can be.
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let counters = &session.counters;
        let replaced = session.counter("stale_replaced") + session.counter("stale_repeated");
        assert_eq!(replaced + 1, session.counter("connections_opened"), "{counters:?}");
    });
}

#[test]
fn large_bodies_go_both_ways() {
    let config = "client_max_body_size 100m; location /in { proxy_pass http://$http_host/ok; }";
    let builder = Nginx::builder().page_of_size("/big", 1 << 20).inline("/ok", "ok");
    let nginx = started(builder.extra_server_config(config));
    let Some(nginx) = nginx else { return };
    run(async {
        let mut session = Driven::connect(&Http::get(&format!("{}big", nginx.url())).unwrap()).await.unwrap();
        for _ in 0..20 {
            session.call().await.unwrap();
        }
        assert_eq!(session.counter("body_bytes"), 20 << 20);
        assert_eq!(session.counter("connections_opened"), 1);
        let http = Http::post(&format!("{}in", nginx.url())).unwrap();
        let http = http.body(Body::repeat("0123456789abcdef", 20 << 20)).expect_status(200).unwrap();
        let mut session = Driven::connect(&http).await.unwrap();
        for _ in 0..3 {
            session.call().await.unwrap();
        }
        assert!(session.bytes_out > 60 << 20);
    });
}

#[test]
fn many_connections_are_held() {
    let nginx = started(Nginx::builder().page("/a", "hello").worker_connections(3000));
    let Some(nginx) = nginx else { return };
    let http = Http::get(&format!("{}a", nginx.url())).unwrap();
    run(async {
        let mut sessions = Vec::new();
        for index in 0..400 {
            sessions.push(Driven::connect_as(&http, index).await.unwrap());
        }
        for _ in 0..2 {
            for session in &mut sessions {
                session.call().await.unwrap();
            }
        }
        assert!(sessions.iter().all(|s| s.counter("connections_opened") == 1));
    });
}

#[test]
fn its_counters_are_read_and_a_restart_is_noticed() {
    let Some(nginx) = started(Nginx::builder().page("/a", "hello")) else { return };
    let status = nginx.status_url().unwrap();
    run(async {
        let mut source = NginxStatus::new(&status).unwrap().named("front");
        assert!(source.origin().contains(&nginx.addr().to_string()));
        let mut readings = Readings::new();
        source.read(&mut readings).await.unwrap();
        let first = values(&readings);
        assert_eq!(first.len(), 4, "no rates yet: {first:?}");
        assert_eq!(first["front.connections.writing"], 1.0, "our own");
        let mut session = Driven::connect(&Http::get(&format!("{}a", nginx.url())).unwrap()).await.unwrap();
        for _ in 0..50 {
            session.call().await.unwrap();
        }
        readings.clear();
        source.read(&mut readings).await.unwrap();
        let second = values(&readings);
        assert_eq!(second.len(), 7, "{second:?}");
        // 51 requests over 2 connections since the first reading: the ratio does not depend on how long it took.
        let ratio = second["front.requests"] / second["front.accepts"];
        assert!((ratio - 25.5).abs() < 1e-6, "{second:?}");
        assert_eq!(second["front.dropped"], 0.0);
        let page = NginxStatus::new(&format!("{}a", nginx.url())).unwrap().read(&mut readings).await;
        assert!(matches!(page, Err(SourceError::Unavailable(_))), "{page:?}");
        drop(nginx);
        let gone = source.read(&mut readings).await;
        assert!(matches!(&gone, Err(SourceError::Failed(why)) if why.contains("refused")), "{gone:?}");
    });
}

#[test]
fn it_is_reached_over_a_unix_socket() {
    let Some(nginx) = started(Nginx::builder().page("/a", "hello").unix_socket()) else { return };
    let socket = nginx.unix_socket().unwrap();
    run(async {
        let http = Http::get("http://app.test/a").unwrap().unix_socket(socket).expect_body("hello");
        let mut session = Driven::connect(&http).await.unwrap();
        for _ in 0..10 {
            session.call().await.unwrap();
        }
        assert_eq!(session.counter("connections_opened"), 1);
    });
}
