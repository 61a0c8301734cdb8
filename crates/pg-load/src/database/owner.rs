//! Who made a database, and whether that process still runs.

use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::{
    fs,
    time::{SystemTime, UNIX_EPOCH},
};

/// What stands in the comment of a database of ours. Without anything that helps an attacker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Owner {
    /// Tells our comments from others.
    openloop: String,
    pub(super) run: String,
    pub(super) pid: u32,
    /// Start of the process in clock ticks since boot, so that a recycled id is not mistaken.
    start_ticks: Option<u64>,
    boot: Option<String>,
    /// Process ids mean something within their namespace only.
    pid_namespace: Option<String>,
    machine: Option<String>,
}

const MARK: &str = "temporary database";

/// What is known of the process that made a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Alive,
    Dead,
    /// On another machine or in another container: it cannot be seen from here.
    OutOfSight,
}

/// Seconds since 1970 and a random number, 16 hexadecimal digits.
pub(super) fn run_id() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    format!("{:08x}{:08x}", seconds as u32, rand::rng().random::<u32>())
}

impl Owner {
    pub(super) fn this_process(run: &str) -> Owner {
        let pid = std::process::id();
        Owner {
            openloop: MARK.into(),
            run: run.into(),
            pid,
            start_ticks: start_ticks(pid),
            boot: line("/proc/sys/kernel/random/boot_id"),
            pid_namespace: pid_namespace(),
            machine: line("/etc/machine-id").map(|id| digest(&id)),
        }
    }

    pub(super) fn to_comment(&self) -> String {
        serde_json::to_string(self).expect("plain fields")
    }

    /// `None`: not a comment of ours.
    pub(super) fn from_comment(comment: &str) -> Option<Owner> {
        serde_json::from_str::<Owner>(comment).ok().filter(|owner| owner.openloop == MARK)
    }

    pub(super) fn state(&self) -> State {
        self.state_seen_from(&Owner::this_process(""))
    }

    fn state_seen_from(&self, here: &Owner) -> State {
        let known = |mine: &Option<String>, theirs: &Option<String>| mine.is_some() && mine == theirs;
        if !known(&here.boot, &self.boot) {
            // The machine was started anew since: nothing of then still runs.
            let rebooted = known(&here.machine, &self.machine) && self.boot.is_some() && here.boot.is_some();
            return if rebooted { State::Dead } else { State::OutOfSight };
        }
        if !known(&here.pid_namespace, &self.pid_namespace) || self.start_ticks.is_none() {
            return State::OutOfSight;
        }
        if start_ticks(self.pid) == self.start_ticks { State::Alive } else { State::Dead }
    }
}

fn line(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The machine's id itself is not to be given away, `man 5 machine-id` says.
fn digest(id: &str) -> String {
    // FNV-1a, 64 bits: it only has to tell a few machines apart and to be the same in every version of ours.
    let hash =
        id.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    format!("{hash:016x}")
}

fn pid_namespace() -> Option<String> {
    fs::read_link("/proc/self/ns/pid").ok().map(|link| link.display().to_string())
}

/// Field 22 of `/proc/PID/stat`; `None` when there is no such process, or it has ended and only waits to be collected.
fn start_ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
    let state = fields.next()?;
    let ticks = fields.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(ticks)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn comments_come_back_and_others_are_not_ours() {
        let me = Owner::this_process("abc");
        assert_eq!(Owner::from_comment(&me.to_comment()), Some(me.clone()));
        for foreign in ["", "unmodifiable empty database", "{}", "{\"openloop\":\"x\"}"] {
            assert_eq!(Owner::from_comment(foreign), None);
        }
        let other = me.to_comment().replace(MARK, "something");
        assert_eq!(Owner::from_comment(&other), None);
    }

    #[test]
    fn who_is_dead_is_decided_only_where_it_can_be_seen() {
        let here = Owner::this_process("abc");
        let seen = |change: fn(&mut Owner)| {
            let mut owner = here.clone();
            change(&mut owner);
            owner.state_seen_from(&here)
        };
        assert_eq!(seen(|_| ()), State::Alive);
        assert_eq!(
            seen(|o| o.start_ticks = o.start_ticks.map(|t| t - 1)),
            State::Dead,
            "the id was taken by another"
        );
        assert_eq!(seen(|o| o.pid = u32::MAX), State::Dead);
        assert_eq!(seen(|o| o.pid_namespace = Some("pid:[1]".into())), State::OutOfSight);
        assert_eq!(seen(|o| o.start_ticks = None), State::OutOfSight);
        let other_boot = |o: &mut Owner| o.boot = Some("x".into());
        let mut elsewhere = here.clone();
        other_boot(&mut elsewhere);
        elsewhere.machine = Some("another".into());
        assert_eq!(elsewhere.state_seen_from(&here), State::OutOfSight);
        let mut with_machine = here.clone();
        with_machine.machine = Some("this".into());
        let mut before = with_machine.clone();
        other_boot(&mut before);
        assert_eq!(before.state_seen_from(&with_machine), State::Dead);
        before.boot = None;
        assert_eq!(before.state_seen_from(&with_machine), State::OutOfSight);
    }
}
