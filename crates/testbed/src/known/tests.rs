use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::*;
use crate::Error;

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";

fn connect(server: &Known) -> TcpStream {
    let stream = TcpStream::connect(server.addr()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

fn read_exact(stream: &mut TcpStream, length: usize) -> String {
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn ask(stream: &mut TcpStream, expected: &str) {
    stream.write_all(GET).unwrap();
    assert_eq!(read_exact(stream, expected.len()), expected);
}

fn rest(stream: &mut TcpStream) -> io::Result<String> {
    let mut text = String::new();
    stream.read_to_string(&mut text).map(|_| text)
}

fn http(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn it_answers_keeps_the_connection_and_counts() {
    let server = Known::http().status(404).header("X-Colour", "red").body("gone").start().unwrap();
    let expected = "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nX-Colour: red\r\n\r\ngone";
    let mut stream = connect(&server);
    let before = Instant::now();
    ask(&mut stream, expected);
    ask(&mut stream, expected);
    // Two at once, in pieces.
    let two = [GET, GET].concat();
    stream.write_all(&two[..30]).unwrap();
    stream.write_all(&two[30..]).unwrap();
    assert_eq!(read_exact(&mut stream, 2 * expected.len()), expected.repeat(2));
    let arrivals = server.arrivals();
    assert!(arrivals.is_sorted() && arrivals[0] >= before && arrivals[3] <= Instant::now());
    wait_until("the last answer is counted", || server.stats().replies == 4);
    let stats = server.stats();
    assert_eq!((stats.connections, stats.open, stats.requests, stats.resets), (1, 1, 4, 0));
    assert_eq!((stats.bytes_in, stats.bytes_out), (4 * GET.len() as u64, 4 * expected.len() as u64));
    drop(stream);
    wait_until("the close is noticed", || server.stats().open == 0);
    server.forget();
    assert_eq!((server.stats(), server.arrivals().len()), (KnownStats::default(), 0));
}

#[test]
fn the_client_s_wish_to_close_is_met() {
    let server = Known::http().start().unwrap();
    let mut stream = connect(&server);
    stream.write_all(b"HEAD / HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
    assert_eq!(rest(&mut stream).unwrap(), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
}

#[test]
fn delays_are_kept_and_run_at_the_same_time() {
    let delay = Duration::from_millis(200);
    let server = Known::http().delay(delay).start().unwrap();
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| ask(&mut connect(&server), &http("ok")));
        }
    });
    let took = began.elapsed();
    assert!(took >= delay && took < delay * 7, "{took:?}");
}

#[test]
fn delays_are_finer_than_tokio_s_millisecond() {
    let server =
        Known::http().delay_by(|n| Duration::from_micros(if n == 1 { 0 } else { 300 })).start().unwrap();
    let mut stream = connect(&server);
    let mut times: Vec<Duration> = (0..200)
        .map(|_| {
            let began = Instant::now();
            ask(&mut stream, &http("ok"));
            began.elapsed()
        })
        .collect();
    times.remove(0);
    times.sort();
    assert!(times[0] >= Duration::from_micros(300), "{:?}", times[0]);
    // tokio's own timer would take 1 ms and more for every one of them.
    if cfg!(target_os = "linux") {
        assert!(times[20] < Duration::from_millis(1), "{:?}", times[20]);
    }
}

#[test]
fn a_limit_makes_it_a_queue_of_known_capacity() {
    let server = Known::http().delay(Duration::from_millis(100)).at_once(2).start().unwrap();
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| ask(&mut connect(&server), &http("ok")));
        }
    });
    assert!(began.elapsed() >= Duration::from_millis(300), "{:?}", began.elapsed());
}

#[test]
fn exceptions_come_first_in_the_order_given() {
    let server = Known::http()
        .first(2, Reply::http(503, ""))
        .every(3, Reply::http(200, "hello").truncated(2).reset())
        .every(6, Reply::raw("never reached"))
        .start()
        .unwrap();
    let mut stream = connect(&server);
    let loading = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
    ask(&mut stream, loading);
    ask(&mut stream, loading);
    stream.write_all(GET).unwrap();
    let cut = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe";
    let mut text = String::new();
    let error = stream.read_to_string(&mut text).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    assert!(cut.starts_with(&text), "{text}");
    let mut stream = connect(&server);
    ask(&mut stream, &http("ok"));
    ask(&mut stream, &http("ok"));
    stream.write_all(GET).unwrap();
    assert!(rest(&mut stream).is_err(), "the sixth");
    assert_eq!(server.stats().resets, 2);
}

