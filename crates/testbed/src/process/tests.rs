use std::time::{Duration, Instant};

use super::*;
use crate::proc::ProcessId;

/// A "server" that is a shell script.
fn script(name: &str, script: &str) -> ProcessBuilder {
    LocalProcess::builder(name, "sh").args(["-c", script])
}

/// Ready at once.
fn at_once(name: &str, text: &str) -> ProcessBuilder {
    script(name, text).ready_when(|| Ok(()))
}

fn not_yet() -> std::io::Result<()> {
    Err(std::io::Error::other("not yet"))
}

fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn it_runs_in_its_directory_as_nobody_in_particular_and_goes_on_drop() {
    let text = "umask >umask; id -u >id; env >env; cat given >copy; exec sleep 600";
    let server = at_once("basic", text).env("COLOUR", "red").file("given", "42").start_blocking().unwrap();
    let data = server.dir().join("data");
    wait_until("the script does its work", || {
        data.join("copy").exists() && !read(&data.join("copy")).is_empty()
    });
    assert_eq!(read(&data.join("copy")), "42");
    let uid = rustix::process::geteuid().as_raw();
    assert_eq!(read(&data.join("id")).trim() == uid.to_string(), uid != 0, "root's servers are not root");
    let env = read(&data.join("env"));
    assert!(env.contains("COLOUR=red") && !env.contains("CARGO"), "{env}");

    let id = ProcessId::of(server.pid()).unwrap();
    let made = read(&server.dir().parent().unwrap().join("made.jsonl"));
    assert!(made.contains(&format!("\"pid\":{}", id.pid)), "{made}");
    assert!(server.is_running() && server.is_ready());
    drop(server);
    assert!(!id.is_alive());
    assert!(!data.exists());
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn an_early_end_and_a_server_that_never_answers_are_told_apart_and_show_the_log() {
    let error = script("early", "echo cannot open the thing >&2; exit 3")
        .ready_when(not_yet)
        .start_blocking()
        .unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::Exited { .. }), "{text}");
    assert!(text.contains("exit status: 3") && text.contains("cannot open the thing"), "{text}");

    let error = script("signal", "kill -9 $$").ready_when(not_yet).start_blocking().unwrap_err().to_string();
    assert!(error.contains("signal: 9"), "{error}");

    let error = script("never", "echo still thinking; exec sleep 600")
        .ready_when(not_yet)
        .ready_within(Duration::from_millis(300))
        .start_blocking()
        .unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::NotReady { .. }), "{text}");
    assert!(text.contains("not yet") && text.contains("still thinking"), "{text}");
}

#[test]
fn an_answer_does_not_count_when_our_server_has_ended() {
    // Another server may answer on the port that ours did not get.
    let error = LocalProcess::builder("gone", "true")
        .ready_when(|| {
            std::thread::sleep(Duration::from_millis(500));
            Ok(())
        })
        .start_blocking()
        .unwrap_err();
    assert!(matches!(error, Error::Exited { .. }), "{error}");
}

#[test]
fn one_that_ignores_the_signal_is_killed_after_the_limit() {
    let text = "trap '' TERM; touch ready; while :; do sleep 1; done";
    let server = at_once("deaf", text).stop_within(Duration::from_millis(200)).start_blocking().unwrap();
    wait_until("the trap is set", || server.dir().join("data/ready").exists());
    let id = ProcessId::of(server.pid()).unwrap();
    let children = server.pids();
    server.stop_blocking().unwrap();
    assert!(!id.is_alive() && !server.is_running());
    assert!(server.pids().is_empty() && server.pid() == 0);
    wait_until("its children are gone too", || {
        children.iter().all(|&pid| ProcessId::of(pid).is_err() || !ProcessId::of(pid).unwrap().is_alive())
    });
    server.stop_blocking().unwrap();
    assert!(matches!(server.pause(), Err(Error::NotRunning { .. })));
}

