//! Load averages and open files.

use crate::{
    files::{Kept, Root},
    parse::lines,
    probe::{Probe, source, unreadable},
};
use load_core::{Readings, SourceError};
use std::time::Duration;

/// `host.load.*` from `/proc/loadavg`, and how many files are open.
///
/// | series | unit | what |
/// |---|---|---|
/// | `host.load.1m`, `.5m`, `.15m` | tasks | tasks that run, wait for a CPU or for a disk; averaged |
/// | `host.tasks` | tasks | tasks (threads) there are |
/// | `host.descriptors.open`, `.limit` | descriptors | open files of the whole system |
#[derive(Debug)]
pub struct HostLoad {
    averages: Kept,
    files: Kept,
}

impl HostLoad {
    /// Of this machine.
    pub fn new() -> HostLoad {
        HostLoad::below(&Root::system())
    }

    pub(crate) fn below(root: &Root) -> HostLoad {
        HostLoad { averages: Kept::new(root, "proc/loadavg"), files: Kept::new(root, "proc/sys/fs/file-nr") }
    }
}

impl Default for HostLoad {
    fn default() -> HostLoad {
        HostLoad::new()
    }
}

source!(HostLoad, |_this| "/proc/loadavg");

impl Probe for HostLoad {
    fn probe(&mut self, _: Duration, readings: &mut Readings) -> Result<(), SourceError> {
        if let Ok(bytes) = self.files.read()
            && let Some(line) = lines(bytes).next()
        {
            let numbers: Vec<f64> = line.split_ascii_whitespace().filter_map(|w| w.parse().ok()).collect();
            // The limit may be as good as none.
            if let [open, unused, limit] = numbers[..] {
                readings.value("host.descriptors.open", "descriptors", open - unused);
                if limit < i64::MAX as f64 {
                    readings.value("host.descriptors.limit", "descriptors", limit);
                }
            }
        }
        let line = lines(self.averages.bytes()?).next().ok_or_else(|| unreadable("proc/loadavg"))?;
        let tasks: Option<u64> =
            line.split_ascii_whitespace().nth(3).and_then(|w| w.split_once('/')?.1.parse().ok());
        if tasks == Some(0) {
            // There is at least the one that reads this.
            return Err(SourceError::Unavailable("/proc/loadavg: this system counts no tasks".into()));
        }
        let mut words = line.split_ascii_whitespace();
        for name in ["host.load.1m", "host.load.5m", "host.load.15m"] {
            let average =
                words.next().and_then(|w| w.parse().ok()).ok_or_else(|| unreadable("proc/loadavg"))?;
            readings.value(name, "tasks", average);
        }
        if let Some(tasks) = tasks {
            readings.value("host.tasks", "tasks", tasks as f64);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Machine, read, try_read, value};

    #[test]
    fn averages_and_files() {
        let machine = Machine::new(&[
            ("proc/loadavg", "2.03 1.03 0.51 2/129 9418\n"),
            ("proc/sys/fs/file-nr", "1376\t32\t9223372036854775807\n"),
        ]);
        let readings = read(&mut HostLoad::below(&machine.root()), 0);
        assert_eq!(value(&readings, "host.load.15m"), Some(0.51));
        assert_eq!(value(&readings, "host.tasks"), Some(129.0));
        assert_eq!(value(&readings, "host.descriptors.open"), Some(1344.0));
        assert_eq!(value(&readings, "host.descriptors.limit"), None, "no limit");
    }

    #[test]
    fn a_cut_file_fails() {
        let machine = Machine::new(&[("proc/loadavg", "2.03 1.03\n")]);
        assert!(try_read(&mut HostLoad::below(&machine.root()), 0).1.is_err());
    }
}
