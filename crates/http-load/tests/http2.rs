//! HTTP/2: shared connections, servers that close them, streams that fail.
#![cfg(feature = "http2")]

mod common;

use common::{Driven, Peer, run, said};
use h2::Reason;
use http_load::{Body, Http, NullTarget};
use load_core::Class;
use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use testbed::Nginx;

type Accepted = (hyper::Request<h2::RecvStream>, h2::server::SendResponse<bytes::Bytes>);
type ServerConnection = h2::server::Connection<tokio::net::TcpStream, bytes::Bytes>;

/// A server on a thread of its own that does with each connection's requests what the script says.
struct Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Arc<AtomicUsize>,
}

impl Server {
    /// The script has the number of the request on its connection.
    fn start(
        script: impl Fn(usize, Accepted, &mut ServerConnection) + Send + Sync + Copy + 'static,
    ) -> Server {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (connections, requests) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let counts = (Arc::clone(&connections), Arc::clone(&requests));
        std::thread::spawn(move || {
            listener.set_nonblocking(true).unwrap();
            run_for_ever(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    counts.0.fetch_add(1, Ordering::SeqCst);
                    let requests = Arc::clone(&counts.1);
                    tokio::task::spawn_local(async move {
                        let mut connection = h2::server::handshake(stream).await.unwrap();
                        let mut number = 0;
                        while let Some(Ok(accepted)) = connection.accept().await {
                            requests.fetch_add(1, Ordering::SeqCst);
                            script(number, accepted, &mut connection);
                            number += 1;
                        }
                    });
                }
            });
        });
        Server { address, connections, requests }
    }

    fn http(&self) -> Http {
        Http::get(&format!("http://{}/", self.address)).unwrap().http2(1).unwrap()
    }

    fn counts(&self) -> (usize, usize) {
        (self.connections.load(Ordering::SeqCst), self.requests.load(Ordering::SeqCst))
    }
}

fn run_for_ever(future: impl Future<Output = ()>) {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build_local(Default::default()).unwrap().block_on(future);
}

fn ok(respond: &mut h2::server::SendResponse<bytes::Bytes>, body: &'static str) {
    let mut stream = respond.send_response(hyper::Response::new(()), body.is_empty()).unwrap();
    if !body.is_empty() {
        stream.send_data(body.into(), true).unwrap();
    }
}

#[test]
fn as_many_sessions_share_a_connection_as_asked_for() {
    let target = NullTarget::start_http2(Duration::ZERO).unwrap();
    run(async {
        for (sessions, each, connections) in [(20, 20, 1), (20, 7, 3), (5, 1, 5)] {
            let http = Http::get("http://app.test/").unwrap().http2(each).unwrap().against(target.address());
            let mut driven = Vec::new();
            for index in 0..sessions {
                driven.push(Driven::connect_as(&http, index).await.unwrap());
            }
            let opened: u64 = driven.iter().map(|s| s.counter("connections_opened")).sum();
            assert_eq!(opened, connections, "{sessions} sessions, {each} each");
            let mut tasks = Vec::new();
            for mut session in driven {
                tasks.push(tokio::task::spawn_local(async move {
                    for _ in 0..20 {
                        session.call().await.unwrap();
                        assert_eq!(session.step_names(), ["first_byte", "body"]);
                    }
                    session
                }));
            }
            let (mut body, mut wire) = (0, 0);
            for task in tasks {
                let session = task.await.unwrap();
                body += session.counter("body_bytes");
                wire += session.bytes_in;
            }
            assert_eq!(body, sessions as u64 * 20 * 612);
            assert!(wire > body, "heads and frames count too");
        }
    });
}

#[test]
fn connections_opened_at_the_same_time_are_shared_too() {
    let target = NullTarget::start_http2(Duration::ZERO).unwrap();
    let http = Http::get("http://app.test/").unwrap().http2(10).unwrap().against(target.address());
    run(async {
        let mut tasks = Vec::new();
        for index in 0..30 {
            let http = http.clone();
            tasks.push(tokio::task::spawn_local(async move {
                let mut session = Driven::connect_as(&http, index).await.unwrap();
                session.call().await.unwrap();
                // Until all have one.
                tokio::time::sleep(Duration::from_millis(50)).await;
                session.counter("connections_opened")
            }));
        }
        let mut opened = 0;
        for task in tasks {
            opened += task.await.unwrap();
        }
        assert_eq!(opened, 3);
    });
}

