//! Answers of every shape, and what they come to.

mod common;

use common::{Driven, Peer, run, said};
use http_load::Http;
use load_core::Class;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

fn get(peer: &Peer) -> Http {
    Http::get(&peer.url()).unwrap()
}

#[test]
fn one_connection_carries_all_requests_and_every_byte_is_counted() {
    let peer = Peer::answering(OK);
    run(async {
        let mut session = Driven::connect(&get(&peer)).await.unwrap();
        assert_eq!(session.step_names(), ["connect"]);
        for _ in 0..20 {
            session.call().await.unwrap();
            assert_eq!(session.step_names(), ["first_byte", "body"]);
        }
        let request = peer.heads()[0].len() as u64;
        assert_eq!((session.bytes_in, session.bytes_out), (20 * OK.len() as u64, 20 * request));
        assert_eq!(session.counter("body_bytes"), 100);
        assert_eq!(session.counter("connections_opened"), 1);
    });
    assert_eq!((peer.accepted(), peer.heads().len()), (1, 20));
}

#[test]
fn the_request_is_what_was_asked_for() {
    let peer = Peer::start(|mut conn| {
        while let Some(head) = conn.head() {
            if head.contains("content-length: 3") {
                assert_eq!(conn.body(3).unwrap(), b"a=b");
            }
            conn.send(OK);
        }
    });
    let http = Http::post(&format!("{}form?x=1", peer.url())).unwrap();
    let http = http.header("Accept", "text/html").unwrap().header("X-Many", "1").unwrap();
    let http = http.header("X-Many", "2").unwrap().body("a=b");
    run(async {
        let mut session = Driven::connect(&http).await.unwrap();
        for _ in 0..3 {
            session.call().await.unwrap();
        }
    });
    let expected = format!(
        "POST /form?x=1 HTTP/1.1\r\nhost: {}\r\naccept: text/html\r\nx-many: 1\r\nx-many: 2\r\n",
        peer.address
    );
    for head in peer.heads() {
        assert!(head.starts_with(&expected), "{head}");
        assert!(head.contains("\r\ncontent-length: 3\r\n"), "{head}");
    }
}

#[test]
fn a_post_without_a_body_says_so() {
    let peer = Peer::answering(OK);
    run(async {
        let mut session = Driven::connect(&Http::post(&peer.url()).unwrap()).await.unwrap();
        session.call().await.unwrap();
    });
    assert!(peer.heads()[0].contains("\r\ncontent-length: 0\r\n"), "{:?}", peer.heads());
}

#[test]
fn the_host_header_can_be_replaced_and_ipv6_is_in_brackets() {
    let peer = Peer::answering(OK);
    run(async {
        let http = get(&peer).header("Host", "example.test").unwrap();
        Driven::connect(&http).await.unwrap().call().await.unwrap();
    });
    assert!(peer.heads()[0].contains("\r\nhost: example.test\r\n"), "{:?}", peer.heads());
    let script = |mut conn: common::Accepted| {
        while conn.head().is_some() {
            conn.send(OK);
        }
    };
    let Ok(six) = Peer::at("[::1]:0".parse().unwrap(), script) else {
        eprintln!("SKIPPED: no IPv6 loopback on this machine");
        return;
    };
    run(async {
        Driven::connect(&get(&six)).await.unwrap().call().await.unwrap();
    });
    let host = format!("\r\nhost: [::1]:{}\r\n", six.address.port());
    assert!(six.heads()[0].contains(&host), "{:?}", six.heads());
}

#[test]
fn a_body_that_ends_with_the_connection_is_a_success_and_the_next_request_has_a_new_one() {
    let peer = Peer::start(|mut conn| {
        if conn.head().is_some() {
            conn.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\nHello World!");
        }
    });
    run(async {
        let mut session = Driven::connect(&get(&peer)).await.unwrap();
        for n in 1..=3 {
            session.call().await.unwrap();
            assert_eq!(session.counter("body_bytes"), 12 * n);
        }
        assert_eq!(session.step_names(), ["connect", "first_byte", "body"]);
        assert_eq!(session.counter("connections_opened"), 3);
        assert_eq!(session.counter("stale_repeated") + session.counter("stale_replaced"), 0);
    });
    assert_eq!(peer.accepted(), 3);
}

