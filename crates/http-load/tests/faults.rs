//! Each kind of fault is in one class, with its code and consequences.

mod common;

use common::{Driven, Peer, eventually, local, run, said};
use http_load::Http;
use load_core::{Class, Failure, Session};
use std::{
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn get(peer: &Peer) -> Http {
    Http::get(&peer.url()).unwrap()
}

fn consequences(failure: &Failure) -> (bool, bool) {
    (failure.needs_reconnect(), failure.is_unknown())
}

#[test]
fn refused_names_the_address() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{free}/");
    run(async {
        let failure = Driven::connect(&Http::get(&url).unwrap()).await.err().unwrap();
        assert_eq!((failure.class(), failure.code()), (Class::Connect, "refused"));
        assert_eq!(consequences(&failure), (true, false));
        assert!(failure.describe().contains(&free.to_string()), "{}", failure.describe());
        // The same inside an operation.
        let mut session = Driven::connect(&Http::get(&url).unwrap().keep_alive(false)).await.unwrap();
        let outcome = session.call().await;
        assert_eq!(said(&outcome), (Class::Connect, "refused".into()));
        assert_eq!(consequences(&outcome.unwrap_err()), (true, false));
    });
}

#[test]
fn names_that_do_not_resolve_are_of_class_dns() {
    run(async {
        let http = Http::get("http://does-not-exist.invalid:1/").unwrap();
        let failure = Driven::connect(&http).await.err().unwrap();
        assert_eq!(failure.class(), Class::Dns);
        assert!(failure.describe().contains("does-not-exist.invalid"), "{}", failure.describe());
    });
}

#[test]
fn sessions_spread_over_the_addresses_and_a_dead_one_falls_to_the_next() {
    let script = |mut conn: common::Accepted| {
        while conn.head().is_some() {
            conn.send(OK);
        }
    };
    let one = Peer::start(script);
    let port = one.address.port();
    let Ok(two) = Peer::at(local(port, [127, 0, 0, 2]), script) else {
        eprintln!("SKIPPED: 127.0.0.2 cannot be listened on here");
        return;
    };
    let http = get(&one).connect_to([one.address, two.address]).unwrap();
    run(async {
        for index in 0..10 {
            Driven::connect_as(&http, index).await.unwrap().call().await.unwrap();
        }
        assert_eq!((one.accepted(), two.accepted()), (5, 5));
        let dead = local(port, [127, 0, 0, 3]);
        let http = get(&one).connect_to([dead, one.address]).unwrap();
        let session = Driven::connect_as(&http, 0).await.unwrap();
        assert_eq!(session.step_names(), ["connect"]);
        let localhost = Http::get(&format!("http://localhost:{port}/")).unwrap();
        for index in 0..2 {
            let session = Driven::connect_as(&localhost, index).await.unwrap();
            assert!(session.facts.iter().any(|(n, v)| *n == "address" && v.contains("127.0.0.1")));
        }
    });
}

#[test]
fn the_timeout_covers_the_body() {
    let peer = Peer::start(|mut conn| {
        if conn.head().is_some() {
            conn.send("HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\nx");
            conn.until_closed();
        }
    });
    run(async {
        let http = get(&peer).timeout(Duration::from_millis(300)).unwrap();
        let mut session = Driven::connect(&http).await.unwrap();
        let start = Instant::now();
        let outcome = session.call().await;
        let took = start.elapsed();
        assert_eq!(said(&outcome), (Class::Timeout, "body".into()));
        assert_eq!(consequences(&outcome.unwrap_err()), (true, true));
        assert!(took >= Duration::from_millis(300) && took < Duration::from_secs(3), "{took:?}");
        assert_eq!(session.counter("body_bytes"), 0);
    });
    eventually("the connection is closed", || peer.ended() == 1);
}

