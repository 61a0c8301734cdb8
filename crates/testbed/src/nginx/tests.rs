use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::*;
use crate::proc::ProcessId;
use crate::process::ready::http_get;

/// Starts it, or says that the test is skipped.
macro_rules! start {
    ($builder:expr) => {
        match $builder.start_blocking() {
            Err(error) if error.is_missing() => {
                eprintln!("SKIPPED: {error}");
                return;
            }
            result => result.unwrap(),
        }
    };
}

macro_rules! fail {
    ($builder:expr) => {
        match $builder.start_blocking() {
            Err(error) if error.is_missing() => {
                eprintln!("SKIPPED: {error}");
                return;
            }
            result => result.unwrap_err(),
        }
    };
}

fn get(nginx: &Nginx, path: &str) -> (u16, Vec<u8>) {
    http_get(nginx.addr(), path).unwrap()
}

#[test]
fn it_serves_files_filler_and_inline_answers_and_leaves_nothing() {
    let nginx = start!(
        Nginx::builder()
            .worker_processes(2)
            .page("/a/b.html", "hello\n")
            .page_of_size("/blog.html", 5470)
            .inline("/inline", "say \"ok\"; \\")
            .extra_server_config("location = /extra { return 204; }")
            .extra_http_config("map $uri $unused { default 1; }")
    );
    assert_eq!(get(&nginx, "/").0, 200);
    assert_eq!(get(&nginx, "/").1.len(), 612);
    assert_eq!(get(&nginx, "/a/b.html"), (200, b"hello\n".to_vec()));
    assert_eq!(get(&nginx, "/blog.html").1.len(), 5470);
    assert_eq!(get(&nginx, "/inline"), (200, b"say \"ok\"; \\".to_vec()));
    assert_eq!(get(&nginx, "/extra").0, 204);
    assert_eq!(get(&nginx, "/no").0, 404);
    assert_eq!(nginx.url(), format!("http://{}/", nginx.addr()));
    assert!(nginx.addr().ip().is_loopback());
    let status = nginx.status_url().unwrap();
    let status = http_get(nginx.addr(), &status[nginx.url().len() - 1..]).unwrap();
    assert!(String::from_utf8(status.1).unwrap().starts_with("Active connections:"));
    assert!(nginx.version().split('.').count() >= 3, "{}", nginx.version());
    assert_eq!(nginx.settings()["worker_processes"], "2");

    let workers = nginx.worker_pids();
    assert_eq!(workers.len(), 2);
    let mut pids = nginx.process().pids();
    assert_eq!(pids[0], nginx.pid());
    assert!(workers.iter().all(|pid| pids.contains(pid)));
    let ids: Vec<_> = pids.drain(..).map(|pid| ProcessId::of(pid).unwrap()).collect();
    if rustix::process::geteuid().is_root() {
        let uid =
            std::os::unix::fs::MetadataExt::uid(&fs::metadata(format!("/proc/{}", nginx.pid())).unwrap());
        assert_ne!(uid, 0, "no part of it is root");
    }

    let (dir, addr) = (nginx.process().dir().to_owned(), nginx.addr());
    drop(nginx);
    assert!(ids.iter().all(|id| !id.is_alive()));
    assert!(!dir.exists());
    assert!(http_get(addr, "/").is_err());
}

#[test]
fn a_reload_answers_with_new_workers_and_a_bad_one_changes_nothing() {
    let nginx = start!(
        Nginx::builder()
            .file("part.conf", "location = /part { return 204; }")
            .extra_server_config("include part.conf;")
    );
    assert_eq!(get(&nginx, "/part").0, 204);
    let before = nginx.worker_pids();
    let took = nginx.reload_blocking().unwrap();
    assert!(took < RELOAD_WITHIN);
    let after = nginx.worker_pids();
    assert_eq!(after.len(), 1);
    assert_ne!(before, after);

    fs::write(nginx.process().dir().join("part.conf"), "no such directive;").unwrap();
    let error = nginx.reload_blocking().unwrap_err();
    assert!(matches!(error, Error::Refused { .. }) && error.to_string().contains("directive"), "{error}");
    assert_eq!(nginx.worker_pids(), after);
    assert_eq!(get(&nginx, "/part").0, 204);

    fs::write(nginx.process().dir().join("part.conf"), "location = /part { return 201; }").unwrap();
    nginx.reload_blocking().unwrap();
    assert_eq!(get(&nginx, "/part").0, 201);
    nginx.process().restart_blocking().unwrap();
    assert_eq!(get(&nginx, "/part").0, 201);
}