#[test]
fn it_starts_again_with_its_data_after_a_stop_a_kill_and_an_end_of_its_own() {
    let server = at_once("again", "echo started >>starts; exec sleep 600").start_blocking().unwrap();
    let starts = || read(&server.dir().join("data/starts")).lines().count();
    wait_until("first start", || starts() == 1);
    let first = server.pid();

    assert!(matches!(server.start_blocking(), Err(Error::NotStartable { .. })));
    server.restart_blocking().unwrap();
    wait_until("restart", || starts() == 2);
    assert_ne!(server.pid(), first);

    server.kill().unwrap();
    assert!(!server.is_running());
    server.start_blocking().unwrap();
    wait_until("start after a kill", || starts() == 3);

    ProcessId::of(server.pid()).unwrap().signal(rustix::process::Signal::KILL).unwrap();
    wait_until("end of its own", || !server.is_running());
    server.start_blocking().unwrap();
    wait_until("start after a crash", || starts() == 4);
}

#[test]
fn pause_and_resume_reach_the_children() {
    let server = at_once("pause", "sleep 600 & sleep 600 & wait").start_blocking().unwrap();
    wait_until("the children run", || server.pids().len() == 3);
    let states =
        || -> Vec<u8> { server.pids().iter().map(|&pid| crate::proc::stat(pid).unwrap().state).collect() };
    server.pause().unwrap();
    wait_until("all stop", || states() == *b"TTT");
    assert!(server.is_running());
    server.resume().unwrap();
    wait_until("all go on", || states() == *b"SSS");
    server.pause().unwrap();
    let began = Instant::now();
    server.stop_blocking().unwrap();
    assert!(
        began.elapsed() < Duration::from_secs(4),
        "a paused server is woken to be stopped, not killed after 5 s"
    );
}

#[test]
fn the_restart_of_a_recovery_check_does_not_wait_for_an_answer() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let answers = Arc::new(AtomicBool::new(true));
    let asked = Arc::clone(&answers);
    let server = script("check", "exec sleep 600")
        .ready_when(move || if asked.load(Ordering::SeqCst) { Ok(()) } else { not_yet() })
        .start_blocking()
        .unwrap();
    let first = server.pid();
    answers.store(false, Ordering::SeqCst);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(load_core::Restart::restart(&server)).unwrap();
    assert_ne!(server.pid(), first);
    assert!(server.is_running() && !server.is_ready());
    assert_eq!(load_core::Restart::name(&server), "check");
}

#[test]
fn a_panic_stops_it() {
    let (tx, rx) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let server = at_once("panic", "exec sleep 600").start_blocking().unwrap();
        tx.send((ProcessId::of(server.pid()).unwrap(), server.dir().to_owned())).unwrap();
        panic!("on purpose");
    });
    assert!(thread.join().is_err());
    let (id, dir) = rx.recv().unwrap();
    assert!(!id.is_alive() && !dir.exists());
}

#[test]
fn dropping_it_while_it_starts_ends_the_start() {
    // A current-thread runtime that is dropped with the future in it: the start goes on elsewhere and must undo itself.
    let pid_file = std::env::temp_dir().join(format!("testbed-abandoned-{}", std::process::id()));
    let seen = pid_file.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let start = script("abandoned", "exec sleep 600")
            .ready_when(move || {
                std::fs::write(&seen, "asked")?;
                not_yet()
            })
            .ready_within(Duration::from_millis(500))
            .start();
        assert!(tokio::time::timeout(Duration::from_millis(100), start).await.is_err());
    });
    wait_until("it was started", || pid_file.exists());
    let lease = crate::Lease::current().unwrap();
    wait_until("its directory is gone", || {
        std::fs::read_dir(lease.dir())
            .unwrap()
            .all(|e| !e.unwrap().file_name().to_string_lossy().starts_with("abandoned"))
    });
    std::fs::remove_file(pid_file).unwrap();
}

#[test]
fn settings_are_checked_before_anything_starts() {
    let ready = || Ok(());
    let bad = [
        LocalProcess::builder("../x", "sh").ready_when(ready).start_blocking().unwrap_err(),
        LocalProcess::builder("x", "sh").start_blocking().unwrap_err(),
        LocalProcess::builder("x", "sh").file("../y", "").ready_when(ready).start_blocking().unwrap_err(),
        LocalProcess::builder("x", "sh").file("/y", "").ready_when(ready).start_blocking().unwrap_err(),
    ];
    for (error, field) in bad.iter().zip(["name", "ready_when", "file", "file"]) {
        assert!(matches!(error, Error::Config { field: f, .. } if *f == field), "{error}");
    }
    let missing =
        LocalProcess::builder("x", "/no/such/program").ready_when(ready).start_blocking().unwrap_err();
    assert!(missing.is_missing());
}