#[test]
fn the_timeout_says_which_step_it_was_in() {
    let silent = Peer::start(|mut conn| conn.until_closed());
    let half = Peer::start(|mut conn| {
        conn.head();
        conn.send("HTTP/1.1 200");
        conn.until_closed();
    });
    let limit = Duration::from_millis(150);
    run(async {
        for (peer, code) in [(&silent, "first byte"), (&half, "head")] {
            let mut session = Driven::connect(&get(peer).timeout(limit).unwrap()).await.unwrap();
            assert_eq!(said(&session.call().await), (Class::Timeout, code.into()));
        }
    });
}

#[test]
fn a_server_that_does_not_accept_times_out_in_connect() {
    // A full queue of connections that nobody accepts: the kernel ignores further ones.
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None);
    let socket = socket.unwrap();
    rustix::net::bind(&socket, &local(0, [127, 0, 0, 1])).unwrap();
    rustix::net::listen(&socket, 0).unwrap();
    let address = TcpListener::from(socket);
    let url = format!("http://{}/", address.local_addr().unwrap());
    run(async {
        let http = Http::get(&url).unwrap().timeout(Duration::from_millis(200)).unwrap();
        let mut held = Vec::new();
        let failure = loop {
            match Driven::connect(&http).await {
                Ok(session) => held.push(session),
                Err(failure) => break failure,
            }
            assert!(held.len() < 8, "the queue of length 0 takes them all");
        };
        assert_eq!((failure.class(), failure.code()), (Class::Timeout, "connect"));
        assert_eq!(consequences(&failure), (true, false));
    });
}

#[test]
fn a_timeout_of_zero_is_refused() {
    let said = Http::get("http://a/").unwrap().timeout(Duration::ZERO).unwrap_err().to_string();
    assert!(said.starts_with("timeout: 0 "), "{said}");
}

#[test]
fn a_connection_closed_while_idle_is_replaced_and_not_an_error() {
    // Closes each connection after its answer, without having said so, once the client is done with it.
    let done = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&done);
    let peer = Peer::start(move |mut conn| {
        if conn.head().is_some() {
            conn.send(OK);
            eventually("the client is done", || seen.load(Ordering::SeqCst) > conn.number);
        }
    });
    run(async {
        // Nothing is ever sent twice here, so it holds for a method that may not be repeated as well.
        for http in [get(&peer), Http::post(&peer.url()).unwrap()] {
            let mut session = Driven::connect(&http).await.unwrap();
            for _ in 0..5 {
                session.call().await.unwrap();
                let calls = done.fetch_add(1, Ordering::SeqCst) + 1;
                eventually("the server has closed", || peer.ended() == calls);
                // The runtime must hear of it, as it does while it waits for anything.
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            assert_eq!(session.counter("stale_replaced"), 4);
            assert_eq!(session.counter("stale_repeated"), 0);
            assert_eq!(session.counter("connections_opened"), 5);
        }
    });
}

/// Answers the first request of a connection and closes on reading the second.
fn closes_on_the_second() -> Peer {
    Peer::start(|mut conn| {
        if conn.head().is_some() {
            conn.send(OK);
            conn.head();
        }
    })
}

#[test]
fn a_request_that_crosses_the_closing_is_repeated_once_and_counted() {
    let peer = closes_on_the_second();
    run(async {
        let mut session = Driven::connect(&get(&peer)).await.unwrap();
        session.call().await.unwrap();
        session.call().await.unwrap();
        assert_eq!(session.step_names(), ["stale", "connect", "first_byte", "body"]);
        assert_eq!(session.counter("stale_repeated"), 1);
    });
    assert_eq!((peer.accepted(), peer.heads().len()), (2, 3));
}

#[test]
fn a_request_that_may_not_be_repeated_fails_with_an_unknown_outcome() {
    let peer = closes_on_the_second();
    run(async {
        let mut session = Driven::connect(&Http::post(&peer.url()).unwrap()).await.unwrap();
        session.call().await.unwrap();
        let outcome = session.call().await;
        assert_eq!(said(&outcome), (Class::Closed, "first byte".into()));
        assert_eq!(consequences(&outcome.unwrap_err()), (true, true));
    });
    assert_eq!((peer.accepted(), peer.heads().len()), (1, 2));
}

