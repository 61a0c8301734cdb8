//! What the disks do.

use crate::{
    counter::{Counters, Kind},
    files::{Kept, Root},
    parse::disk,
    probe::{Probe, source, unreadable},
};
use load_core::{Readings, SourceError};
use std::{collections::HashMap, time::Duration};

/// `host.disk.DEVICE.*` from `/proc/diskstats`, for whole devices that have been used at all (no partitions, loop
/// devices or RAM disks).
///
/// | series | unit | what |
/// |---|---|---|
/// | `.read`, `.written` | B/s | |
/// | `.reads`, `.writes` | 1/s | requests that ended, after merging |
/// | `.busy` | 1 | share of the time with a request in flight; a device that serves many at once may be at 1 and not be full |
/// | `.queue` | requests | in flight, on average |
#[derive(Debug)]
pub struct HostDisks {
    file: Kept,
    root: Root,
    /// Whether a device is to be shown; looked up once for each.
    shown: HashMap<String, bool>,
    counters: Counters,
}

impl HostDisks {
    /// Of this machine.
    pub fn new() -> HostDisks {
        HostDisks::below(&Root::system())
    }

    pub(crate) fn below(root: &Root) -> HostDisks {
        HostDisks {
            file: Kept::new(root, "proc/diskstats"),
            root: root.clone(),
            shown: HashMap::new(),
            counters: Counters::default(),
        }
    }
}

impl Default for HostDisks {
    fn default() -> HostDisks {
        HostDisks::new()
    }
}

source!(HostDisks, |_this| "/proc/diskstats");

impl Probe for HostDisks {
    fn probe(&mut self, at: Duration, readings: &mut Readings) -> Result<(), SourceError> {
        let bytes = self.file.bytes()?;
        if !bytes.is_empty() && disk::diskstats(bytes).next().is_none() {
            return Err(unreadable("proc/diskstats"));
        }
        self.counters.begin(at);
        let sectors = Kind::BYTES.scaled(disk::SECTOR as f64);
        for d in disk::diskstats(bytes) {
            let root = &self.root;
            if d.reads == 0 && d.writes == 0
                || !*self.shown.entry(d.name.into()).or_insert_with(|| is_whole(root, d.name))
            {
                continue;
            }
            let mut rate = |name: &str, kind: Kind, count: u64| {
                self.counters.rate(readings, &format!("host.disk.{}.{name}", d.name), kind, count);
            };
            rate("read", sectors, d.sectors_read);
            rate("written", sectors, d.sectors_written);
            rate("reads", Kind::EVENTS, d.reads);
            rate("writes", Kind::EVENTS, d.writes);
            rate("busy", Kind::time(1000.0, 1.0).wrapping(), d.busy_ms);
            rate("queue", Kind::time(1000.0, 1e6).of("requests").wrapping(), d.waited_ms);
        }
        self.counters.end();
        Ok(())
    }
}

/// Whole devices are listed in /sys/block. Where that cannot be seen, the name decides.
fn is_whole(root: &Root, name: &str) -> bool {
    if ["loop", "ram", "zram", "fd", "sr"].iter().any(|prefix| name.starts_with(prefix)) {
        return false;
    }
    if root.exists("sys/block") {
        // In /sys a slash in a device's name is an exclamation mark.
        return root.exists(&format!("sys/block/{}", name.replace('/', "!")));
    }
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let numbered = base.len() < name.len();
    // sda1, vda1, nvme0n1p1, mmcblk0p1 are partitions; nvme0n1, mmcblk0, dm-0, md0 are not.
    let letters = ["sd", "vd", "hd", "xvd"].iter().any(|prefix| name.starts_with(prefix));
    let by_p = base.ends_with('p') && base.chars().rev().nth(1).is_some_and(|c| c.is_ascii_digit());
    !(numbered && (letters || by_p))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Machine, events, read, try_read, value};

    fn line(name: &str, reads: u64, sectors: u64, busy: u64, waited: u64) -> String {
        format!(" 8 0 {name} {reads} 0 {sectors} 0 3 0 16 0 0 {busy} {waited} 0 0 0 0\n")
    }

    #[test]
    fn rates_of_whole_devices() {
        let text =
            line("vda", 10, 80, 100, 100) + &line("vda1", 10, 80, 100, 100) + &line("loop0", 9, 9, 9, 9);
        let machine = Machine::new(&[("proc/diskstats", &text), ("sys/block/vda/size", "1\n")]);
        let mut probe = HostDisks::below(&machine.root());
        assert_eq!(read(&mut probe, 0).values(), []);
        machine.write("proc/diskstats", &line("vda", 30, 480, 600, 3100));
        let second = read(&mut probe, 1000);
        assert_eq!(value(&second, "host.disk.vda.reads"), Some(20.0));
        assert_eq!(value(&second, "host.disk.vda.read"), Some(204_800.0));
        assert_eq!(value(&second, "host.disk.vda.busy"), Some(0.5));
        assert_eq!(value(&second, "host.disk.vda.queue"), Some(3.0));
        assert!(second.values().iter().all(|(name, ..)| name.starts_with("host.disk.vda.")));
    }

    #[test]
    fn milliseconds_wrap_after_49_days() {
        let end = (1u64 << 32) - 100;
        let machine = Machine::new(&[("proc/diskstats", &line("sda", 1, 1, end, end))]);
        let mut probe = HostDisks::below(&machine.root());
        read(&mut probe, 0);
        machine.write("proc/diskstats", &line("sda", 1, 1, 400, 400));
        let second = read(&mut probe, 1000);
        assert_eq!(value(&second, "host.disk.sda.busy"), Some(0.5));
        assert_eq!(events(&second), [""; 0]);
    }

    #[test]
    fn names_tell_partitions_where_sys_is_not_to_be_seen() {
        let root = Machine::new(&[]).root();
        for name in ["sda", "nvme0n1", "mmcblk0", "dm-0", "md127", "xvda", "rssd0"] {
            assert!(is_whole(&root, name), "{name}");
        }
        for name in ["sda1", "nvme0n1p2", "mmcblk0p1", "xvda1", "loop3", "ram0", "sr0"] {
            assert!(!is_whole(&root, name), "{name}");
        }
    }

    #[test]
    fn none_is_not_an_error_but_nonsense_is() {
        let machine = Machine::new(&[("proc/diskstats", "")]);
        assert!(try_read(&mut HostDisks::below(&machine.root()), 0).1.is_ok(), "a container may have none");
        machine.write("proc/diskstats", "what is this\n");
        assert!(try_read(&mut HostDisks::below(&machine.root()), 0).1.is_err());
    }
}
