//! What tests of the bundled examples share.

use crate::{Ended, Program, check, skip};
use openloop::{Record, Status, report, testbed};
use std::{
    collections::BTreeMap,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Far above what an example takes with `--quick`: without optimisation, proving a password to PostgreSQL takes a quarter
/// of a second of CPU.
pub const LIMIT: Duration = Duration::from_secs(110);

/// Whether a test must be skipped, said aloud.
pub fn missing(test: &str, servers: &[&str]) -> bool {
    let there = |server: &str| match server {
        "postgres" => testbed::Postgres::is_installed(),
        other => testbed::installed(other),
    };
    let missing = servers.iter().find(|server| !there(server));
    if let Some(server) = missing {
        skip(test, &format!("{server} is not installed"));
    }
    missing.is_some()
}

/// The state of one or more runs: where they keep what they make, and where their record goes.
#[derive(Debug)]
pub struct State(tempfile::TempDir);

impl State {
    /// An empty one, removed on drop.
    ///
    /// # Panics
    /// When it cannot be made.
    #[allow(clippy::new_without_default)]
    pub fn new() -> State {
        let dir = tempfile::tempdir().expect("a directory");
        // Servers run as another user when we are root.
        std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).expect("it is ours");
        State(dir)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Where a record of this name goes.
    pub fn json(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Starts an example whose record goes to `name`.
    pub fn start(&self, binary: &str, name: &str, arguments: &[&str]) -> Program {
        let json = self.json(name);
        let json = ["--json", json.to_str().expect("plain")];
        Program::start(binary, self.path(), &[&json, arguments].concat())
    }

    /// The record of that name of a run that has ended, sound by itself.
    ///
    /// # Panics
    /// When it is not there or not sound.
    pub fn record(&self, name: &str, ended: &Ended) -> Record {
        let text = std::fs::read_to_string(self.json(name)).unwrap_or_else(|e| panic!("{e}: {ended:?}"));
        let record = report::read_json(&text).expect("it can be read");
        check(&record);
        record
    }

    /// The directories of runs.
    ///
    /// # Panics
    /// When the state cannot be read.
    pub fn runs(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path()).expect("a directory");
        let name = |path: &PathBuf| path.file_name().map(|n| n.to_string_lossy().into_owned());
        let paths = entries.flatten().map(|entry| entry.path());
        paths.filter(|path| name(path).is_some_and(|n| n.starts_with("run-"))).collect()
    }

    /// The processes that runs have started and that live, by name. A run writes down each before it begins.
    pub fn servers(&self) -> BTreeMap<String, u32> {
        let mut servers = BTreeMap::new();
        for run in self.runs() {
            let made = std::fs::read_to_string(run.join("made.jsonl")).unwrap_or_default();
            for line in made.lines() {
                let Ok(made) = serde_json::from_str::<serde_json::Value>(line) else { continue };
                let (Some(name), Some(pid)) = (made["name"].as_str(), made["id"]["pid"].as_u64()) else {
                    continue;
                };
                if Path::new(&format!("/proc/{pid}")).exists() {
                    servers.insert(name.to_string(), pid as u32);
                }
            }
        }
        servers
    }

    /// Waits until a run has made its directory.
    ///
    /// # Panics
    /// When none has after a minute.
    pub fn wait_for_a_run(&self) {
        let started = Instant::now();
        while self.runs().is_empty() {
            assert!(started.elapsed() < Duration::from_secs(60), "no run begins");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// No run's directory is there, and no process works in one.
    ///
    /// # Panics
    /// When something is left.
    pub fn assert_nothing_left(&self) {
        assert!(self.runs().is_empty(), "left behind: {:?}", self.runs());
        let here = self.path().canonicalize().expect("it is there");
        let works_here = |pid: &str| {
            std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(&here))
        };
        let processes = std::fs::read_dir("/proc").expect("Linux").flatten();
        let pids = processes.filter_map(|entry| entry.file_name().into_string().ok());
        let left: Vec<String> = pids.filter(|pid| works_here(pid)).collect();
        assert!(left.is_empty(), "processes left behind: {left:?}");
    }
}

/// That the exit status says what the record says.
///
/// # Panics
/// When it does not.
pub fn assert_status(ended: &Ended, record: &Record) {
    let bad = record.verdict.status == Status::Rejected || record.checks.iter().any(|c| !c.passed);
    let expected = if record.interrupted {
        130
    } else if bad {
        2
    } else {
        0
    };
    assert_eq!(ended.status, Some(expected), "{:?} {ended:?}", record.checks);
}

/// That these checks were made and passed.
///
/// # Panics
/// When they did not.
pub fn assert_passed(record: &Record, checks: &[&str]) {
    for name in checks {
        let check = record.checks.iter().find(|c| c.name == *name);
        assert!(check.is_some_and(|c| c.passed), "{name}: {:?}", record.checks);
    }
}
