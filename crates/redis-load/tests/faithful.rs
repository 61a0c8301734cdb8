//! What goes over the wire, beside what redis-benchmark sends.

mod common;

use common::{Driver, Server, on_worker};
use redis_load::{Command, Keys, Redis};
use std::{
    fs::File,
    process::{self, Stdio},
    thread,
    time::{Duration, Instant},
};

/// The commands that the server saw in database 15 while `run` ran, as lists of arguments.
fn seen(server: &Server, run: impl FnOnce()) -> Vec<Vec<String>> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("monitor.txt");
    let mut monitor = server.redis_cli().arg("monitor").stdout(File::create(&path).unwrap()).spawn().unwrap();
    let wait_for = |text: &str| {
        let end = Instant::now() + Duration::from_secs(20);
        while Instant::now() < end && !std::fs::read_to_string(&path).unwrap().contains(text) {
            thread::sleep(Duration::from_millis(5));
        }
    };
    wait_for("OK");
    run();
    server.cli(&["ECHO", "that was all"]);
    wait_for("that was all");
    monitor.kill().unwrap();
    monitor.wait().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    text.lines()
        .filter_map(|line| line.split_once("[15 ")?.1.split_once("] "))
        .map(|(_, args)| args.trim_matches('"').split("\" \"").map(str::to_owned).collect())
        .filter(|args: &Vec<String>| {
            // What is said around the load, by either.
            !["CONFIG", "HGETALL", "SCAN", "EXISTS", "HSETNX", "HDEL", "UNLINK"].contains(&args[0].as_str())
                && !args.iter().any(|a| a.starts_with("openloop:"))
                && args[0] != "SELECT"
                && args[0] != "AUTH"
        })
        .collect()
}

/// An argument without what may differ: keys are compared by their length, numbers by being numbers.
fn shape(argument: &str) -> String {
    let (head, tail) = argument.split_at(argument.len().saturating_sub(12));
    let digits = tail.len() == 12 && (tail.bytes().all(|b| b.is_ascii_digit()) || tail == "__rand_int__");
    match (digits, head) {
        (true, "element:" | "") => format!("{head}<12 digits>"),
        (true, _) => format!("key of {}", argument.len()),
        _ if argument.starts_with("my") && argument != "myfield" || argument.starts_with('~') => {
            format!("key of {}", argument.len())
        }
        _ => argument.to_owned(),
    }
}

#[test]
fn real_requests_are_those_of_redis_benchmark() {
    let Some(server) = Server::start(&[]) else { return };
    if process::Command::new("redis-benchmark").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("SKIPPED: no redis-benchmark on this machine");
        return;
    }
    for (keys, random) in [(Keys::uniform(1000), true), (Keys::one(), false)] {
        for command in Command::all() {
            let test = command.name();
            let theirs = seen(&server, || {
                let mut args = vec!["-p".to_owned(), server.address().port().to_string()];
                args.extend(["-a".to_owned(), server.password().to_owned()]);
                args.extend(["-n", "1", "-c", "1", "-q", "--dbnum", "15", "-t", test].map(str::to_owned));
                if random {
                    args.extend(["-r", "1000"].map(str::to_owned));
                }
                let done = process::Command::new("redis-benchmark")
                    .args(args)
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .status()
                    .unwrap();
                assert!(done.success());
            });
            server.cli15(&["DEL", "mylist", "myset", "myhash", "myzset", "mystream"]);
            for key in server.cli15(&["KEYS", "*"]).lines() {
                server.cli15(&["DEL", key]);
            }
            let ours = seen(&server, || {
                on_worker(async {
                    let space = server.target().isolate().open().await.unwrap();
                    let load =
                        Redis::within(&space).command(command.clone()).keys(keys.clone()).build().unwrap();
                    Driver::connect(&load).await.unwrap().many(1).await;
                    assert!(space.cleanup().await.passed);
                });
            });
            // Opening a space asks PING once more, LRANGE is preceded by an LPUSH, and older versions have no XADD.
            let shapes = |seen: &[Vec<String>]| {
                seen.last().map(|args| args.iter().map(|a| shape(a)).collect::<Vec<_>>())
            };
            match shapes(&theirs) {
                Some(theirs) => assert_eq!(shapes(&ours), Some(theirs), "{test}"),
                None => assert_eq!(test, "xadd", "redis-benchmark sent nothing"),
            }
        }
    }
}