#[test]
fn a_new_connection_that_closes_without_an_answer_is_a_failure_and_not_repeated() {
    let peer = Peer::start(|mut conn| {
        conn.head();
    });
    run(async {
        let mut session = Driven::connect(&get(&peer)).await.unwrap();
        let outcome = session.call().await;
        assert_eq!(said(&outcome), (Class::Closed, "first byte".into()));
    });
    assert_eq!((peer.accepted(), peer.heads().len()), (1, 1));
}

#[test]
fn closing_in_head_and_body_are_told_apart() {
    for (reply, code) in [
        ("HTTP/1.1 200 OK\r\nContent-", "head"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\nhalf", "body"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe", "body"),
    ] {
        let peer = Peer::start(move |mut conn| {
            conn.head();
            conn.send(reply);
        });
        run(async {
            let mut session = Driven::connect(&get(&peer)).await.unwrap();
            let outcome = session.call().await;
            assert_eq!(said(&outcome), (Class::Closed, code.into()), "{reply}");
            assert_eq!(consequences(&outcome.unwrap_err()), (true, true));
            assert_eq!(session.counter("body_bytes"), 0);
            assert_eq!(session.bytes_in, reply.len() as u64);
        });
    }
}

#[test]
fn a_reset_in_the_body_fails_that_request_only() {
    let peer = Peer::start(|mut conn| {
        for n in 0.. {
            if conn.head().is_none() {
                return;
            }
            if n == 2 {
                conn.send("HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\nhalf of it");
                // So that the client has read it before the reset discards it.
                std::thread::sleep(Duration::from_millis(20));
                return conn.reset();
            }
            conn.send(OK);
        }
    });
    run(async {
        let (mut good, mut reset) = (0, 0);
        let mut session = Driven::connect(&get(&peer)).await.unwrap();
        for _ in 0..9 {
            match session.call().await {
                Ok(()) => good += 1,
                outcome => {
                    assert_eq!(said(&outcome), (Class::Reset, "connection reset".into()));
                    assert_eq!(consequences(&outcome.unwrap_err()), (true, true));
                    reset += 1;
                }
            }
        }
        assert_eq!((good, reset), (6, 3));
        assert_eq!(session.counter("body_bytes"), 12);
    });
    assert_eq!(peer.accepted(), 3);
}

#[test]
fn what_is_not_http_is_a_parse_error_with_its_reason_and_a_sample() {
    for (reply, words) in [
        ("+PONG\r\n+PONG\r\n", "\"+PONG\""),
        ("\x15\x03\x01\x00\x02", "\"\\\\x15\\\\x03\\\\x01\\\\x00\\\\x02\""),
        ("HTTP/1.1 2000 OK\r\n\r\n", "status"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\"Connection: close\"\r\n\r\n",
            "header",
        ),
        ("HTTP/1.1 200 OK\r\nContent-Length: one\r\n\r\n", "content-length"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "chunk"),
    ] {
        let peer = Peer::answering(reply);
        run(async {
            let mut session = Driven::connect(&get(&peer)).await.unwrap();
            for _ in 0..3 {
                let failure = session.call().await.unwrap_err();
                assert_eq!(failure.class(), Class::Protocol, "{reply:?}: {failure:?}");
                assert_eq!(consequences(&failure), (true, true));
                assert!(!failure.code().is_empty());
                assert!(failure.describe().contains(words), "{reply:?}: {}", failure.describe());
            }
        });
        assert_eq!(peer.heads().len(), 3, "one failure for each request: {reply:?}");
    }
}

#[test]
fn an_echo_is_a_parse_error_and_shows_no_header_value() {
    let peer = Peer::start(|mut conn| {
        while let Some(head) = conn.head() {
            conn.send(head);
        }
    });
    let url = format!("{}?token=canary-in-query", peer.url());
    let http = Http::get(&url).unwrap().header("Authorization", "Bearer canary-in-header").unwrap();
    let http = http.body("canary-in-body");
    run(async {
        let mut session = Driven::connect(&http).await.unwrap();
        let failure = session.call().await.unwrap_err();
        assert_eq!(failure.class(), Class::Protocol);
        let shown = format!(
            "{} {failure:?} {http:?} {http} {:?} {:#?} {:?}",
            failure.describe(),
            session.session,
            session.session,
            session.facts
        );
        assert!(shown.contains("GET /") && !shown.contains("canary"), "{shown}");
    });
    let said = http.header("X-Bad", "canary\r\n").unwrap_err().to_string();
    assert!(said.contains("X-Bad") && !said.contains("canary"), "{said}");
}