#[test]
fn chunked_interim_and_old_answers_are_understood() {
    for (reply, body, connections) in [
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 5, 1),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\nX: y\r\n\r\n", 3, 1),
        ("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 2, 1),
        ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok", 2, 1),
        ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 2, 3),
    ] {
        let peer = Peer::answering(reply);
        run(async {
            let mut session = Driven::connect(&get(&peer)).await.unwrap();
            for _ in 0..3 {
                session.call().await.unwrap_or_else(|e| panic!("{reply}: {e:?}"));
            }
            assert_eq!(session.counter("body_bytes"), 3 * body, "{reply}");
        });
        assert_eq!(peer.accepted(), connections, "{reply}");
    }
}

#[test]
fn answers_without_a_body_are_done_at_once_whatever_length_they_announce() {
    let reply = |status: &str, length: u32| format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n");
    for (method, reply) in [
        ("HEAD", reply("200 OK", 1234)),
        ("GET", reply("204 No Content", 5)),
        ("GET", reply("304 Not Modified", 99)),
    ] {
        let peer = Peer::answering(reply);
        run(async {
            let http = Http::request(method, &peer.url()).unwrap();
            let mut session = Driven::connect(&http).await.unwrap();
            for _ in 0..3 {
                session.call().await.unwrap();
            }
            assert_eq!(session.counter("body_bytes"), 0);
        });
        assert_eq!(peer.accepted(), 1, "{method}");
    }
}

#[test]
fn large_bodies_are_drained_and_counted_on_one_connection() {
    const SIZE: usize = 1 << 20;
    let mut reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n").into_bytes();
    reply.resize(reply.len() + SIZE, b'x');
    let expected = reply.len() as u64 * 20;
    let peer = Peer::answering(reply);
    run(async {
        let mut session = Driven::connect(&get(&peer)).await.unwrap();
        for _ in 0..20 {
            session.call().await.unwrap();
        }
        assert_eq!(session.counter("body_bytes"), 20 << 20);
        assert_eq!(session.bytes_in, expected);
    });
    assert_eq!(peer.accepted(), 1);
}

#[test]
fn trailing_bytes_do_not_fail_the_request_nor_the_next_one() {
    let peer = Peer::answering("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello World!\n");
    run(async {
        let mut session = Driven::connect(&get(&peer)).await.unwrap();
        for _ in 0..3 {
            session.call().await.unwrap();
        }
        assert_eq!(session.counter("body_bytes"), 36);
        assert_eq!(session.counter("trailing_bytes"), 3);
    });
    assert_eq!(peer.accepted(), 3);
}

#[test]
fn keep_alive_off_opens_a_connection_for_each_request() {
    let peer = Peer::start(|mut conn| {
        if conn.head().is_some() {
            conn.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
        }
    });
    run(async {
        let mut session = Driven::connect(&get(&peer).keep_alive(false)).await.unwrap();
        assert_eq!(peer.accepted(), 0, "operations connect");
        for _ in 0..10 {
            session.call().await.unwrap();
            assert_eq!(session.step_names(), ["connect", "first_byte", "body"]);
        }
        assert_eq!(session.counter("connections_opened"), 10);
    });
    assert_eq!((peer.accepted(), peer.heads().len()), (10, 10));
    assert!(peer.heads().iter().all(|h| h.contains("\r\nconnection: close\r\n")), "{:?}", peer.heads());
}

#[test]
fn a_status_that_was_not_expected_is_a_failure_and_the_connection_is_kept() {
    let peer = Peer::answering("HTTP/1.1 429 Slow Down\r\nContent-Length: 4\r\n\r\nwait");
    run(async {
        let mut session = Driven::connect(&get(&peer)).await.unwrap();
        for _ in 0..3 {
            let outcome = session.call().await;
            assert_eq!(said(&outcome), (Class::Status, "429".into()));
            let failure = outcome.unwrap_err();
            assert!(!failure.needs_reconnect() && !failure.is_unknown());
        }
        assert_eq!(session.counter("body_bytes"), 0);
        let mut session = Driven::connect(&get(&peer).expect_status(429).unwrap()).await.unwrap();
        session.call().await.unwrap();
        let mut session = Driven::connect(&get(&peer).any_status()).await.unwrap();
        session.call().await.unwrap();
    });
    assert_eq!(peer.accepted(), 3);
}

#[test]
fn lines_that_end_in_a_bare_newline_are_read() {
    let peer = Peer::answering("HTTP/1.1 403 Forbidden\nContent-Length: 0\n\n");
    run(async {
        let mut session = Driven::connect(&get(&peer)).await.unwrap();
        assert_eq!(said(&session.call().await), (Class::Status, "403".into()));
    });
}
