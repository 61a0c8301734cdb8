//! The target of calibration.

mod common;

use common::{Driven, run};
use http_load::{Body, Bytes, Http, NullTarget};
use std::time::{Duration, Instant};

#[test]
fn any_workload_works_against_it() {
    let target = NullTarget::start(Duration::ZERO).unwrap();
    let url = "http://app.test/x";
    let chunks = Body::chunks(|| (0..3).map(|n| Bytes::from(format!("{n}"))));
    run(async {
        for http in [
            Http::get(url).unwrap().expect_status(404).unwrap().expect_body("not there"),
            Http::head(url).unwrap(),
            Http::post(url).unwrap().body("x"),
            Http::post(url).unwrap().body(Body::repeat("x", 1 << 20)),
            Http::put(url).unwrap().body(chunks),
            Http::get(url).unwrap().keep_alive(false),
        ] {
            let mut session = Driven::connect(&http.against(target.address())).await.unwrap();
            for _ in 0..20 {
                session.call().await.unwrap_or_else(|e| panic!("{http}: {e:?}"));
            }
            let opened = session.counter("connections_opened");
            assert!(
                opened == 1 || (opened == 20 && session.step_names()[0] == "connect"),
                "{http}: {opened}"
            );
        }
    });
}

#[test]
fn it_answers_after_the_delay_and_holds_many_at_once() {
    let delay = Duration::from_millis(20);
    let target = NullTarget::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", delay).unwrap();
    let http = Http::get("http://app.test/").unwrap().against(target.address());
    run(async {
        let mut tasks = Vec::new();
        let start = Instant::now();
        for index in 0..50 {
            let http = http.clone();
            tasks.push(tokio::task::spawn_local(async move {
                let mut session = Driven::connect_as(&http, index).await.unwrap();
                for _ in 0..5 {
                    let start = Instant::now();
                    session.call().await.unwrap();
                    assert!(start.elapsed() >= delay);
                }
                assert_eq!(session.counter("body_bytes"), 10);
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        // One after the other they would take 5 s.
        assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    });
}

#[test]
fn it_is_gone_when_dropped_and_refuses_what_is_no_answer() {
    let target = NullTarget::start(Duration::from_millis(1)).unwrap();
    let address = target.address();
    let open = std::net::TcpStream::connect(address).unwrap();
    drop(target);
    assert!(std::net::TcpStream::connect(address).is_err());
    let closed = std::io::Read::read(&mut &open, &mut [0; 1]);
    assert!(matches!(closed, Ok(0) | Err(_)), "{closed:?}");
    assert!(NullTarget::answering("HTTP/1.1 200 OK", Duration::ZERO).is_err());
}
