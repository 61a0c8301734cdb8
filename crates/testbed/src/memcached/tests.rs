use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use super::*;
use crate::Error;

macro_rules! start {
    ($builder:expr) => {
        match $builder.start_blocking() {
            Err(error) if error.is_missing() => {
                eprintln!("SKIPPED: {error}");
                return;
            }
            result => result,
        }
    };
}

fn command(memcached: &Memcached, command: &str) -> String {
    let mut stream = TcpStream::connect(memcached.addr()).unwrap();
    stream.write_all(format!("{command}\r\nquit\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn it_stores_restarts_empty_and_leaves_nothing() {
    let memcached = start!(Memcached::builder().memory_megabytes(16).threads(2)).unwrap();
    assert_eq!(command(&memcached, "set a 0 0 5\r\nhello"), "STORED\r\n");
    assert_eq!(command(&memcached, "get a"), "VALUE a 0 5\r\nhello\r\nEND\r\n");
    let settings = command(&memcached, "stats settings");
    assert!(
        settings.contains("STAT num_threads 2\r\n") && settings.contains("STAT maxbytes 16777216\r\n"),
        "{settings}"
    );
    assert_eq!(memcached.describe().settings["threads"], "2");
    memcached.process().restart_blocking().unwrap();
    assert_eq!(command(&memcached, "get a"), "END\r\n");
    let dir = memcached.process().dir().to_owned();
    drop(memcached);
    assert!(!dir.exists());
}

#[test]
fn what_is_wrong_is_said() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let error = start!(Memcached::builder().port(taken.local_addr().unwrap().port())).unwrap_err();
    assert!(error.to_string().contains("Address already in use"), "{error}");
    let other = start!(Memcached::builder()).unwrap();
    let error = start!(Memcached::builder().port(other.addr().port())).unwrap_err();
    assert!(matches!(error, Error::Exited { .. }), "another memcached is not taken for ours: {error}");
    let error = Memcached::builder().threads(0).start_blocking().unwrap_err();
    assert!(matches!(error, Error::Config { field: "threads", .. }));
    let missing = Memcached::builder().binary("/no/such/memcached").start_blocking().unwrap_err();
    assert!(missing.is_missing() && missing.to_string().contains("apt install memcached"));
}
