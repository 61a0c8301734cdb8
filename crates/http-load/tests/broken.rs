//! Servers that are broken in every way that bytes allow: whatever comes, an operation ends in time and in one class.

mod common;

use common::{Driven, Peer, run};
use http_load::Http;
use load_core::Class;
use std::{
    io::Write,
    time::{Duration, Instant},
};

const LIMIT: Duration = Duration::from_millis(400);

fn get(peer: &Peer) -> Http {
    Http::get(&peer.url()).unwrap().timeout(LIMIT).unwrap()
}

/// What one operation comes to: `None` for a success.
async fn once(http: &Http) -> Option<(Class, String)> {
    let mut session = Driven::connect(http).await.unwrap();
    let start = Instant::now();
    let outcome = session.call().await;
    assert!(start.elapsed() < LIMIT + Duration::from_secs(2), "{:?}: {outcome:?}", start.elapsed());
    outcome.err().map(|failure| {
        assert!(!failure.describe().is_empty());
        (failure.class(), failure.code().to_string())
    })
}

#[test]
fn answers_that_contradict_themselves_are_in_one_class_each() {
    let head = |more: &str| format!("HTTP/1.1 200 OK\r\n{more}\r\n\r\n");
    let huge_number = format!("{}\r\n", "9".repeat(40));
    for (reply, expected) in [
        // Lengths.
        (head("Content-Length: -1"), Some(Class::Protocol)),
        (head("Content-Length: 18446744073709551616"), Some(Class::Protocol)),
        (head("Content-Length: 2, 3") + "ok", Some(Class::Protocol)),
        (head("Content-Length: 2\r\nContent-Length: 3") + "ok", Some(Class::Protocol)),
        (head("Content-Length: 2\r\nContent-Length: 2") + "ok", None),
        (head("Content-Length: 2, 2") + "ok", None),
        (head("Content-Length: 5") + "ok", Some(Class::Timeout)),
        // Chunks.
        (head("Transfer-Encoding: chunked") + "2\nok\n0\n\n", Some(Class::Protocol)),
        (head("Transfer-Encoding: chunked") + "-2\r\nok\r\n0\r\n\r\n", Some(Class::Protocol)),
        (head("Transfer-Encoding: chunked") + &huge_number, Some(Class::Protocol)),
        (head("Transfer-Encoding: chunked") + "2\r\nokay\r\n0\r\n\r\n", Some(Class::Protocol)),
        (head("Transfer-Encoding: chunked") + "2;x=\"y\"\r\nok\r\n0\r\n\r\n", None),
        (head("Transfer-Encoding: chunked") + "2\r\nok\r\n", Some(Class::Timeout)),
        // Both: the chunks count (RFC 9112, section 6.3).
        (head("Content-Length: 99\r\nTransfer-Encoding: chunked") + "2\r\nok\r\n0\r\n\r\n", None),
        // Lines.
        ("HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok".into(), None),
        ("HTTP/1.1 20 OK\r\nContent-Length: 2\r\n\r\nok".into(), Some(Class::Protocol)),
        ("HTTP/9.9 200 OK\r\nContent-Length: 2\r\n\r\nok".into(), Some(Class::Protocol)),
        ("\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".into(), None),
        (head("no colon here"), Some(Class::Protocol)),
        (head("X: a\0b\r\nContent-Length: 0"), Some(Class::Protocol)),
        (head(": no name\r\nContent-Length: 0"), Some(Class::Protocol)),
        // Interim answers: any number of them, but not for ever.
        ("HTTP/1.1 100 Continue\r\n\r\n".repeat(50) + &head("Content-Length: 0"), None),
        ("HTTP/1.1 100 Continue\r\n\r\n".into(), Some(Class::Timeout)),
        // A protocol that nobody asked for.
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n".into(), Some(Class::Status)),
        // Another's hello.
        ("220 mail.test ESMTP\r\n".into(), Some(Class::Protocol)),
        ("SSH-2.0-OpenSSH_9.6\r\n".into(), Some(Class::Protocol)),
        ("\x00\x00\x12\x04\x00\x00\x00\x00\x00".into(), Some(Class::Protocol)),
        (String::new(), Some(Class::Timeout)),
    ] {
        let peer = Peer::answering(reply.clone());
        run(async {
            let ended = once(&get(&peer)).await;
            assert_eq!(ended.as_ref().map(|(class, _)| *class), expected, "{reply:?}: {ended:?}");
        });
    }
}

