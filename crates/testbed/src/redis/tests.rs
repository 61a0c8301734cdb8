use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

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

/// Sends inline commands after the password; returns all answers.
fn command(redis: &Redis, commands: &str) -> String {
    let mut stream = TcpStream::connect(redis.addr()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(format!("AUTH {}\r\n{commands}\r\nQUIT\r\n", redis.password()).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn it_answers_to_its_password_only_and_leaves_nothing() {
    let redis = start!(Redis::builder().config("maxmemory", "100mb")).unwrap();
    assert_eq!(command(&redis, "SET a 1"), "+OK\r\n+OK\r\n+OK\r\n");
    assert!(command(&redis, "CONFIG GET maxmemory").contains("104857600"));
    let mut stranger = TcpStream::connect(redis.addr()).unwrap();
    stranger.write_all(b"GET a\r\n").unwrap();
    let mut answer = [0; 7];
    stranger.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"-NOAUTH");

    assert!(!format!("{redis:?}").contains(redis.password()), "not in Debug");
    assert!(redis.url_with_password().ends_with(&format!("{}/0", redis.addr())));
    let args = std::fs::read(format!("/proc/{}/cmdline", redis.pid())).unwrap();
    assert!(!String::from_utf8_lossy(&args).contains(redis.password()), "not where others see it");
    let description = redis.describe();
    assert_eq!(description.version.as_deref(), Some(redis.version()));
    assert_eq!(description.settings["maxmemory"], "100mb");

    let dir = redis.process().dir().to_owned();
    drop(redis);
    assert!(!dir.exists());
}

#[test]
fn what_is_on_disk_survives_a_restart_and_a_crash() {
    let redis = start!(Redis::builder().appendonly(true).config("appendfsync", "always")).unwrap();
    command(&redis, "SET marker here");
    redis.process().restart_blocking().unwrap();
    assert!(command(&redis, "GET marker").contains("here"));
    command(&redis, "SET marker there");
    redis.process().kill().unwrap();
    redis.process().start_blocking().unwrap();
    assert!(command(&redis, "GET marker").contains("there"));

    let forgetful = start!(Redis::builder()).unwrap();
    command(&forgetful, "SET marker here");
    forgetful.process().restart_blocking().unwrap();
    assert!(!command(&forgetful, "GET marker").contains("here"));

    let saving = start!(Redis::builder().save("3600 1")).unwrap();
    command(&saving, "SET marker here");
    saving.process().restart_blocking().unwrap();
    assert!(command(&saving, "GET marker").contains("here"));
}

#[test]
fn errors_show_redis_s_words_but_no_secret() {
    let error = start!(Redis::builder().config("wombat", "on")).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }) && error.to_string().contains("wombat"), "{error}");

    let error = start!(Redis::builder().config("masterauth", "hunter2 too many")).unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(text.contains("masterauth") && !text.contains("hunter2"), "{text}");
    assert!(!format!("{:?}", Redis::builder().config("masterauth", "hunter2")).contains("hunter2"));

    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let error = start!(Redis::builder().port(taken.local_addr().unwrap().port())).unwrap_err();
    assert!(error.to_string().contains("Address already in use"), "{error}");

    for (builder, field) in [
        (Redis::builder().config("a b", "c"), "config"),
        (Redis::builder().config("a", "b\nrequirepass x"), "config"),
        (Redis::builder().save("often"), "save"),
    ] {
        assert!(matches!(builder.start_blocking(), Err(Error::Config { field: f, .. }) if f == field));
    }
    let missing = Redis::builder().binary("/no/such/redis").start_blocking().unwrap_err();
    assert!(missing.is_missing() && missing.to_string().contains("apt install redis-server"));
}
