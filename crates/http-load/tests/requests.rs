//! Requests of every shape arrive as they were meant, and answers are checked.

mod common;

use common::{Accepted, Driven, Peer, run, said};
use http_load::{Body, Bytes, Http, Request};
use load_core::{Class, Failure};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// Answers with the request line and the body, which may be chunked.
fn mirror(mut conn: Accepted) {
    while let Some(head) = conn.head() {
        let line = head.lines().next().unwrap().to_string();
        let lower = head.to_ascii_lowercase();
        let mut body = Vec::new();
        if let Some(at) = lower.find("content-length: ") {
            let length = lower[at + 16..].lines().next().unwrap().parse().unwrap();
            body = conn.body(length).unwrap();
        } else if lower.contains("transfer-encoding: chunked") {
            loop {
                let mut size = Vec::new();
                while !size.ends_with(b"\r\n") {
                    size.extend(conn.body(1).unwrap());
                }
                let size = std::str::from_utf8(&size).unwrap().trim();
                let size = usize::from_str_radix(size, 16).unwrap();
                let chunk = conn.body(size + 2).unwrap();
                if size == 0 {
                    break;
                }
                body.extend_from_slice(&chunk[..size]);
            }
        }
        let reply = format!("{line} {} {}", body.len(), String::from_utf8_lossy(&body[..body.len().min(99)]));
        conn.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{reply}", reply.len()));
    }
}

/// What the mirror said to `n` operations.
fn mirrored(peer: &Peer, n: usize, http: Http) -> Vec<String> {
    let (send, replies) = std::sync::mpsc::channel();
    let http = http.check(move |reply| {
        send.send(String::from_utf8_lossy(reply.body()).into_owned()).unwrap();
        Ok(())
    });
    let before = peer.accepted();
    run(async {
        let mut session = Driven::connect(&http).await.unwrap();
        for _ in 0..n {
            session.call().await.unwrap();
        }
    });
    assert_eq!(peer.accepted() - before, 1);
    replies.try_iter().collect()
}

#[test]
fn lists_of_urls_are_asked_for_in_turn() {
    let peer = Peer::start(mirror);
    let url = peer.url();
    let http = Http::urls([format!("{url}a"), format!("{url}b?c")]).unwrap();
    assert_eq!(
        mirrored(&peer, 3, http),
        ["GET /a HTTP/1.1 0 ", "GET /b?c HTTP/1.1 0 ", "GET /a HTTP/1.1 0 "]
    );
}