#[test]
fn heads_that_are_too_large_are_named_with_the_limit() {
    let many: String = (0..150).map(|n| format!("x-{n}: y\r\n")).collect();
    let huge = format!("x: {}\r\n", "y".repeat(500 << 10));
    for headers in [many, huge] {
        let peer = Peer::answering(format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: 0\r\n\r\n"));
        run(async {
            let mut session = Driven::connect(&get(&peer)).await.unwrap();
            let outcome = session.call().await;
            assert_eq!(said(&outcome), (Class::Protocol, "head of the answer too large".into()));
            let words = outcome.unwrap_err().describe();
            assert!(words.contains("100 headers") && words.contains("417792 bytes"), "{words}");
        });
    }
}

#[test]
fn an_answer_before_the_request_was_sent_is_counted_once_and_the_connection_is_given_up() {
    let released = Arc::new(AtomicUsize::new(0));
    let wait = Arc::clone(&released);
    let peer = Peer::start(move |mut conn| {
        let head = conn.head().unwrap();
        assert!(head.starts_with("POST / HTTP/1.1\r\n"), "{head}");
        conn.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        // Keeps the connection and reads nothing more: the client must not wait to get rid of its body.
        eventually("the client is done", || wait.load(Ordering::SeqCst) > 0);
    });
    run(async {
        let http = Http::post(&peer.url()).unwrap().body(vec![b'x'; 10 << 20]);
        let mut session = Driven::connect(&http).await.unwrap();
        for _ in 0..3 {
            session.call().await.unwrap();
        }
        released.store(1, Ordering::SeqCst);
        assert_eq!(session.counter("early_answers"), 3);
        assert!(session.bytes_out < 30 << 20);
    });
    assert_eq!((peer.accepted(), peer.heads().len()), (3, 3));
}

#[test]
fn an_operation_that_was_dropped_half_way_leaves_nothing_behind() {
    let peer = Peer::start(|mut conn| {
        let late = conn.number == 0;
        while conn.head().is_some() {
            if late {
                std::thread::sleep(Duration::from_millis(200));
                conn.send("HTTP/1.1 500 Late\r\nContent-Length: 0\r\n\r\n");
            } else {
                conn.send(OK);
            }
        }
    });
    run(async {
        let mut session = Driven::connect(&get(&peer)).await.unwrap();
        assert!(tokio::time::timeout(Duration::from_millis(20), session.call()).await.is_err());
        session.call().await.unwrap();
        session.session.close().await;
    });
    assert_eq!(peer.accepted(), 2);
    eventually("both connections are closed", || peer.ended() == 2);
}

#[test]
fn no_connection_is_left_open_or_half_closed() {
    // As a server with a limit on the requests of a connection.
    let peer = Peer::start(|mut conn| {
        for n in 1..=10 {
            if conn.head().is_none() {
                return;
            }
            let close = if n == 10 { "Connection: close\r\n" } else { "" };
            conn.send(format!("HTTP/1.1 200 OK\r\n{close}Content-Length: 2\r\n\r\nok"));
        }
        conn.until_closed();
    });
    run(async {
        let mut session = Driven::connect(&get(&peer)).await.unwrap();
        for n in 0..100 {
            session.call().await.unwrap();
            assert!(peer.accepted() <= 1 + n / 10 + 1);
        }
        assert_eq!(session.counter("connections_opened"), 10);
        eventually("the others are closed", || peer.ended() >= 9);
        drop(session);
    });
    assert_eq!(peer.accepted(), 10);
    eventually("all are closed", || peer.ended() == 10);
}
