//! An example as a program of its own, with signals.

use rustix::process::{Pid, Signal, kill_process};
use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, ChildStderr, Command, Stdio},
    time::{Duration, Instant},
};

/// A program under test; killed when dropped.
#[derive(Debug)]
pub struct Program {
    child: Child,
    stderr: Option<BufReader<ChildStderr>>,
    seen: String,
}

/// How a program ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status; `None` when a signal ended it.
    pub status: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Program {
    /// Starts `binary`, with state of its own in `state`, so that tests do not see each other's servers.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(binary: &str, state: &Path, arguments: &[&str]) -> Program {
        let mut child = Command::new(binary)
            .args(arguments)
            .env("OPENLOOP_STATE_DIR", state)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let stderr = child.stderr.take().map(BufReader::new);
        Program { child, stderr, seen: String::new() }
    }

    /// Reads standard error until a line contains `text`.
    ///
    /// # Panics
    /// When the program ends before.
    pub fn wait_for(&mut self, text: &str) {
        let stderr = self.stderr.as_mut().expect("not ended");
        loop {
            let mut line = String::new();
            let n = stderr.read_line(&mut line).expect("text");
            self.seen += &line;
            assert!(n > 0, "the program ended before it said {text:?}: {}", self.seen);
            if line.contains(text) {
                return;
            }
        }
    }

    /// Sends a signal.
    ///
    /// # Panics
    /// When it has ended.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().try_into().expect("a pid")).expect("a pid");
        kill_process(pid, signal).expect("it lives");
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it has not ended after `limit`.
    pub fn end(mut self, limit: Duration) -> Ended {
        let mut stderr = self.stderr.take().expect("not ended");
        let mut stdout = self.child.stdout.take().expect("not ended");
        let out = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stdout.read_to_string(&mut text);
            text
        });
        let err = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            text
        });
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("its status") {
                break status;
            }
            assert!(started.elapsed() < limit, "the program has not ended after {limit:?}");
            std::thread::sleep(Duration::from_millis(10));
        };
        let stdout = out.join().expect("read");
        let stderr = self.seen.clone() + &err.join().expect("read");
        Ended { status: status.code(), stdout, stderr }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Already ended in the usual case.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
