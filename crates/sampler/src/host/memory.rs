//! Memory and swap.

use crate::{
    counter::{Counters, Kind},
    files::{Kept, Root},
    parse::{keyed, memory},
    probe::{Probe, source, unreadable},
    system,
};
use load_core::{Readings, SourceError};
use std::time::Duration;

/// `host.memory.*` and `host.swap.*` from `/proc/meminfo` and `/proc/vmstat`.
///
/// | series | unit | what |
/// |---|---|---|
/// | `host.memory.total`, `.free`, `.cached`, `.dirty` | B | as the kernel names them |
/// | `host.memory.available` | B | what could be had without swapping; absent where the kernel does not tell |
/// | `host.memory.major_faults` | 1/s | pages that had to be read from a disk |
/// | `host.swap.total`, `.used` | B | |
/// | `host.swap.in`, `.out` | B/s | |
///
/// A process that the kernel killed for want of memory is the event `out of memory kill`.
#[derive(Debug)]
pub struct HostMemory {
    memory: Kept,
    vmstat: Kept,
    counters: Counters,
    page: f64,
}

impl HostMemory {
    /// Of this machine.
    pub fn new() -> HostMemory {
        HostMemory::below(&Root::system())
    }

    pub(crate) fn below(root: &Root) -> HostMemory {
        HostMemory {
            memory: Kept::new(root, "proc/meminfo"),
            vmstat: Kept::new(root, "proc/vmstat"),
            counters: Counters::default(),
            page: system::page_size() as f64,
        }
    }
}

impl Default for HostMemory {
    fn default() -> HostMemory {
        HostMemory::new()
    }
}

source!(HostMemory, |_this| "/proc/meminfo");

impl Probe for HostMemory {
    fn probe(&mut self, at: Duration, readings: &mut Readings) -> Result<(), SourceError> {
        self.counters.begin(at);
        if let Ok(bytes) = self.vmstat.read() {
            let pages = Kind::BYTES.scaled(self.page);
            for (key, name, kind) in [
                ("pswpin", "host.swap.in", pages),
                ("pswpout", "host.swap.out", pages),
                ("pgmajfault", "host.memory.major_faults", Kind::EVENTS),
            ] {
                if let Some(count) = keyed(bytes, key) {
                    self.counters.rate(readings, name, kind, count);
                }
            }
            if let Some(kills) = keyed(bytes, "oom_kill").and_then(|n| self.counters.grown("oom_kill", n))
                && kills > 0
            {
                readings.event("out of memory kill", format!("{kills} on the host"));
            }
        }
        self.counters.end();
        let memory = memory::meminfo(self.memory.bytes()?);
        if memory.total.is_none() && memory.free.is_none() {
            return Err(unreadable("proc/meminfo"));
        }
        let used = memory.swap_total.zip(memory.swap_free).map(|(total, free)| total.saturating_sub(free));
        for (name, bytes) in [
            ("host.memory.total", memory.total),
            ("host.memory.free", memory.free),
            ("host.memory.available", memory.available),
            ("host.memory.cached", memory.cached),
            ("host.memory.dirty", memory.dirty),
            ("host.swap.total", memory.swap_total),
            ("host.swap.used", used),
        ] {
            if let Some(bytes) = bytes {
                readings.value(name, "B", bytes as f64);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Machine, events, read, try_read, value};

    const MEMORY: &str =
        "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 400 kB\nSwapTotal: 50 kB\nSwapFree: 20 kB\n";

    #[test]
    fn bytes_and_rates() {
        let machine =
            Machine::new(&[("proc/meminfo", MEMORY), ("proc/vmstat", "pswpin 10\npswpout 0\noom_kill 3\n")]);
        let mut probe = HostMemory::below(&machine.root());
        let first = read(&mut probe, 0);
        assert_eq!(value(&first, "host.memory.available"), Some(409_600.0));
        assert_eq!(value(&first, "host.swap.used"), Some(30_720.0));
        assert_eq!(value(&first, "host.swap.in"), None);
        assert_eq!(events(&first), [""; 0], "kills before the run");
        machine.write("proc/vmstat", "pswpin 30\npswpout 0\noom_kill 4\n");
        let second = read(&mut probe, 2000);
        assert_eq!(value(&second, "host.swap.in"), Some(10.0 * system::page_size() as f64));
        assert_eq!(value(&second, "host.swap.out"), Some(0.0));
        assert_eq!(events(&second), ["out of memory kill"]);
    }

    #[test]
    fn a_kernel_that_does_not_tell_gives_no_zero() {
        let machine = Machine::new(&[("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 100 kB\n")]);
        let readings = read(&mut HostMemory::below(&machine.root()), 0);
        assert_eq!(value(&readings, "host.memory.available"), None);
        assert_eq!(value(&readings, "host.swap.total"), None);
        machine.write("proc/meminfo", "");
        assert!(try_read(&mut HostMemory::below(&machine.root()), 0).1.is_err());
    }
}
