//! A server's process with all that it started.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::StopSignal;
use crate::HowStopped;
use crate::proc::{self, ProcessId};

/// How long killed processes may take to disappear; longer only if the kernel itself is stuck.
const KILL_WITHIN: Duration = Duration::from_secs(10);

/// A process that was started in a directory of ours and leads a process group.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    leader: ProcessId,
    dir: PathBuf,
}

impl Tree {
    pub(crate) fn new(leader: ProcessId, dir: &Path) -> Self {
        // As the kernel will name it, in case a link leads there.
        Self { leader, dir: dir.canonicalize().unwrap_or_else(|_| dir.to_owned()) }
    }

    /// Those that run: the leader, its descendants, and members of its group that lost their parent.
    ///
    /// A group is named by a number, which is free again when its last member is gone. So a member counts only if it
    /// is not older than the leader and works in our directory.
    pub(crate) fn members(&self) -> io::Result<Vec<ProcessId>> {
        let all = proc::all()?;
        let mut members = Vec::new();
        if self.leader.is_alive() {
            members.push(self.leader);
            members.extend(proc::descendants(&all, self.leader.pid));
        }
        for stat in all.iter().filter(|stat| stat.group == self.leader.pid) {
            let id = stat.id();
            let works_here =
                || fs::read_link(format!("/proc/{}/cwd", id.pid)).is_ok_and(|cwd| cwd.starts_with(&self.dir));
            if !members.contains(&id) && id.start_ticks >= self.leader.start_ticks && works_here() {
                members.push(id);
            }
        }
        Ok(members)
    }

    /// Asks it to end, waits up to `grace`, and kills what is left. `None` if nothing ran.
    pub(crate) fn stop(&self, signal: StopSignal, grace: Duration) -> io::Result<Option<HowStopped>> {
        let members = self.members()?;
        if members.is_empty() {
            super::shm::remove_left_by(self.leader.pid);
            return Ok(None);
        }
        let deadline = Instant::now() + grace;
        // Its children are the leader's business as long as it lives; a paused one notices nothing before it goes on.
        self.leader.signal(signal.signal())?;
        signal_all(&members, Signal::CONT)?;
        wait_gone(&[self.leader], deadline);
        let mut left = self.left_of(&members)?;
        if !left.is_empty() && !self.leader.is_alive() {
            signal_all(&left, signal.signal())?;
            wait_gone(&left, deadline);
            left = self.left_of(&members)?;
        }
        if left.is_empty() {
            return Ok(Some(HowStopped::Asked));
        }
        self.kill_all(left)?;
        Ok(Some(HowStopped::Killed))
    }

    /// Who runs now, or of `before` still runs: a process without a parent in a group of its own is known only from then.
    fn left_of(&self, before: &[ProcessId]) -> io::Result<Vec<ProcessId>> {
        let mut left = self.members()?;
        let others: Vec<_> = before.iter().filter(|id| id.is_alive() && !left.contains(id)).collect();
        left.extend(others);
        Ok(left)
    }

    /// Kills all at once; `false` if nothing ran.
    pub(crate) fn kill(&self) -> io::Result<bool> {
        // Stopped first, so that no child appears between the look and the kill.
        self.leader.signal(Signal::STOP)?;
        let members = self.members()?;
        let any = !members.is_empty();
        self.kill_all(members)?;
        Ok(any)
    }

    fn kill_all(&self, mut members: Vec<ProcessId>) -> io::Result<()> {
        let deadline = Instant::now() + KILL_WITHIN;
        while !members.is_empty() {
            signal_all(&members, Signal::KILL)?;
            if !wait_gone(&members, deadline) {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "it was killed but does not end"));
            }
            members = self.members()?;
        }
        super::shm::remove_left_by(self.leader.pid);
        Ok(())
    }

    /// Stops all where they are; `false` if nothing ran.
    pub(crate) fn pause(&self) -> io::Result<bool> {
        let mut paused: Vec<ProcessId> = Vec::new();
        loop {
            // Parents come before children; those that a child forked before it was stopped come in the next round.
            let new: Vec<_> = self.members()?.into_iter().filter(|id| !paused.contains(id)).collect();
            if new.is_empty() {
                return Ok(!paused.is_empty());
            }
            signal_all(&new, Signal::STOP)?;
            paused.extend(new);
        }
    }

    /// Lets all go on; `false` if nothing ran.
    pub(crate) fn resume(&self) -> io::Result<bool> {
        let members = self.members()?;
        signal_all(&members, Signal::CONT)?;
        Ok(!members.is_empty())
    }
}

fn signal_all(ids: &[ProcessId], signal: Signal) -> io::Result<()> {
    ids.iter().try_for_each(|id| id.signal(signal).map(drop))
}

/// Whether all have ended by `deadline`.
fn wait_gone(ids: &[ProcessId], deadline: Instant) -> bool {
    let mut pause = Duration::from_millis(1);
    while ids.iter().any(ProcessId::is_alive) {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
    true
}