#[test]
fn a_drip_is_slow_and_whole() {
    let server = Known::http().body("slow!").drip(Duration::from_millis(40)).close().start().unwrap();
    let mut stream = connect(&server);
    let began = Instant::now();
    stream.write_all(GET).unwrap();
    assert_eq!(rest(&mut stream).unwrap(), http("slow!"));
    assert!(began.elapsed() >= Duration::from_millis(200));
}

#[test]
fn in_a_stall_nothing_is_answered_and_afterwards_everything() {
    let stall = Duration::from_millis(200)..Duration::from_millis(600);
    let server = Known::http().stall(stall.clone()).start().unwrap();
    let mut stream = connect(&server);
    let began = Instant::now();
    ask(&mut stream, &http("ok"));
    let mut longest = Duration::ZERO;
    while began.elapsed() < Duration::from_secs(1) {
        let asked = Instant::now();
        ask(&mut stream, &http("ok"));
        longest = longest.max(asked.elapsed());
    }
    // The stall counts from the first request's arrival, which is after `began`; whatever is asked within it is
    // answered at its end.
    assert!(longest >= Duration::from_millis(200), "{longest:?}");
    let arrivals = server.arrivals();
    let within = arrivals.iter().filter(|&&at| stall.contains(&(at - arrivals[0]))).count();
    assert!(within <= 1, "one connection can wait with one request: {within}");
}

#[test]
fn pause_and_resume_hold_back_and_deliver() {
    let server = Known::http().start().unwrap();
    server.pause();
    let mut stream = connect(&server);
    stream.write_all(GET).unwrap();
    wait_until("the request is read", || server.stats().requests == 1);
    stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let mut byte = [0];
    assert_eq!(stream.read(&mut byte).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    server.resume();
    assert_eq!(read_exact(&mut stream, http("ok").len()), http("ok"));
}

#[test]
fn other_protocols_echo_and_silence() {
    let server = Known::raw("+PONG\r\n").start().unwrap();
    let mut stream = connect(&server);
    stream.write_all(b"PING\r\n").unwrap();
    assert_eq!(read_exact(&mut stream, 7), "+PONG\r\n");

    let server = Known::echo().start().unwrap();
    let mut stream = connect(&server);
    stream.write_all(b"abc").unwrap();
    assert_eq!(read_exact(&mut stream, 3), "abc");

    let server = Known::silent().start().unwrap();
    let mut stream = connect(&server);
    stream.write_all(GET).unwrap();
    wait_until("it reads", || server.stats().bytes_in == GET.len() as u64);
    assert_eq!((server.stats().requests, server.stats().replies), (1, 0));
    // Dropping it closes what is open.
    drop(server);
    assert_eq!(rest(&mut stream).unwrap_or_default(), "");
}

#[test]
fn connections_over_the_limit_are_reset() {
    let server = Known::http().max_connections(1).start().unwrap();
    let mut first = connect(&server);
    ask(&mut first, &http("ok"));
    let mut second = connect(&server);
    // Without a write, which could be what meets the reset.
    assert_eq!(rest(&mut second).unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    ask(&mut first, &http("ok"));
    assert_eq!((server.stats().connections, server.stats().resets), (2, 1));
}

#[test]
fn it_can_be_started_again_on_its_port_and_refuses_bad_scripts() {
    let server = Known::http().start().unwrap();
    let port = server.addr().port();
    ask(&mut connect(&server), &http("ok"));
    assert!(matches!(Known::http().port(port).start(), Err(Error::Io { .. })), "taken");
    drop(server);
    let server = Known::http().port(port).start().unwrap();
    ask(&mut connect(&server), &http("ok"));

    let second = Duration::from_secs(1);
    for (builder, field) in [
        (Known::http().every(0, Reply::silent()), "every"),
        (Known::http().at_once(0), "at_once"),
        (Known::http().stall(second..second), "stall"),
    ] {
        assert!(matches!(builder.start(), Err(Error::Config { field: f, .. }) if f == field));
    }
}
