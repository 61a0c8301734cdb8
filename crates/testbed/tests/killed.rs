//! What a run leaves when it is killed, and that the next one removes exactly that.
//!
//! The runs are processes of this very test program: the tests marked `ignore` are their main functions.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use testbed::{Lease, Nginx, Postgres, ProcessId};

/// A run in a process of its own, killed on drop.
struct Run {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Run {
    fn start(main: &str, state: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", main, "--ignored", "--nocapture"]).env("OPENLOOP_STATE_DIR", state);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// The rest of the line that begins with `word`.
    fn wait_for(&mut self, word: &str) -> String {
        let mut seen = String::new();
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).unwrap() == 0 {
                panic!("the run ended before {word:?}: {seen}{}", self.errors());
            }
            // The test harness may have written something without an end of line before it.
            if let Some((_, rest)) = line.split_once(word) {
                return rest.trim().to_owned();
            }
            seen += &line;
        }
    }

    fn errors(&mut self) -> String {
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn no_nginx() -> bool {
    let none = !testbed::installed("nginx");
    if none {
        eprintln!("SKIPPED: nginx is not installed");
    }
    none
}

/// A directory for leases that servers of another user can pass through.
fn state() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o711)).unwrap();
    let state = dir.path().join("state");
    (dir, state)
}

/// Processes that work somewhere below `dir`.
fn working_in(dir: &Path) -> Vec<u32> {
    let numbers = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let mut pids: Vec<u32> =
        fs::read_dir("/proc").unwrap().filter_map(|entry| numbers(entry.ok()?)).collect();
    pids.retain(|pid| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(dir)));
    pids
}

/// Directories of runs. One that had not yet got its name when its run was killed is left for a minute, as its owner
/// might be about to name it.
fn runs(state: &Path) -> usize {
    let named = |entry: &fs::DirEntry| !entry.file_name().to_str().unwrap().starts_with(".new-");
    fs::read_dir(state).unwrap().filter(|entry| named(entry.as_ref().unwrap())).count()
}

#[test]
#[ignore = "the main function of a run that is killed"]
fn owner() {
    let nginx = Nginx::builder().start_blocking().unwrap();
    println!("\nSERVES {} {}", nginx.pid(), nginx.addr());
    // Until killed; in case nobody does, not for ever.
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
#[ignore = "the main function of a run that sweeps"]
fn next_run() {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).init();
    let nginx = Nginx::builder().start_blocking().unwrap();
    println!("\nSERVES {} {}", nginx.pid(), nginx.addr());
    drop(nginx);
    println!("LEFT {}", Lease::sweep().unwrap());
}

#[test]
#[ignore = "the main function of a run that panics"]
fn panics() {
    let nginx = Nginx::builder().start_blocking().unwrap();
    println!("\nSERVES {} {}", nginx.pid(), nginx.addr());
    panic!("on purpose");
}

fn pid(text: &str) -> u32 {
    text.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn the_next_run_stops_a_killed_run_s_nginx_and_says_so_but_not_a_living_run_s() {
    if no_nginx() {
        return;
    }
    let (_dir, state) = state();
    let mut killed = Run::start("owner", &state);
    let orphan = ProcessId::of(pid(&killed.wait_for("SERVES "))).unwrap();
    let mut living = Run::start("owner", &state);
    let kept = ProcessId::of(pid(&living.wait_for("SERVES "))).unwrap();
    killed.kill();
    assert!(orphan.is_alive(), "nobody stopped it yet");
    assert_eq!(runs(&state), 2);

    let mut next = Run::start("next_run", &state);
    next.wait_for("SERVES ");
    assert!(!orphan.is_alive(), "the first server of a run comes after the sweep");
    assert!(kept.is_alive());
    assert_eq!(next.wait_for("LEFT "), "", "and a second sweep finds nothing");
    assert!(next.child.wait().unwrap().success());
    let said = next.errors();
    assert!(
        said.contains("WARN") && said.contains(&format!("stopped nginx (process {})", orphan.pid)),
        "{said}"
    );
    assert_eq!(runs(&state), 1, "the living run's");
    assert!(kept.is_alive());

    // For good measure: the living one is a dead one now.
    living.kill();
    let mut last = Run::start("next_run", &state);
    last.wait_for("LEFT ");
    assert!(!kept.is_alive());
    assert_eq!(working_in(&state), [0; 0]);
    assert_eq!(runs(&state), 0);
}

#[test]
fn a_run_killed_at_any_moment_of_a_start_leaves_nothing_that_is_not_found() {
    if no_nginx() {
        return;
    }
    let (_dir, state) = state();
    for step in 0..24 {
        let mut run = Run::start("owner", &state);
        std::thread::sleep(Duration::from_millis(2 * step));
        run.kill();
    }
    let mut next = Run::start("next_run", &state);
    next.wait_for("LEFT ");
    next.child.wait().unwrap();
    assert_eq!(working_in(&state), [0; 0]);
    assert_eq!(runs(&state), 0);
}

#[test]
#[ignore = "the main function of a run that is killed"]
fn owner_of_a_cluster() {
    let postgres = Postgres::builder().start_blocking().unwrap();
    println!("\nSERVES {} {}", postgres.pid(), postgres.addr());
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn a_run_killed_while_a_cluster_is_made_or_served_leaves_nothing_that_is_not_found() {
    if no_nginx() {
        return;
    }
    if testbed::Postgres::builder()
        .setting("port", "")
        .start_blocking()
        .is_err_and(|error| error.is_missing())
    {
        eprintln!("SKIPPED: PostgreSQL is not installed");
        return;
    }
    let (_dir, state) = state();
    let mut pids = Vec::new();
    for step in 0..6 {
        let mut run = Run::start("owner_of_a_cluster", &state);
        std::thread::sleep(Duration::from_millis(20 + 150 * step));
        pids.extend(working_in(&state));
        run.kill();
    }
    let mut last = Run::start("owner_of_a_cluster", &state);
    pids.push(pid(&last.wait_for("SERVES ")));
    last.kill();
    let mut next = Run::start("next_run", &state);
    next.wait_for("LEFT ");
    next.child.wait().unwrap();
    assert_eq!(working_in(&state), [0; 0]);
    assert_eq!(runs(&state), 0);
    let segments = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let creators =
        segments.lines().skip(1).filter_map(|line| line.split_ascii_whitespace().nth(4)?.parse::<u32>().ok());
    assert_eq!(creators.filter(|creator| pids.contains(creator)).count(), 0);
}

#[test]
fn a_panic_leaves_nothing() {
    if no_nginx() {
        return;
    }
    let (_dir, state) = state();
    let mut run = Run::start("panics", &state);
    let id = pid(&run.wait_for("SERVES "));
    assert!(!run.child.wait().unwrap().success());
    assert!(!working_in(&state).contains(&id));
    assert_eq!((working_in(&state), runs(&state)), (vec![], 0));
}

#[test]
fn without_a_handler_ctrl_c_leaves_the_server_to_the_next_run() {
    if no_nginx() {
        return;
    }
    let (_dir, state) = state();
    let mut run = Run::start("owner", &state);
    let id = ProcessId::of(pid(&run.wait_for("SERVES "))).unwrap();
    let interrupt = Command::new("kill").args(["-INT", &run.child.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    assert!(!run.child.wait().unwrap().success());
    assert!(id.is_alive());
    let mut next = Run::start("next_run", &state);
    next.wait_for("LEFT ");
    assert!(!id.is_alive());
}
