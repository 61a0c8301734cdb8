//! The examples as a user meets them.

use openloop::{report, testbed::installed};
use openloop_tests::{Program, check, skip};
use rustix::process::Signal;
use std::time::Duration;

const NGINX_STATIC: &str = env!("CARGO_BIN_EXE_example-nginx-static");
const QUICKSTART: &str = env!("CARGO_BIN_EXE_example-quickstart");

fn state() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    // Servers run as another user when we are root.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(dir.path(), open).unwrap();
    dir
}

fn read(path: &std::path::Path) -> openloop::Record {
    let record = report::read_json(&std::fs::read_to_string(path).unwrap()).unwrap();
    check(&record);
    record
}

#[test]
fn quickstart_needs_nothing() {
    let dir = state();
    let json = dir.path().join("r.json");
    let ended = Program::start(QUICKSTART, dir.path(), &["--quick", "--json", json.to_str().unwrap()])
        .end(Duration::from_secs(60));
    assert!(matches!(ended.status, Some(0 | 2)), "{ended:?}");
    assert!(ended.stdout.contains("web@50"), "{}", ended.stdout);
    let record = read(&json);
    assert_eq!(record.streams[0].accounting.scheduled, 500);
    assert_eq!(ended.status == Some(2), record.verdict.status == openloop::Status::Rejected);
}

#[test]
fn real_nginx_static_prints_its_table_and_writes_its_record() {
    if !installed("nginx") {
        return skip("real_nginx_static", "nginx is not installed");
    }
    let dir = state();
    let json = dir.path().join("r.json");
    let ended = Program::start(NGINX_STATIC, dir.path(), &["--quick", "--json", json.to_str().unwrap()])
        .end(Duration::from_secs(60));
    assert!(matches!(ended.status, Some(0 | 2)), "{ended:?}");
    for level in ["nginx@10", "nginx@50", "nginx@100"] {
        assert!(ended.stdout.contains(level), "{}", ended.stdout);
    }
    let record = read(&json);
    assert_eq!(record.streams.len(), 3);
    assert!(record.environment.servers["nginx"].version.is_some());
    assert_nothing_left(dir.path());
}

/// No run directory is left, and so no server.
fn assert_nothing_left(state: &std::path::Path) {
    let left: Vec<_> = std::fs::read_dir(state)
        .unwrap()
        .flat_map(|e| e.ok())
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("run-"))
        .collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}

#[test]
fn real_blocking_client_is_rejected_with_exit_status_2() {
    if !installed("nginx") {
        return skip("real_blocking_client", "nginx is not installed");
    }
    let dir = state();
    let ended = Program::start(NGINX_STATIC, dir.path(), &["--quick", "--client", "blocking"])
        .end(Duration::from_secs(60));
    assert_eq!(ended.status, Some(2), "{ended:?}");
    assert!(ended.stdout.contains("REJECTED") && ended.stdout.contains("in flight"), "{}", ended.stdout);
}

#[test]
fn a_port_where_nobody_listens_is_named() {
    let dir = state();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{free}/");
    let ended =
        Program::start(NGINX_STATIC, dir.path(), &["--quick", "--nginx", &url]).end(Duration::from_secs(30));
    assert_eq!(ended.status, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("refused") && ended.stderr.contains(&free.to_string()), "{}", ended.stderr);
}

#[test]
fn what_cannot_be_done_yet_is_refused_in_plain_words() {
    let dir = state();
    for (arguments, words) in [
        (&["--html", "x.html"][..], "--html"),
        (&["--stack", "docker"], "--stack docker"),
        (&["--nginx", "https://127.0.0.1/"], "http://HOST"),
        (&["--nginx", "http://192.0.2.1/"], "--allow-remote"),
    ] {
        let ended = Program::start(NGINX_STATIC, dir.path(), arguments).end(Duration::from_secs(30));
        assert_eq!(ended.status, Some(1), "{arguments:?}: {ended:?}");
        assert!(ended.stderr.contains(words), "{arguments:?}: {}", ended.stderr);
    }
    for arguments in [
        &["--seconds", "0"][..],
        &["--seconds", "NaN"],
        &["--rounds", "0"],
        &["--workers", "0"],
        &["--warmup=-1"],
    ] {
        let ended = Program::start(NGINX_STATIC, dir.path(), arguments).end(Duration::from_secs(30));
        assert_eq!(ended.status, Some(1), "{ended:?}");
        assert!(ended.stderr.contains(&arguments[0][..8]), "{}", ended.stderr);
    }
}

#[test]
fn real_ctrl_c_keeps_what_was_measured() {
    if !installed("nginx") {
        return skip("real_ctrl_c", "nginx is not installed");
    }
    let dir = state();
    let json = dir.path().join("r.json");
    let arguments = ["--seconds", "60", "--warmup", "0", "--json", json.to_str().unwrap()];
    let mut program = Program::start(NGINX_STATIC, dir.path(), &arguments);
    program.wait_for("measuring");
    std::thread::sleep(Duration::from_secs(1));
    program.signal(Signal::INT);
    let ended = program.end(Duration::from_secs(20));
    assert_eq!(ended.status, Some(130), "{ended:?}");
    let record = read(&json);
    assert!(record.interrupted && record.streams[0].accounting.succeeded > 0);
    assert!(record.streams[0].elapsed_ns < 20_000_000_000);
    assert_nothing_left(dir.path());
}

#[test]
fn real_what_a_kill_left_is_removed_by_the_next_run() {
    if !installed("nginx") {
        return skip("real_what_a_kill_left", "nginx is not installed");
    }
    let dir = state();
    let mut program = Program::start(NGINX_STATIC, dir.path(), &["--seconds", "60", "--warmup", "0"]);
    program.wait_for("measuring");
    program.signal(Signal::KILL);
    let ended = program.end(Duration::from_secs(20));
    assert_eq!(ended.status, None, "a signal ended it");
    let next = Program::start(NGINX_STATIC, dir.path(), &["--quick"]).end(Duration::from_secs(60));
    assert!(matches!(next.status, Some(0 | 2)), "{next:?}");
    assert!(next.stderr.contains("removed"), "it says so: {}", next.stderr);
    assert_nothing_left(dir.path());
}