#[test]
fn answers_without_end_are_a_timeout() {
    let interim = Peer::start(|mut conn| {
        conn.head();
        let some = "HTTP/1.1 102 Processing\r\n\r\n".repeat(10);
        while conn.stream.write_all(some.as_bytes()).is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    // As fast as it is read: there is always more, and no moment of waiting.
    let body = Peer::start(|mut conn| {
        conn.head();
        conn.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", u64::MAX / 2));
        while conn.stream.write_all(&[0; 65536]).is_ok() {}
    });
    run(async {
        for (peer, step) in [(&interim, "head"), (&body, "body")] {
            assert_eq!(once(&get(peer)).await, Some((Class::Timeout, step.into())));
        }
    });
}

#[test]
fn heads_and_bodies_that_come_byte_by_byte_count_or_are_out_of_time() {
    let slow = |reply: &'static str, pause: u64| {
        Peer::start(move |mut conn| {
            while conn.head().is_some() {
                for byte in reply.bytes() {
                    conn.send([byte]);
                    std::thread::sleep(Duration::from_millis(pause));
                }
            }
        })
    };
    let reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    run(async {
        for reply in [reply, chunked] {
            let peer = slow(reply, 1);
            let http = get(&peer).timeout(Duration::from_secs(20)).unwrap();
            let mut session = Driven::connect(&http).await.unwrap();
            for n in 1..=3 {
                session.call().await.unwrap();
                assert_eq!(session.bytes_in, n * reply.len() as u64);
            }
            let peer = slow(reply, 40);
            assert_eq!(once(&get(&peer)).await, Some((Class::Timeout, "head".into())));
        }
    });
}

#[test]
fn whatever_is_wrong_with_an_answer_the_operation_ends() {
    let whole: [&[u8]; 3] = [
        b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 12\r\n\r\nHello World!",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nHello \r\n6;a=b\r\nWorld!\r\n0\r\nX: y\r\n\r\n",
        b"HTTP/1.0 404 Not Found\r\nConnection: close\r\n\r\ngone",
    ];
    // Each cut at every place, and with a byte changed at every place, then closed.
    let mut replies = Vec::new();
    for reply in whole {
        for at in 0..reply.len() {
            replies.push(reply[..at].to_vec());
            for other in [0u8, b'\n', b' ', b':', b'9', 0xff] {
                let mut changed = reply.to_vec();
                changed[at] = other;
                replies.push(changed);
            }
        }
    }
    let count = replies.len();
    let peer = Peer::start(move |mut conn| {
        if conn.head().is_some() {
            conn.send(&replies[conn.number % replies.len()]);
        }
    });
    run(async {
        // Every connection is closed, so that nothing has to wait for the time to be up.
        let http = get(&peer).keep_alive(false).timeout(Duration::from_secs(20)).unwrap();
        let mut session = Driven::connect(&http).await.unwrap();
        let (mut good, mut bad) = (0, 0);
        for n in 0..count {
            match session.call().await {
                Ok(()) => good += 1,
                Err(failure) => {
                    let class = failure.class();
                    let known = [Class::Closed, Class::Reset, Class::Protocol, Class::Status];
                    assert!(known.contains(&class), "reply {n}: {failure:?}");
                    bad += 1;
                }
            }
        }
        assert_eq!(good + bad, count);
        assert!(good > count / 10 && bad > count / 10, "{good} good, {bad} bad");
        assert_eq!(session.counter("connections_opened"), count as u64);
    });
}

#[test]
fn a_server_that_resets_before_during_and_after_the_request_is_no_success() {
    run(async {
        for when in 0..3 {
            let peer = Peer::start(move |mut conn| {
                if when > 0 {
                    conn.head();
                }
                if when > 1 {
                    conn.send("HTTP/1.1 200 OK\r\nContent-");
                    std::thread::sleep(Duration::from_millis(20));
                }
                conn.reset();
            });
            for http in [get(&peer), Http::post(&peer.url()).unwrap().body(vec![0; 8 << 20])] {
                let ended = match Driven::connect(&http).await {
                    Ok(mut session) => session.call().await.expect_err("it is no success"),
                    Err(failure) => failure,
                };
                let classes = [Class::Reset, Class::Closed, Class::Connect];
                assert!(classes.contains(&ended.class()), "{when}: {ended:?}");
            }
        }
    });
}