#[test]
fn lists_that_cannot_be_meant_are_refused() {
    let none: [&str; 0] = [];
    for (result, words) in [
        (Http::urls(none), "at least one"),
        (Http::urls(["http://a/", "http://b/"]), "one host"),
        (Http::urls(["http://a/", "http://a:81/"]), "one host"),
        (Http::weighted([("http://a/", 0)]), "add up"),
        (Http::get("http://a/").unwrap().requests_per_connection(0), "1 or more"),
        (Http::get("http://a/").unwrap().connect_to([]), "at least one"),
        (Http::get("http://a/").unwrap().header("Connection", "close"), "keep_alive"),
        (Http::get("http://a/").unwrap().header("Content-Length", "5"), "body"),
        (Http::get("http://a/").unwrap().body_with("{random:1}"), "{random:0..1000}"),
        (Http::request("GE T", "http://a/"), "one word"),
        (Http::request("CONNECT", "http://a/"), "tunnels"),
        (Http::get("http://a/").unwrap().expect_status(42), "100 to 999"),
    ] {
        let said = result.unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn placeholders_are_filled_in_url_header_and_body() {
    let peer = Peer::start(mirror);
    let http = Http::post(&format!("{}{{session}}/{{seq}}", peer.url())).unwrap();
    let http = http.header_with("X-Number", "n{seq}").unwrap().body_with("{\"n\": {seq}}").unwrap();
    assert_eq!(
        mirrored(&peer, 2, http),
        ["POST /0/0 HTTP/1.1 8 {\"n\": 0}", "POST /0/1 HTTP/1.1 8 {\"n\": 1}"]
    );
    assert!(peer.heads()[1].contains("\r\nx-number: n1\r\n"), "{:?}", peer.heads());
}

#[test]
fn bodies_can_be_made_while_they_are_sent() {
    let peer = Peer::start(mirror);
    let http = Http::put(&peer.url()).unwrap();
    let size = 3_000_000;
    let large = mirrored(&peer, 2, http.clone().body(Body::repeat("0123456789", size)));
    assert!(large.iter().all(|l| l.starts_with("PUT / HTTP/1.1 3000000 0123456789")), "{large:?}");
    assert!(peer.heads()[0].contains("\r\ncontent-length: 3000000\r\n"));
    let chunks = Body::chunks(|| (0..5).map(|n| Bytes::from(format!("chunk {n};"))));
    assert_eq!(
        mirrored(&peer, 2, http.body(chunks)),
        vec!["PUT / HTTP/1.1 40 chunk 0;chunk 1;chunk 2;chunk 3;chunk 4;"; 2]
    );
}

#[test]
fn a_closure_makes_any_request() {
    let peer = Peer::start(mirror);
    let http = Http::make(&peer.url(), |op| {
        let n = op.seq();
        let method = if n % 2 == 0 { "GET" } else { "PATCH" };
        Request::builder()
            .method(method)
            .uri(format!("/n/{n}"))
            .header("x-own", "1")
            .body(Body::from("z"))
            .unwrap()
    });
    let http = http.unwrap().header("X-Added", "2").unwrap();
    assert_eq!(mirrored(&peer, 2, http), ["GET /n/0 HTTP/1.1 1 z", "PATCH /n/1 HTTP/1.1 1 z"]);
    let host = format!("\r\nhost: {}\r\n", peer.address);
    for head in peer.heads() {
        assert!(head.contains(&host) && head.contains("\r\nx-own: 1\r\n"), "{head}");
        assert!(head.contains("\r\nx-added: 2\r\n"), "{head}");
    }
}

#[test]
fn a_repeated_request_is_the_same_request() {
    // Closes on reading the second request of a connection.
    let peer = Peer::start(|mut conn| {
        if conn.head().is_some() {
            conn.send(OK);
            conn.head();
        }
    });
    let url = format!("{}{{random:0..1000000000}}", peer.url());
    run(async {
        let mut session = Driven::connect(&Http::get(&url).unwrap()).await.unwrap();
        for _ in 0..3 {
            session.call().await.unwrap();
        }
        assert_eq!(session.counter("stale_repeated"), 2);
    });
    let heads = peer.heads();
    assert_eq!(heads.len(), 5);
    assert_eq!((&heads[1], &heads[3]), (&heads[2], &heads[4]));
    assert!(heads[0] != heads[1] && heads[1] != heads[3]);
}

#[test]
fn connections_are_closed_after_as_many_requests_as_asked_for() {
    let peer = Peer::answering(OK);
    run(async {
        let http = Http::get(&peer.url()).unwrap().requests_per_connection(4).unwrap();
        let mut session = Driven::connect(&http).await.unwrap();
        for _ in 0..10 {
            session.call().await.unwrap();
        }
        assert_eq!(session.counter("connections_opened"), 3);
    });
    assert_eq!((peer.accepted(), peer.heads().len()), (3, 10));
}

#[test]
fn answers_are_checked_for_length_content_and_whatever_else() {
    let peer = Peer::answering(OK);
    let get = || Http::get(&peer.url()).unwrap();
    run(async {
        for (http, code) in [
            (get().expect_length(5).expect_body("ell").expect_body("hello"), None),
            (get().expect_length(4), Some("length of the body")),
            (get().expect_body("hello!"), Some("missing in the body")),
            (
                get().check(|reply| if reply.body() == b"hello" { Ok(()) } else { Err(Failure::check("x")) }),
                None,
            ),
            (get().check(|_| Err(Failure::check("mine"))), Some("mine")),
        ] {
            let mut session = Driven::connect(&http).await.unwrap();
            for _ in 0..3 {
                let outcome = session.call().await;
                match code {
                    None => outcome.unwrap(),
                    Some(code) => {
                        assert_eq!(said(&outcome), (Class::Check, code.into()));
                        assert!(!outcome.unwrap_err().needs_reconnect());
                    }
                }
            }
        }
        // For calibration only a complete answer counts.
        let http = get().expect_length(4).expect_status(500).unwrap().against(peer.address);
        Driven::connect(&http).await.unwrap().call().await.unwrap();
    });
}

#[cfg(unix)]
#[test]
fn unix_sockets_carry_http_too() {
    use std::{
        io::{Read, Write},
        os::unix::net::UnixListener,
    };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("http.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut all = Vec::new();
        let mut buffer = [0; 4096];
        while let Ok(n @ 1..) = stream.read(&mut buffer) {
            all.extend_from_slice(&buffer[..n]);
            stream.write_all(OK.as_bytes()).unwrap();
        }
        String::from_utf8(all).unwrap()
    });
    run(async {
        let http = Http::get("http://app.test/x").unwrap();
        let mut session = Driven::connect(&http.clone().unix_socket(&path)).await.unwrap();
        for _ in 0..2 {
            session.call().await.unwrap();
        }
        let missing = dir.path().join("missing.sock");
        let failure = Driven::connect(&http.unix_socket(&missing)).await.err().unwrap();
        assert_eq!((failure.class(), failure.code()), (Class::Connect, "no such socket"));
        assert!(failure.describe().contains("missing.sock"), "{}", failure.describe());
    });
    assert_eq!(server.join().unwrap(), "GET /x HTTP/1.1\r\nhost: app.test\r\n\r\n".repeat(2));
}