#[test]
fn requests_of_every_kind_work_and_the_protocol_is_told() {
    let target = NullTarget::start_http2(Duration::ZERO).unwrap();
    let url = "http://app.test/x";
    run(async {
        for http in [
            Http::get(url).unwrap(),
            Http::head(url).unwrap().header("X-Own", "1").unwrap(),
            Http::post(url).unwrap().body("x"),
            Http::put(url).unwrap().body(Body::repeat("0123456789", 3 << 20)),
            Http::put(url).unwrap().body(Body::chunks(|| (0..9).map(|n| format!("chunk {n}").into()))),
            Http::get(url).unwrap().keep_alive(false),
            Http::get(url).unwrap().requests_per_connection(4).unwrap(),
        ] {
            let http = http.http2(1).unwrap().against(target.address());
            let mut session = Driven::connect(&http).await.unwrap();
            for _ in 0..10 {
                session.call().await.unwrap_or_else(|e| panic!("{http}: {e:?}"));
            }
            assert!(session.facts.iter().any(|(n, v)| *n == "protocol" && v == "HTTP/2"));
        }
    });
}

#[test]
fn a_server_without_http2_is_found_out_at_the_start() {
    let peer = Peer::answering("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    let silent = Peer::start(|mut conn| conn.until_closed());
    let closing = Peer::start(|_| {});
    run(async {
        for (peer, classes) in [
            (&peer, vec![Class::Protocol]),
            (&silent, vec![Class::Timeout]),
            (&closing, vec![Class::Closed, Class::Reset]),
        ] {
            let http = Http::get(&peer.url()).unwrap().http2(1).unwrap();
            let http = http.timeout(Duration::from_millis(300)).unwrap();
            let failure = Driven::connect(&http).await.err().unwrap();
            assert!(classes.contains(&failure.class()), "{failure:?}");
            assert!(failure.needs_reconnect() && !failure.is_unknown());
        }
    });
}

#[test]
fn streams_that_are_refused_are_sent_again_and_counted_as_such() {
    // Refuses every other request.
    let server = Server::start(|n, (_, mut respond), _| match n % 2 {
        0 => respond.send_reset(Reason::REFUSED_STREAM),
        _ => ok(&mut respond, "hello"),
    });
    run(async {
        // Nobody has looked at it, so it may be repeated whatever it is.
        let http = server.http().method("POST").unwrap().requests_per_connection(1000).unwrap();
        let mut session = Driven::connect(&http).await.unwrap();
        let outcome = session.call().await;
        assert_eq!(
            said(&outcome),
            (Class::Reset, "stream: REFUSED_STREAM".into()),
            "each try is on a new connection"
        );
        assert!(!outcome.unwrap_err().is_unknown());
        assert_eq!(session.counter("refused_repeated"), 5);
    });
    assert_eq!(server.counts(), (6, 6));
}

#[test]
fn a_connection_closed_in_good_order_fails_nothing() {
    // Ends after five requests, as soon as they are answered.
    let server = Server::start(|n, (_, mut respond), connection| {
        ok(&mut respond, "hello");
        if n == 4 {
            connection.graceful_shutdown();
        }
    });
    run(async {
        let mut session = Driven::connect(&server.http()).await.unwrap();
        for _ in 0..50 {
            session.call().await.unwrap();
        }
        assert!(session.counter("connections_opened") >= 10, "{:?}", session.counters);
    });
}

#[test]
fn a_stream_that_is_reset_leaves_the_others_and_the_connection() {
    let server = Server::start(|n, (_, mut respond), _| match n % 3 {
        2 => {
            let mut stream = respond.send_response(hyper::Response::new(()), false).unwrap();
            stream.send_data("half".into(), false).unwrap();
            stream.send_reset(Reason::INTERNAL_ERROR);
        }
        _ => ok(&mut respond, "whole"),
    });
    run(async {
        let mut session = Driven::connect(&server.http()).await.unwrap();
        for n in 0..9 {
            let outcome = session.call().await;
            if n % 3 == 2 {
                assert_eq!(said(&outcome), (Class::Reset, "stream: INTERNAL_ERROR".into()));
                let failure = outcome.unwrap_err();
                assert!(!failure.needs_reconnect() && failure.is_unknown());
            } else {
                outcome.unwrap();
            }
        }
        assert_eq!(session.counter("body_bytes"), 30);
    });
    assert_eq!(server.counts(), (1, 9));
}

#[test]
fn a_timeout_costs_its_stream_only() {
    let server = Server::start(|n, (_, mut respond), _| {
        if n == 1 {
            // Held for a while, in the head.
            tokio::task::spawn_local(async move {
                tokio::time::sleep(Duration::from_secs(5)).await;
                drop(respond);
            });
        } else {
            ok(&mut respond, "");
        }
    });
    run(async {
        let http = server.http().timeout(Duration::from_millis(200)).unwrap();
        let mut session = Driven::connect(&http).await.unwrap();
        session.call().await.unwrap();
        let outcome = session.call().await;
        assert_eq!(said(&outcome), (Class::Timeout, "first byte".into()));
        let failure = outcome.unwrap_err();
        assert!(failure.is_unknown() && !failure.needs_reconnect());
        session.call().await.unwrap();
    });
    assert_eq!(server.counts(), (1, 3));
}

#[test]
fn an_answer_before_the_request_was_sent_is_counted_once() {
    let server = Server::start(|_, (_, mut respond), _| {
        // Reads nothing of the body.
        ok(&mut respond, "enough");
    });
    run(async {
        let http = server.http().method("PUT").unwrap().body(Body::repeat("x", 100 << 20));
        let mut session = Driven::connect(&http).await.unwrap();
        for _ in 0..3 {
            session.call().await.unwrap();
        }
        assert_eq!(session.counter("early_answers"), 3);
        assert!(session.bytes_out < 10 << 20, "{}", session.bytes_out);
    });
    assert_eq!(server.counts(), (1, 3));
}

#[test]
fn a_connection_lost_with_streams_on_it_is_closed_for_each_and_unknown() {
    let server = Server::start(|n, (_, mut respond), connection| match n {
        0 => ok(&mut respond, ""),
        _ => {
            std::mem::forget(respond);
            connection.abrupt_shutdown(Reason::INTERNAL_ERROR);
        }
    });
    run(async {
        let mut session = Driven::connect(&server.http().method("POST").unwrap()).await.unwrap();
        session.call().await.unwrap();
        let failure = session.call().await.unwrap_err();
        assert_eq!(failure.class(), Class::Closed, "{failure:?}");
        assert!(failure.is_unknown() && failure.needs_reconnect());
        session.call().await.unwrap();
    });
    assert_eq!(server.counts().0, 2);
}

#[test]
fn nginx_closes_connections_after_so_many_requests_and_none_fails() {
    if !testbed::installed("nginx") {
        eprintln!("SKIPPED: nginx is not installed");
        return;
    }
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let config = format!(
        "server {{ listen 127.0.0.1:{port} http2; keepalive_requests 20; location / {{ return 200 'hello'; }} }}"
    );
    let nginx = match Nginx::builder().extra_http_config(config).start_blocking() {
        Ok(nginx) => nginx,
        Err(error) => return eprintln!("SKIPPED: this nginx has no HTTP/2 without TLS: {error}"),
    };
    run(async {
        let http = Http::get(&format!("http://127.0.0.1:{port}/")).unwrap().http2(20).unwrap();
        let http = http.expect_body("hello");
        let mut tasks = Vec::new();
        for index in 0..20 {
            let http = http.clone();
            tasks.push(tokio::task::spawn_local(async move {
                let mut session = Driven::connect_as(&http, index).await.unwrap();
                for _ in 0..10 {
                    session.call().await.unwrap();
                }
                (session.counter("connections_opened"), session.counter("body_bytes"))
            }));
        }
        let (mut opened, mut body) = (0, 0);
        for task in tasks {
            let (connections, bytes) = task.await.unwrap();
            (opened, body) = (opened + connections, body + bytes);
        }
        assert_eq!(body, 200 * 5);
        assert!((10..=40).contains(&opened), "{opened} connections");
    });
    drop(nginx);
}

#[cfg(feature = "tls")]
#[test]
fn over_tls_it_is_agreed_on_or_fails_at_the_start() {
    let h2 = NullTarget::start_http2_tls(Duration::ZERO).unwrap();
    let h1 = NullTarget::start_tls(Duration::ZERO).unwrap();
    let http = Http::get("https://app.test/").unwrap();
    run(async {
        for (http, target, agreed) in [
            (http.clone().http2(1).unwrap(), &h2, Ok("HTTP/2")),
            (http.clone(), &h1, Ok("HTTP/1.1")),
            (http.clone().http2(1).unwrap(), &h1, Err("h2 not agreed on")),
            (http.clone(), &h2, Err("http/1.1 not agreed on")),
        ] {
            match (Driven::connect(&http.against(target.address())).await, agreed) {
                (Ok(mut session), Ok(protocol)) => {
                    assert!(session.facts.iter().any(|(n, v)| *n == "protocol" && v == protocol));
                    for _ in 0..10 {
                        session.call().await.unwrap();
                    }
                }
                (Err(failure), Err(code)) => {
                    assert_eq!((failure.class(), failure.code()), (Class::Tls, code));
                }
                (session, agreed) => panic!("{:?}, not {agreed:?}", session.map(drop)),
            }
        }
    });
}
