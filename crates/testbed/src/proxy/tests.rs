use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream as Client;
use std::time::Instant;

use super::*;
use crate::Known;

fn connect(proxy: &FaultProxy) -> Client {
    let client = Client::connect(proxy.addr()).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    client.set_nodelay(true).unwrap();
    client
}

fn echo() -> (Known, FaultProxy) {
    let server = Known::echo().start().unwrap();
    let proxy = FaultProxy::start(server.addr()).unwrap();
    (server, proxy)
}

fn round_trip(client: &mut Client) -> Duration {
    let began = Instant::now();
    client.write_all(b"hello").unwrap();
    let mut answer = [0; 5];
    client.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"hello");
    began.elapsed()
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn without_a_fault_it_forwards_and_closes_as_it_is_told() {
    let (server, proxy) = echo();
    let mut client = connect(&proxy);
    round_trip(&mut client);
    // More than what is on the way at once, both ways at the same time.
    let big = vec![7; 8 << 20];
    let mut reader = client.try_clone().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| client.write_all(&big).unwrap());
        let mut back = vec![0; big.len()];
        reader.read_exact(&mut back).unwrap();
        assert!(back == big);
    });
    assert_eq!(proxy.open(), 1);
    drop((client, reader));
    wait_until("the close arrives at the server", || server.stats().open == 0 && proxy.open() == 0);
}

#[test]
fn a_delay_counts_each_way_and_can_be_ended() {
    let (_server, proxy) = echo();
    let mut client = connect(&proxy);
    proxy.delay(Duration::from_millis(100));
    assert!(round_trip(&mut client) >= Duration::from_millis(200));
    // A delay is no rate: what is sent at once arrives at once.
    let began = Instant::now();
    for _ in 0..10 {
        client.write_all(b"x").unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    client.read_exact(&mut [0; 10]).unwrap();
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    proxy.heal();
    let quick = (0..20).map(|_| round_trip(&mut client)).min().unwrap();
    assert!(quick < Duration::from_millis(100), "{quick:?}");
}

#[test]
fn a_throttle_keeps_its_rate() {
    let server = Known::http().body(vec![b'x'; 20_000]).close().start().unwrap();
    let proxy = FaultProxy::start(server.addr()).unwrap();
    proxy.throttle(40_000);
    let mut client = connect(&proxy);
    let began = Instant::now();
    client.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut all = Vec::new();
    client.read_to_end(&mut all).unwrap();
    assert!(all.len() > 20_000);
    // The last piece is on its way before its time has passed.
    assert!(began.elapsed() >= Duration::from_millis(470), "{:?}", began.elapsed());
}

#[test]
fn a_black_hole_holds_everything_also_of_new_connections_and_then_delivers() {
    let (server, proxy) = echo();
    let mut old = connect(&proxy);
    round_trip(&mut old);
    proxy.blackhole(true);
    let mut new = connect(&proxy);
    for client in [&mut old, &mut new] {
        client.write_all(b"lost?").unwrap();
        client.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        assert_eq!(client.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    }
    assert_eq!(server.stats().bytes_in, 5, "only what came before");
    proxy.blackhole(false);
    for client in [&mut old, &mut new] {
        let mut answer = [0; 5];
        client.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"lost?");
    }
}

#[test]
fn a_reset_reaches_both_sides_and_new_connections_work() {
    let (server, proxy) = echo();
    let mut client = connect(&proxy);
    round_trip(&mut client);
    proxy.reset_all();
    assert_eq!(client.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    wait_until("the server notices", || server.stats().open == 0);
    round_trip(&mut connect(&proxy));

    proxy.refuse(true);
    let mut refused = connect(&proxy);
    // Without a write, which could be what meets the reset.
    assert_eq!(refused.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    proxy.heal();
    round_trip(&mut connect(&proxy));
}

#[test]
fn half_a_close_ends_one_direction() {
    let (server, proxy) = echo();
    let mut client = connect(&proxy);
    round_trip(&mut client);
    proxy.half_close(Side::Client);
    assert_eq!(client.read(&mut [0]).unwrap(), 0, "the end of the stream");
    // The other way still works.
    client.write_all(b"more").unwrap();
    wait_until("the server reads on", || server.stats().bytes_in == 9);

    let mut client = connect(&proxy);
    round_trip(&mut client);
    proxy.half_close(Side::Server);
    wait_until("the server sees the end and closes", || server.stats().open <= 1);
    assert_eq!(client.read(&mut [0]).unwrap(), 0, "and so does the client, from the server");
}

#[test]
fn resets_of_the_server_are_passed_on() {
    let server = Known::raw("bye").reset().start().unwrap();
    let proxy = FaultProxy::start(server.addr()).unwrap();
    let mut client = connect(&proxy);
    client.write_all(b"hello").unwrap();
    let mut all = Vec::new();
    assert_eq!(client.read_to_end(&mut all).unwrap_err().kind(), ErrorKind::ConnectionReset);
    // A port that is taken, so that the proxy itself cannot get it, and on which nobody listens.
    let taken = tokio::net::TcpSocket::new_v4().unwrap();
    taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let proxy = FaultProxy::start(taken.local_addr().unwrap()).unwrap();
    let mut client = connect(&proxy);
    assert_eq!(client.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
}