#[test]
fn nginx_s_own_words_about_a_bad_configuration_are_shown() {
    let error = fail!(Nginx::builder().extra_server_config("wombat on;"));
    let text = error.to_string();
    assert!(
        matches!(error, Error::Refused { .. }) && text.contains("unknown directive \"wombat\""),
        "{text}"
    );
}

#[test]
fn a_fixed_port_that_is_taken_is_an_error_that_says_so() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    // nginx itself tries for 2.5 s.
    let error = fail!(Nginx::builder().port(taken.local_addr().unwrap().port()));
    assert!(
        matches!(error, Error::Exited { .. }) && error.to_string().contains("Address already in use"),
        "{error}"
    );
}

#[test]
fn another_nginx_on_the_port_is_not_taken_for_ours() {
    let other = start!(Nginx::builder());
    let error = fail!(Nginx::builder().port(other.addr().port()));
    assert!(error.to_string().contains("Address already in use"), "{error}");
    assert_eq!(get(&other, "/").0, 200);
}

#[test]
fn a_missing_program_names_what_to_install() {
    let error = Nginx::builder().binary("/no/such/nginx").start_blocking().unwrap_err();
    assert!(error.is_missing() && error.to_string().contains("apt install nginx-light"), "{error}");
}

#[test]
fn settings_are_checked_before_anything_starts() {
    let bad = [
        (Nginx::builder().worker_processes(0), "worker_processes"),
        (Nginx::builder().worker_connections(0), "worker_connections"),
        (Nginx::builder().file("../x", ""), "file"),
        (Nginx::builder().file("nginx.conf", ""), "file"),
        (Nginx::builder().page("no-slash", ""), "page"),
        (Nginx::builder().inline("/x", "$host"), "inline"),
    ];
    for (builder, field) in bad {
        let error = fail!(builder);
        assert!(matches!(error, Error::Config { field: f, .. } if f == field), "{field}: {error}");
    }
}

#[test]
fn faults_pause_crash_and_restart() {
    let nginx = start!(Nginx::builder().unix_socket());
    nginx.process().pause().unwrap();
    assert!(http_get(nginx.addr(), "/").is_err(), "a paused server does not answer");
    nginx.process().resume().unwrap();
    assert_eq!(get(&nginx, "/").0, 200);

    let workers = nginx.worker_pids();
    let workers: Vec<_> = workers.into_iter().map(|pid| ProcessId::of(pid).unwrap()).collect();
    nginx.process().kill().unwrap();
    assert!(http_get(nginx.addr(), "/").is_err());
    assert!(workers.iter().all(|id| !id.is_alive()), "workers of a killed master are gone too");
    assert_eq!((nginx.pid(), nginx.worker_pids().len()), (0, 0));
    // The socket of the killed one is still there and must not be in the way.
    assert!(nginx.unix_socket().unwrap().exists());
    nginx.process().start_blocking().unwrap();
    assert_eq!(get(&nginx, "/").0, 200);
    let mut stream = UnixStream::connect(nginx.unix_socket().unwrap()).unwrap();
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
}

#[test]
fn a_dead_master_s_workers_do_not_keep_the_port() {
    let nginx = start!(Nginx::builder());
    let worker = ProcessId::of(nginx.worker_pids()[0]).unwrap();
    // Only the master, as the kernel's out-of-memory killer might do.
    ProcessId::of(nginx.pid()).unwrap().signal(rustix::process::Signal::KILL).unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    while nginx.process().is_running() {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(1));
    }
    nginx.process().start_blocking().unwrap();
    assert!(!worker.is_alive());
    assert_eq!(get(&nginx, "/").0, 200);
}

#[test]
fn it_can_be_started_and_disturbed_from_async_code() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        match Nginx::builder().start().await {
            Err(error) if error.is_missing() => eprintln!("SKIPPED: {error}"),
            nginx => {
                let nginx = nginx.unwrap();
                nginx.reload().await.unwrap();
                nginx.process().restart().await.unwrap();
                nginx.process().stop().await.unwrap();
                assert!(!nginx.process().is_running());
                nginx.process().start().await.unwrap();
                assert_eq!(get(&nginx, "/").0, 200);
            }
        }
    });
}
