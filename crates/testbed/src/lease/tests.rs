use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::sweep::sweep;
use super::*;
use crate::proc::{self, ProcessId};
use crate::process::StopSignal;

const RUN_ID: &str = "0123456789abcdef";

fn base() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// A process that does nothing, as a server of ours would be: leading a group, working in the run's directory.
struct Server(Child);

impl Server {
    fn start(dir: &Path, script: &str) -> Self {
        let mut command = Command::new("sh");
        command
            .args(["-c", script])
            .current_dir(dir)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        Self(command.spawn().unwrap())
    }

    /// Waits until the script has said something.
    fn wait_for_word(&mut self) -> String {
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(self.0.stdout.as_mut().unwrap()), &mut line)
            .unwrap();
        line.trim().to_owned()
    }

    fn id(&self) -> ProcessId {
        ProcessId::of(self.0.id()).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A process that has ended.
fn dead() -> ProcessId {
    let mut child = Command::new("sleep").arg("600").spawn().unwrap();
    let id = ProcessId::of(child.id()).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    id
}

fn owner_file(run_id: &str, owner: ProcessId, boot_id: &str) -> String {
    serde_json::json!({"schema": "openloop.lease/1", "run_id": run_id, "process": owner, "boot_id": boot_id})
        .to_string()
}

/// What a run leaves when it is killed.
fn left_behind(base: &Path, run_id: &str, owner: ProcessId, boot_id: &str) -> PathBuf {
    let dir = base.join(format!("run-{run_id}"));
    fs::create_dir_all(dir.join("nginx-0/data")).unwrap();
    fs::write(dir.join("nginx-0/server.log"), "hello").unwrap();
    fs::write(dir.join("owner.json"), owner_file(run_id, owner, boot_id)).unwrap();
    dir
}

fn left_by_the_dead(base: &Path) -> PathBuf {
    left_behind(base, RUN_ID, dead(), &proc::boot_id().unwrap())
}

fn write_made(dir: &Path, processes: &[ProcessId]) {
    let log = made::Log::create(dir).unwrap();
    for &id in processes {
        log.append(&Made::Process { name: "nginx".to_owned(), id, stop: StopSignal::Term }).unwrap();
    }
}

#[test]
fn a_dead_run_is_removed_with_its_processes_and_this_is_said() {
    let base = base();
    let dir = left_by_the_dead(base.path());
    let server = Server::start(&dir, "sleep 600");
    let id = server.id();
    write_made(&dir, &[id]);

    let swept = sweep(base.path()).unwrap();

    assert_eq!(swept.left, []);
    assert_eq!(swept.removed.len(), 1);
    assert_eq!(swept.removed[0].run_id, RUN_ID);
    assert_eq!(
        swept.removed[0].stopped,
        [StoppedProcess { name: "nginx".into(), id, how: HowStopped::Asked }]
    );
    assert!(!id.is_alive());
    assert!(!dir.exists());
    let text = swept.to_string();
    assert!(text.contains(RUN_ID) && text.contains(&format!("stopped nginx (process {})", id.pid)), "{text}");
    assert!(sweep(base.path()).unwrap().is_empty(), "and the second time there is nothing to do");
}

#[test]
fn a_process_that_does_not_listen_is_killed_with_its_children_and_a_paused_one_is_woken() {
    let base = base();
    let dir = left_by_the_dead(base.path());
    let mut deaf = Server::start(&dir, "trap '' TERM; sleep 600 & echo $!; while :; do wait; done");
    let child = ProcessId::of(deaf.wait_for_word().parse().unwrap()).unwrap();
    let paused = Server::start(&dir, "exec sleep 600");
    paused.id().signal(rustix::process::Signal::STOP).unwrap();
    write_made(&dir, &[deaf.id(), paused.id()]);

    let swept = sweep(base.path()).unwrap();

    let how: Vec<_> = swept.removed[0].stopped.iter().map(|stopped| stopped.how).collect();
    assert_eq!(how, [HowStopped::Killed, HowStopped::Asked]);
    assert!(!deaf.id().is_alive() && !child.is_alive() && !paused.id().is_alive());
}

#[test]
fn children_of_a_server_that_died_are_found_by_their_group_and_directory() {
    let base = base();
    let dir = left_by_the_dead(base.path());
    let mut leader = Server::start(&dir, "sleep 600 & echo $!");
    let orphan = ProcessId::of(leader.wait_for_word().parse().unwrap()).unwrap();
    let id = leader.id();
    leader.0.wait().unwrap();
    write_made(&dir, &[id]);

    let swept = sweep(base.path()).unwrap();

    assert_eq!(swept.removed[0].stopped.len(), 1);
    assert!(!orphan.is_alive());
}

#[test]
fn a_recycled_process_id_is_left_alone() {
    let base = base();
    let dir = left_by_the_dead(base.path());
    // A stranger that now has the id of a server of the dead run, and works elsewhere.
    let stranger = Server::start(base.path(), "exec sleep 600");
    let earlier = ProcessId { start_ticks: stranger.id().start_ticks - 1, ..stranger.id() };
    write_made(&dir, &[earlier]);

    let swept = sweep(base.path()).unwrap();

    assert!(swept.removed[0].stopped.is_empty());
    assert!(stranger.id().is_alive());
    assert!(!dir.exists());
}

#[test]
fn ids_of_before_a_reboot_are_not_looked_at() {
    let base = base();
    let innocent = Server::start(base.path(), "exec sleep 600");
    let dir = left_behind(base.path(), RUN_ID, innocent.id(), "another boot");
    write_made(&dir, &[innocent.id()]);

    let swept = sweep(base.path()).unwrap();

    assert_eq!((swept.removed.len(), swept.left.len()), (1, 0));
    assert!(innocent.id().is_alive());
}

#[test]
fn a_living_run_is_not_touched() {
    let base = base();
    let lease = Lease::create_in(base.path()).unwrap();
    fs::write(lease.dir().join("thing"), "").unwrap();
    assert!(sweep(base.path()).unwrap().is_empty());
    assert!(lease.dir().join("thing").exists());

    // An owner that lives counts even if it somehow lost its lock.
    let owner = Server::start(base.path(), "exec sleep 600");
    let dir = left_behind(base.path(), RUN_ID, owner.id(), &proc::boot_id().unwrap());
    let swept = sweep(base.path()).unwrap();
    assert!(swept.removed.is_empty() && swept.left[0].why.contains("is alive"), "{swept}");
    assert!(dir.exists());
}

#[test]
fn what_is_not_understood_is_left_and_named() {
    let base = base();
    let me = dead();
    let boot = proc::boot_id().unwrap();
    let make = |digit: char, owner: Option<&str>, made: Option<&str>| {
        let run_id = digit.to_string().repeat(16);
        let dir = left_behind(base.path(), &run_id, me, &boot);
        match owner {
            Some("") => fs::remove_file(dir.join("owner.json")).unwrap(),
            Some(text) => fs::write(dir.join("owner.json"), text).unwrap(),
            None => {}
        }
        if let Some(text) = made {
            fs::write(dir.join("made.jsonl"), text).unwrap();
        }
        (dir, run_id)
    };
    let cases = [
        (make('1', Some("garbage"), None), "owner file is not understood"),
        (make('2', Some(""), None), "no owner file"),
        (make('3', Some(&owner_file(RUN_ID, me, &boot)), None), "of another run"),
        (make('4', None, Some("garbage\n")), "list of processes is not understood"),
        (make('5', None, Some("{\"made\":\"spaceship\"}\n")), "list of processes is not understood"),
        (
            make('6', Some(&owner_file("6666666666666666", me, &boot).replace("lease/1", "lease/9")), None),
            "another version",
        ),
    ];
    std::os::unix::fs::symlink("/usr", base.path().join("run-7777777777777777")).unwrap();

    let swept = sweep(base.path()).unwrap();

    assert!(swept.removed.is_empty(), "{swept}");
    assert_eq!(swept.left.len(), cases.len() + 1);
    for ((dir, _), why) in cases {
        let left = swept.left.iter().find(|left| left.path == dir).unwrap();
        assert!(left.why.contains(why), "{}", left.why);
        assert!(dir.join("nginx-0/server.log").exists());
    }
    assert!(Path::new("/usr/bin").exists());
}

#[test]
fn foreign_names_are_not_even_looked_at() {
    let base = base();
    for name in ["run-1", "run-xyz4567812345678", "somebody's", ".new-", "run-0123456789abcdef0"] {
        fs::create_dir(base.path().join(name)).unwrap();
    }
    fs::write(base.path().join("file"), "").unwrap();
    assert!(sweep(base.path()).unwrap().is_empty());
    assert_eq!(fs::read_dir(base.path()).unwrap().count(), 6);
}

#[test]
fn a_line_that_was_being_written_is_no_reason_to_leave_the_rest() {
    let base = base();
    let dir = left_by_the_dead(base.path());
    let server = Server::start(&dir, "exec sleep 600");
    write_made(&dir, &[server.id()]);
    let mut text = fs::read_to_string(dir.join("made.jsonl")).unwrap();
    text.push_str("{\"made\":\"pro");
    fs::write(dir.join("made.jsonl"), text).unwrap();

    assert_eq!(sweep(base.path()).unwrap().removed[0].stopped.len(), 1);
    assert!(!dir.exists());
}

#[test]
fn a_removal_cut_short_and_a_run_that_never_began_leave_nothing() {
    let base = base();
    fs::create_dir(base.path().join("run-0000000000000001")).unwrap();
    let old = base.path().join(".new-0000000000000002");
    let young = base.path().join(".new-0000000000000003");
    for dir in [&old, &young] {
        fs::create_dir(dir).unwrap();
        fs::write(dir.join("owner.json"), "{").unwrap();
    }
    File::open(&old).unwrap().set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();

    assert!(sweep(base.path()).unwrap().is_empty());

    let names: Vec<_> = fs::read_dir(base.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(names, [young], "it may be about to get its name");
}

#[test]
fn a_lease_is_one_for_the_process_and_goes_with_its_last_handle() {
    let lease = Lease::current().unwrap();
    let again = Lease::current().unwrap();
    assert_eq!(lease.run_id(), again.run_id());
    assert!(remove::run_id(lease.dir().file_name().unwrap().to_str().unwrap(), "run-").is_some());
    let dir = lease.dir().to_owned();
    let server = lease.server_dir("x").unwrap();
    drop((lease, again));
    assert!(server.path().exists());
    drop(server);
    // Another test of this process may hold the lease too.
    assert!(!dir.join("x-0").exists());
}

#[test]
fn sweeps_at_the_same_time_remove_a_run_once() {
    let base = base();
    for n in 0..20 {
        left_behind(base.path(), &format!("{n:016x}"), dead(), &proc::boot_id().unwrap());
    }
    let removed: usize = std::thread::scope(|scope| {
        let sweepers: Vec<_> = (0..4).map(|_| scope.spawn(|| sweep(base.path()).unwrap())).collect();
        sweepers
            .into_iter()
            .map(|sweeper| {
                let swept = sweeper.join().unwrap();
                assert_eq!(swept.left, []);
                swept.removed.len()
            })
            .sum()
    });
    assert_eq!(removed, 20);
    assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0);
}
