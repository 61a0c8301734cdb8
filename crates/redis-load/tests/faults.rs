//! Servers that are killed, frozen, full, loading, or not what they seem: each is a counted class in time, and the books of
//! every operation balance. With either client.

mod common;

use common::{Driver, Peer, Requests, Server, answer, on_worker, with_each_client};
use load_core::{Class, Failure};
use redis_load::{Client, Command, Keys, Payload, Redis, Target};
use std::{
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

const CLIENTS: [Client; 2] = [Client::Lean, Client::Fred];

/// Commands with a key of nobody's, which need no space.
fn get() -> Command {
    Command::custom("GET").arg("k").reads()
}

fn set() -> Command {
    Command::custom("SET").arg("k").arg("v")
}

fn load(target: &Target, client: Client, command: Command, depth: usize) -> Redis {
    Redis::at(target).command(command).pipeline(depth).client(client).build().unwrap()
}

/// The session is of no more use, and nobody knows what became of the request.
fn lost(failure: &Failure) -> bool {
    failure.needs_reconnect() && failure.is_unknown()
}

#[test]
fn real_a_server_that_is_killed_and_started_again() {
    let Some(server) = Server::start(&[]) else { return };
    for client in CLIENTS {
        let workload = load(&server.target(), client, get(), 10);
        on_worker(async {
            let mut driver = Driver::connect(&workload).await.unwrap();
            driver.many(5).await;
            server.kill();
            let failure = driver.once().await.unwrap_err();
            assert!(matches!(failure.class(), Class::Closed | Class::Reset), "{client}: {failure:?}");
            assert!(failure.needs_reconnect());
            let said = driver.op.said();
            assert_eq!((said.units, said.failed_units), (0, 10), "{client}: pending commands have failed");
            let refused = Driver::connect(&workload).await.err().unwrap();
            assert_eq!(
                (refused.class(), refused.code()),
                (Class::Connect, "refused"),
                "{client}: {refused:?}"
            );
        });
        server.start_again();
        on_worker(async {
            Driver::connect(&workload).await.unwrap().many(5).await;
        });
    }
}

#[test]
fn real_connections_killed_in_flight_are_lost_with_what_was_pending() {
    with_each_client(&[], async |server, client| {
        let blocked = Command::custom("BLPOP").arg("nothing").arg("0");
        let mut driver = Driver::connect(&load(&server.target(), client, blocked, 3)).await.unwrap();
        let kill = async {
            while !server.cli(&["INFO", "clients"]).contains("blocked_clients:1") {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            server.cli(&["CLIENT", "KILL", "TYPE", "normal"]);
        };
        let (outcome, ()) = tokio::join!(driver.once(), kill);
        let failure = outcome.unwrap_err();
        assert!(
            matches!(failure.class(), Class::Closed | Class::Reset) && lost(&failure),
            "{client}: {failure:?}"
        );
        assert_eq!(driver.op.said().failed_units, 3);
    });
}

#[test]
fn a_pipeline_cut_in_the_middle_counts_what_was_answered() {
    for client in CLIENTS {
        let peer = Peer::start(|_, stream| {
            let mut answered = 0;
            let out = stream.try_clone().unwrap();
            answer(stream, |_| {
                answered += 1;
                if answered == 4 {
                    // Half of a reply, then the end.
                    let _ = (&out).write_all(b"$5\r\nab");
                    std::thread::sleep(Duration::from_millis(100));
                    let _ = out.shutdown(std::net::Shutdown::Both);
                }
                "$1\r\nv\r\n".to_owned()
            });
        });
        on_worker(async {
            let mut driver = Driver::connect(&load(&peer.target(), client, get(), 10)).await.unwrap();
            let failure = driver.once().await.unwrap_err();
            assert!(
                matches!(failure.class(), Class::Closed | Class::Reset) && lost(&failure),
                "{client}: {failure:?}"
            );
            let said = driver.op.said();
            assert_eq!((said.units, said.failed_units), (3, 7), "{client}");
            assert_eq!(driver.counts()["hits"], 3);
        });
    }
}

#[test]
fn real_a_frozen_server_times_out_and_thaws() {
    with_each_client(&[], async |server, client| {
        let limit = Duration::from_millis(300);
        let target = server.target().timeout(limit).connect_timeout(limit);
        let workload = load(&target, client, Command::custom("INCR").arg("n"), 4);
        let mut driver = Driver::connect(&workload).await.unwrap();
        driver.many(2).await;
        server.process().pause().unwrap();
        let start = Instant::now();
        let failure = driver.once().await.unwrap_err();
        let waited = start.elapsed();
        let refused = Driver::connect(&workload).await.err().unwrap();
        server.process().resume().unwrap();
        assert_eq!((failure.class(), failure.code()), (Class::Timeout, "command"), "{client}: {failure:?}");
        assert!(lost(&failure));
        assert!((limit..limit * 20).contains(&waited), "{client}: {waited:?}");
        assert_eq!(driver.op.said().failed_units, 4);
        // Its kernel takes the connection, so that only the handshake or the first command tells.
        assert!(matches!(refused.class(), Class::Connect), "{client}: {refused:?}");
        let patient = load(&server.target(), client, Command::custom("INCR").arg("n"), 4);
        Driver::connect(&patient).await.unwrap().many(2).await;
    });
}

#[test]
fn a_late_answer_is_never_taken_for_anothers() {
    for client in CLIENTS {
        let peer = Peer::start(|_, stream| {
            let mut number = 0;
            answer(stream, |_| {
                number += 1;
                if number == 2 {
                    std::thread::sleep(Duration::from_millis(600));
                }
                format!("$1\r\n{number}\r\n")
            });
        });
        on_worker(async {
            let target = peer.target().timeout(Duration::from_millis(200));
            let mut driver = Driver::connect(&load(&target, client, get(), 1)).await.unwrap();
            driver.many(1).await;
            assert_eq!(driver.once().await.unwrap_err().class(), Class::Timeout);
            if client == Client::Lean {
                // The engine makes a new session. If it did not, the old one would refuse.
                let failure = driver.once().await.unwrap_err();
                assert_eq!(
                    (failure.class(), failure.is_unknown()),
                    (Class::Cancelled, false),
                    "nothing was sent"
                );
                assert!(failure.needs_reconnect());
            }
            Driver::connect(&load(&target, client, get(), 1)).await.unwrap().many(1).await;
        });
    }
}

#[test]
fn an_operation_that_is_dropped_leaves_no_answer_behind() {
    let peer = Peer::start(|_, stream| {
        answer(stream, |_| {
            std::thread::sleep(Duration::from_millis(100));
            "$1\r\nv\r\n".to_owned()
        });
    });
    on_worker(async {
        let mut driver = Driver::connect(&load(&peer.target(), Client::Lean, get(), 1)).await.unwrap();
        assert!(tokio::time::timeout(Duration::from_millis(20), driver.once()).await.is_err());
        tokio::time::sleep(Duration::from_millis(200)).await;
        let failure = driver.once().await.unwrap_err();
        assert_eq!(failure.class(), Class::Cancelled);
        assert_eq!(driver.op.said().bytes_in, 0, "the late answer was not even looked at");
    });
}

#[test]
fn real_a_full_server_refuses_and_what_it_takes_is_counted_apart() {
    with_each_client(&["--maxmemory", "6mb", "--maxmemory-policy", "noeviction"], async |server, client| {
        let space = server.target().isolate().open().await.unwrap();
        let workload = |depth| {
            Redis::within(&space)
                .command(Command::set())
                .keys(Keys::sequential(20_000))
                .payload(Payload::fixed(1024))
                .pipeline(depth)
                .client(client)
                .build()
                .unwrap()
        };
        let mut driver = Driver::connect(&workload(100)).await.unwrap();
        let (mut good, mut bad, mut counted, mut failures) = (0, 0, 0, 0);
        for _ in 0..200 {
            let outcome = driver.once().await;
            let said = driver.op.said();
            assert_eq!(said.units + said.failed_units, 100);
            (good, bad) = (good + said.units, bad + said.failed_units);
            match outcome {
                Ok(()) => counted += driver.counts().get("error.OOM").copied().unwrap_or(0),
                Err(failure) => {
                    assert_eq!((failure.class(), failure.code()), (Class::Redis, "OOM"), "{client}");
                    assert!(!failure.needs_reconnect() && !failure.is_unknown());
                    failures += 1;
                    counted += said.failed_units;
                }
            }
        }
        assert_eq!(good + bad, 20_000, "{client}");
        assert!(good > 500 && bad > 5000 && failures > 0, "{client}: {good} {bad} {failures}");
        assert_eq!(bad, counted, "{client}: each refusal is counted by its word");
        // Cleaning up works on a full server.
        let check = space.cleanup().await;
        assert!(check.passed, "{}", check.detail);
        assert_eq!(server.cli15(&["DBSIZE"]), "0");
    });
}

#[test]
fn real_a_replica_refuses_writes() {
    with_each_client(&["--replicaof", "127.0.0.1 1"], async |server, client| {
        let mut driver = Driver::connect(&load(&server.target(), client, set(), 1)).await.unwrap();
        let failure = driver.once().await.unwrap_err();
        assert_eq!((failure.class(), failure.code()), (Class::Redis, "READONLY"), "{client}");
        assert!(!failure.needs_reconnect());
    });
}

#[test]
fn real_a_server_that_loads_its_data_says_so() {
    let Some(server) =
        Server::start(&["--key-load-delay", "300", "--loading-process-events-interval-bytes", "1024"])
    else {
        return;
    };
    on_worker(async {
        let space = server.target().isolate().open().await.unwrap();
        let fill = Redis::within(&space)
            .command(Command::set())
            .keys(Keys::sequential(20_000))
            .payload(Payload::fixed(200))
            .pipeline(1000)
            .build()
            .unwrap();
        Driver::connect(&fill).await.unwrap().many(20).await;
        assert_eq!(server.cli(&["SAVE"]), "OK");
        // 20,000 keys at 0.3 ms each: six seconds of loading.
        server.process().restart_unawaited().await.unwrap();
        let end = Instant::now() + Duration::from_secs(20);
        while std::net::TcpStream::connect(server.address()).is_err() {
            assert!(Instant::now() < end, "it does not listen");
        }
        for client in CLIENTS {
            match Driver::connect(&load(&server.target(), client, get(), 1)).await {
                Ok(mut driver) => {
                    let failure = driver.once().await.unwrap_err();
                    assert_eq!((failure.class(), failure.code()), (Class::Redis, "LOADING"), "{client}");
                    assert!(!failure.needs_reconnect());
                }
                // fred asks PING by itself before it calls a connection one.
                Err(failure) => {
                    assert_eq!((failure.class(), failure.code()), (Class::Redis, "LOADING"), "{client}");
                    assert_eq!(client, Client::Fred);
                }
            }
        }
        let said = server.target().isolate().open().await.unwrap_err().to_string();
        assert!(said.contains("LOADING"), "{said}");
        // A second one waits until it is ready, and the first clears its keys.
        let patient = server.target().isolate().wait_ready(Duration::from_secs(60)).open().await.unwrap();
        assert!(patient.cleanup().await.passed);
        let check = space.cleanup().await;
        assert!(check.passed && check.detail.contains("20000 keys"), "{}", check.detail);
    });
}

#[test]
fn redirections_and_other_words_of_a_cluster_are_counted_not_followed() {
    const WORDS: [&str; 4] =
        ["MOVED 3999 127.0.0.1:1", "ASK 1 127.0.0.1:1", "TRYAGAIN Multiple keys", "CLUSTERDOWN down"];
    for client in CLIENTS {
        // fred takes CLUSTERDOWN for the end of the connection.
        let words = if client == Client::Fred { &WORDS[..3] } else { &WORDS[..] };
        let connections = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&connections);
        let peer = Peer::start(move |_, stream| {
            seen.fetch_add(1, Ordering::Relaxed);
            let mut number = 0;
            answer(stream, |_| {
                number += 1;
                format!("-{}\r\n", words[number % words.len()])
            });
        });
        on_worker(async {
            let mut driver = Driver::connect(&load(&peer.target(), client, get(), 1)).await.unwrap();
            for n in 1..40 {
                let failure = driver.once().await.unwrap_err();
                let word = words[n % words.len()].split(' ').next().unwrap();
                assert_eq!((failure.class(), failure.code()), (Class::Redis, word), "{client}");
                assert!(!failure.needs_reconnect() && !failure.is_unknown(), "{client}: {failure:?}");
                if word == "MOVED" {
                    assert!(failure.describe().contains("not followed"), "{failure:?}");
                }
            }
            let mut driver = Driver::connect(&load(&peer.target(), client, get(), 8)).await.unwrap();
            assert_eq!(driver.once().await.unwrap_err().code(), "ASK", "{client}: the first one");
            assert_eq!(driver.op.said().failed_units, 8);
        });
        assert_eq!(connections.load(Ordering::Relaxed), 2, "{client}: nothing else was connected");
    }
}

#[test]
fn a_batch_of_which_some_failed_is_no_failure_but_says_so() {
    for client in CLIENTS {
        let peer = Peer::start(|_, stream| {
            let mut number = 0;
            answer(stream, |_| {
                number += 1;
                let replies = ["+OK\r\n", "-MOVED 1 h:1\r\n", "-OOM full\r\n", "-NEWWORD x\r\n"];
                replies[number % 4].to_owned()
            });
        });
        on_worker(async {
            let mut driver = Driver::connect(&load(&peer.target(), client, set(), 8)).await.unwrap();
            driver.once().await.unwrap();
            let said = driver.op.said();
            assert_eq!((said.units, said.failed_units), (2, 6), "{client}");
            let counts = driver.counts();
            assert_eq!(
                [counts["error.MOVED"], counts["error.OOM"], counts["error.other"]],
                [2, 2, 2],
                "{client}"
            );
        });
    }
}

#[test]
fn what_is_not_redis_is_a_protocol_failure() {
    let hostile: &[&[u8]] = &[
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"$-5\r\n",
        b"$99999999999999999999999\r\n",
        b"*2\r\n>1\r\n+x\r\n",
        b"\xff\xfe\xfd",
    ];
    for (number, reply) in hostile.iter().enumerate() {
        let reply = *reply;
        let peer = Peer::start(move |_, stream| {
            let mut out = stream.try_clone().unwrap();
            for _ in Requests::new(&stream) {
                let _ = out.write_all(reply);
            }
        });
        on_worker(async {
            let mut driver = Driver::connect(&load(&peer.target(), Client::Lean, get(), 1)).await.unwrap();
            let failure = driver.once().await.unwrap_err();
            assert_eq!(failure.class(), Class::Protocol, "{number}: {failure:?}");
            assert!(lost(&failure));
        });
    }
}

#[test]
fn bytes_that_nobody_asked_for_end_the_session() {
    // More than was asked for, at once and later.
    for pause in [Duration::ZERO, Duration::from_millis(50)] {
        let peer = Peer::start(move |_, stream| {
            let mut out = stream.try_clone().unwrap();
            for _ in Requests::new(&stream) {
                let _ = out.write_all(b"$1\r\na\r\n");
                std::thread::sleep(pause);
                let _ = out.write_all(b"$1\r\nb\r\n");
            }
        });
        on_worker(async {
            let mut driver = Driver::connect(&load(&peer.target(), Client::Lean, get(), 1)).await.unwrap();
            let first = driver.once().await;
            tokio::time::sleep(Duration::from_millis(150)).await;
            let second = driver.once().await;
            let failure = first.and(second).unwrap_err();
            assert_eq!((failure.class(), failure.code()), (Class::Protocol, "unasked reply"), "{pause:?}");
        });
    }
}

#[test]
fn push_messages_between_answers_are_passed_over() {
    let peer = Peer::start(|_, stream| {
        let mut out = stream.try_clone().unwrap();
        for _ in Requests::new(&stream) {
            // In pieces, before and after an answer.
            for piece in [&b">2\r\n+inva"[..], b"lidate\r\n*0\r\n$1\r\nv\r\n>1\r\n+a", b"fter\r\n"] {
                let _ = out.write_all(piece);
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    });
    on_worker(async {
        let mut driver = Driver::connect(&load(&peer.target(), Client::Lean, get(), 1)).await.unwrap();
        assert_eq!(driver.many(5).await.counts["hits"], 5);
    });
}

#[test]
fn real_a_session_that_cannot_be_opened_says_why() {
    let Some(server) = Server::start(&["--databases", "4"]) else { return };
    on_worker(async {
        let secret = "wr0ngsecret";
        for client in CLIENTS {
            let fails = async |target: Target| {
                let failure = Driver::connect(&load(&target, client, get(), 1)).await.err().unwrap();
                assert!(!failure.describe().contains(secret), "{client}: {failure:?}");
                (failure.class(), failure.code().to_owned(), failure.describe())
            };
            let base = server.target().database(0);
            for protocol in [redis_load::Protocol::Resp2, redis_load::Protocol::Resp3] {
                let wrong = fails(base.clone().password(secret).protocol(protocol)).await;
                assert_eq!((wrong.0, wrong.1.as_str()), (Class::Redis, "WRONGPASS"), "{client}");
            }
            let range = fails(base.clone().database(7)).await;
            assert!(range.0 == Class::Redis && range.2.contains("no database 7"), "{client}: {}", range.2);
            let dns = fails(Target::url("redis://no-such-host.invalid").unwrap()).await;
            assert_eq!(dns.0, Class::Dns, "{client}: {}", dns.2);
            let none = fails(Target::unix("/nonexistent/redis.sock")).await;
            assert_eq!(none.0, Class::Connect, "{client}: {}", none.2);
            // Without a password the connection is made and each command is refused.
            let open = Target::address(server.address()).database(0);
            match Driver::connect(&load(&open, client, get(), 1)).await {
                Ok(mut driver) => assert_eq!(driver.once().await.unwrap_err().code(), "NOAUTH", "{client}"),
                Err(failure) => assert_eq!(failure.code(), "NOAUTH", "{client}: {failure:?}"),
            }
        }
    });
}

#[test]
fn real_eight_megabytes_eight_at_a_time() {
    with_each_client(&[], async |server, client| {
        let space = server.target().isolate().open().await.unwrap();
        let workload = |command| {
            Redis::within(&space)
                .command(command)
                .keys(Keys::sequential(8))
                .payload(Payload::fixed(8 << 20))
                .pipeline(8)
                .client(client)
                .build()
                .unwrap()
        };
        let sums = Driver::connect(&workload(Command::set())).await.unwrap().many(2).await;
        assert!(sums.bytes_out > 16 * (8 << 20), "{client}");
        let sums = Driver::connect(&workload(Command::get())).await.unwrap().many(1).await;
        assert!(sums.bytes_in > 8 * (8 << 20), "{client}");
        assert_eq!(sums.counts["hits"], 8);
        assert!(space.cleanup().await.passed);
    });
}
