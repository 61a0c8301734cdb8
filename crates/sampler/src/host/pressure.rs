//! Pressure: the share of time in which tasks waited for a resource.

use crate::{
    counter::{Counters, Kind},
    files::{Kept, Root},
    parse::pressure,
    probe::{Probe, refused, source, unreadable},
};
use load_core::{Readings, SourceError};
use std::time::Duration;

/// `host.pressure.*` from `/proc/pressure`, the shares of the time since the last reading (from the cumulative totals;
/// the kernel's own averages lag).
///
/// `host.pressure.RESOURCE.some` (unit 1): at least one task waited; `.full`: all that had something to do. RESOURCE is
/// `cpu`, `memory`, `io` or `irq`, as far as the kernel tells; `cpu.full` is 0 on a whole system by definition.
#[derive(Debug)]
pub struct HostPressure {
    files: [(&'static str, Kept); 4],
    counters: Counters,
}

impl HostPressure {
    /// Of this machine.
    pub fn new() -> HostPressure {
        HostPressure::below(&Root::system())
    }

    pub(crate) fn below(root: &Root) -> HostPressure {
        let files =
            ["cpu", "memory", "io", "irq"].map(|r| (r, Kept::new(root, format!("proc/pressure/{r}"))));
        HostPressure { files, counters: Counters::default() }
    }
}

impl Default for HostPressure {
    fn default() -> HostPressure {
        HostPressure::new()
    }
}

source!(HostPressure, |_this| "/proc/pressure");

/// Both lines of one file as the series `PREFIX.some` and `PREFIX.full`.
pub(crate) fn shares(counters: &mut Counters, readings: &mut Readings, prefix: &str, bytes: &[u8]) -> bool {
    let found = pressure::pressure(bytes);
    let kind = Kind::time(1e6, 1.0);
    for (name, total) in [("some", found.some_us), ("full", found.full_us)] {
        if let Some(total) = total {
            counters.rate(readings, &format!("{prefix}.{name}"), kind, total);
        }
    }
    found != pressure::Pressure::default()
}

impl Probe for HostPressure {
    fn probe(&mut self, at: Duration, readings: &mut Readings) -> Result<(), SourceError> {
        self.counters.begin(at);
        let (mut any, mut refusal) = (false, None);
        for (resource, file) in &mut self.files {
            match file.read() {
                Ok(bytes) => {
                    any |= shares(&mut self.counters, readings, &format!("host.pressure.{resource}"), bytes);
                }
                Err(e) if refusal.is_none() => refusal = Some(refused(file.path(), &e)),
                Err(_) => {}
            }
        }
        self.counters.end();
        match (any, refusal) {
            (true, _) => Ok(()),
            // A kernel that was started without `psi=1` refuses to read the files it shows.
            (false, Some(SourceError::Unavailable(why))) => {
                Err(SourceError::Unavailable(format!("{why} (needs CONFIG_PSI, and psi=1 on some kernels)")))
            }
            (false, Some(why)) => Err(why),
            (false, None) => Err(unreadable("proc/pressure")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Machine, read, try_read, value};

    #[test]
    fn shares_are_of_the_time_between_the_readings() {
        let machine = Machine::new(&[
            ("proc/pressure/cpu", "some avg10=99.00 avg60=0.00 avg300=0.00 total=1000000\n"),
            ("proc/pressure/io", "some avg10=0.00 total=5\nfull avg10=0.00 total=5\n"),
        ]);
        let mut probe = HostPressure::below(&machine.root());
        assert_eq!(read(&mut probe, 0).values(), []);
        machine.write("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\n");
        let second = read(&mut probe, 2000);
        assert_eq!(value(&second, "host.pressure.cpu.some"), Some(0.25));
        assert_eq!(value(&second, "host.pressure.cpu.full"), None, "this kernel does not tell");
        assert_eq!(value(&second, "host.pressure.io.full"), Some(0.0), "told, and none");
        assert_eq!(value(&second, "host.pressure.memory.some"), None);
    }

    #[test]
    fn a_kernel_without_it_says_what_it_needs() {
        let machine = Machine::new(&[]);
        let (_, result) = try_read(&mut HostPressure::below(&machine.root()), 0);
        assert!(matches!(result, Err(SourceError::Unavailable(why)) if why.contains("CONFIG_PSI")));
    }
}
