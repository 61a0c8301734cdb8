//! Whose keys they are, and whether it lives.

use serde::{Deserialize, Serialize};
use std::{
    fs,
    time::{SystemTime, UNIX_EPOCH},
};

/// A process, so that no other can be taken for it: numbers are used again, but not with the same start in the same
/// boot. What cannot be read is empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Owner {
    pub(super) pid: u32,
    /// Ticks from boot to the process's start.
    #[serde(default)]
    pub(super) start: Option<u64>,
    #[serde(default)]
    pub(super) boot: String,
    /// The namespace of its process numbers: containers have their own.
    #[serde(default)]
    pub(super) namespace: String,
    /// Seconds since 1970 at which the run began, for people.
    #[serde(default)]
    pub(super) began: u64,
}

impl Owner {
    /// This process.
    pub(super) fn ourselves() -> Owner {
        let pid = std::process::id();
        Owner {
            pid,
            start: start_of(pid),
            boot: read("/proc/sys/kernel/random/boot_id"),
            namespace: fs::read_link("/proc/self/ns/pid")
                .map(|path| path.to_string_lossy().into_owned())
                .unwrap_or_default(),
            began: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()),
        }
    }

    /// Whether the process is known to live or to be dead; `None` when it cannot be seen from `here`.
    fn lives(&self, here: &Owner, start_of: impl Fn(u32) -> Option<u64>) -> Option<bool> {
        let visible = !self.boot.is_empty()
            && self.boot == here.boot
            && !self.namespace.is_empty()
            && self.namespace == here.namespace
            && self.start.is_some();
        visible.then(|| start_of(self.pid) == self.start)
    }

    /// Whether the run is dead. Of a process on another machine only the beat is known, which outlives it for a minute.
    pub(super) fn is_dead(&self, here: &Owner, beats: bool) -> bool {
        match self.lives(here, start_of) {
            Some(lives) => !lives,
            None => !beats,
        }
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default()
}

/// When a process began; `None` when there is none, or only its exit status is left.
fn start_of(pid: u32) -> Option<u64> {
    parse_start(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// From `/proc/<pid>/stat`: the name in brackets may hold anything, so fields are counted from its end.
fn parse_start(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives() {
        let here = Owner::ourselves();
        assert!(here.start.is_some() && !here.boot.is_empty());
        assert!(!here.is_dead(&here, false), "whatever its beat says");
        let again: Owner = serde_json::from_str(&serde_json::to_string(&here).unwrap()).unwrap();
        assert_eq!(again, here);
    }

    #[test]
    fn a_number_used_again_is_not_the_process() {
        let here = Owner::ourselves();
        let earlier = Owner { start: here.start.map(|s| s - 1), ..here.clone() };
        assert!(earlier.is_dead(&here, true));
    }

    #[test]
    fn elsewhere_only_the_beat_tells() {
        let here = Owner::ourselves();
        for other in [
            Owner { boot: "another".into(), ..here.clone() },
            Owner { namespace: "pid:[1]".into(), ..here.clone() },
            Owner { start: None, ..here.clone() },
        ] {
            assert!(!other.is_dead(&here, true) && other.is_dead(&here, false));
        }
    }

    #[test]
    fn stat_is_read_past_the_name() {
        let stat =
            |state: &str| format!("7 (a) b 1) {state} 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 987654 1 2");
        assert_eq!(parse_start(&stat("S")), Some(987_654));
        assert_eq!(parse_start(&stat("Z")), None, "a process of which only the exit status is left is dead");
        assert_eq!(parse_start("7 (x"), None);
    }
}
