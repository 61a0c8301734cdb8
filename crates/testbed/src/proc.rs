//! Processes by id *and* start time, so that a recycled id is never mistaken for the process that had it before.

use std::fs;
use std::io;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// A process that cannot be confused with a later one of the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProcessId {
    /// The process id.
    pub pid: u32,
    /// When it started, in clock ticks since boot (field 22 of `/proc/PID/stat`).
    pub start_ticks: u64,
}

impl ProcessId {
    /// The process that has this id now.
    ///
    /// # Errors
    /// If there is none, or `/proc` cannot be read.
    pub fn of(pid: u32) -> io::Result<Self> {
        let stat = stat(pid)?;
        Ok(Self { pid, start_ticks: stat.start_ticks })
    }

    /// Whether this very process still runs. One that has ended but was not waited for by its parent does not.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        stat(self.pid).is_ok_and(|stat| stat.start_ticks == self.start_ticks && stat.runs())
    }

    /// Sends `signal` to this very process; `false` if it has ended.
    pub(crate) fn signal(&self, signal: Signal) -> io::Result<bool> {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else { return Ok(false) };
        // The pidfd pins the process: once it is open and the start time matches, the id cannot be reused under us.
        let fd = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(fd) => fd,
            Err(rustix::io::Errno::SRCH) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        if !self.is_alive() {
            return Ok(false);
        }
        match pidfd_send_signal(&fd, signal) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::SRCH) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// What is needed of `/proc/PID/stat`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stat {
    pub(crate) pid: u32,
    pub(crate) state: u8,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) start_ticks: u64,
}

impl Stat {
    fn parse(pid: u32, text: &str) -> Option<Self> {
        // The program's name stands in parentheses and may itself contain blanks and parentheses.
        let mut fields = text[text.rfind(')')? + 1..].split_ascii_whitespace();
        let state = fields.next()?.bytes().next()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let start_ticks = fields.nth(16)?.parse().ok()?;
        Some(Self { pid, state, parent, group, start_ticks })
    }

    fn runs(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x')
    }

    pub(crate) fn id(&self) -> ProcessId {
        ProcessId { pid: self.pid, start_ticks: self.start_ticks }
    }
}

pub(crate) fn stat(pid: u32) -> io::Result<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    Stat::parse(pid, &text).ok_or_else(|| io::Error::other(format!("/proc/{pid}/stat is not understood")))
}

/// All processes that run now; those that end meanwhile are left out.
pub(crate) fn all() -> io::Result<Vec<Stat>> {
    let mut all = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Ok(stat) = stat(pid)
            && stat.runs()
        {
            all.push(stat);
        }
    }
    Ok(all)
}

/// The children, grandchildren and so on of `root` among `all`, parents before children.
pub(crate) fn descendants(all: &[Stat], root: u32) -> Vec<ProcessId> {
    let mut found: Vec<ProcessId> = Vec::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        for child in all.iter().filter(|stat| stat.parent == parent && stat.pid != root) {
            parents.push(child.pid);
            found.push(child.id());
        }
    }
    found
}

/// Identifies the running system: process ids and start times mean something only within one boot.
pub(crate) fn boot_id() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_is_read_though_the_name_has_blanks_and_parentheses() {
        let text = "42 (a) b (c)) S 7 40 40 0 -1 4194304 103 0 0 0 1 2 3 4 20 0 1 0 55234 3133440 384";
        let stat = Stat::parse(42, text).unwrap();
        assert_eq!((stat.state, stat.parent, stat.group, stat.start_ticks), (b'S', 7, 40, 55234));
        assert!(Stat::parse(42, "42 (x) S 7").is_none());
        assert!(Stat::parse(42, "").is_none());
    }

    #[test]
    fn another_start_time_is_another_process() {
        let me = ProcessId::of(std::process::id()).unwrap();
        assert!(me.is_alive());
        let before_me = ProcessId { start_ticks: me.start_ticks - 1, ..me };
        assert!(!before_me.is_alive());
        // Signal 0 does not exist here; CONT does nothing to a running process.
        assert!(me.signal(Signal::CONT).unwrap());
        assert!(!before_me.signal(Signal::KILL).unwrap(), "and is not signalled");
    }

    #[test]
    fn a_child_that_ended_is_not_alive_even_before_it_is_waited_for() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let id = ProcessId::of(child.id()).unwrap();
        assert!(descendants(&all().unwrap(), std::process::id()).contains(&id));
        child.kill().unwrap();
        while id.is_alive() {
            std::thread::yield_now();
        }
        assert!(!id.signal(Signal::TERM).unwrap());
        child.wait().unwrap();
        assert!(ProcessId::of(child.id()).is_err() || ProcessId::of(child.id()).unwrap() != id);
    }
}
