//! CPU by state, of all and of each.

use crate::{
    counter::{Counters, Kind, Lap, Since},
    files::{Kept, Root},
    parse::{keyed, stat},
    probe::{Probe, source, unreadable},
};
use load_core::{Readings, SourceError};
use std::time::Duration;

/// `host.cpu.*` from `/proc/stat`: shares of the time of all CPUs together, from 0 to 1.
///
/// | series | unit | what |
/// |---|---|---|
/// | `host.cpu.busy` | 1 | `user` + `nice` + `system` + `irq`: work of this system. Neither waiting for a disk nor stolen time is work |
/// | `host.cpu.user`, `.nice`, `.system`, `.irq` | 1 | its parts; `irq` has the soft interrupts too |
/// | `host.cpu.iowait`, `.idle` | 1 | nothing to run, with and without an outstanding disk request |
/// | `host.cpu.steal` | 1 | the hypervisor ran somebody else |
/// | `host.cpu.N.busy` | 1 | of one CPU |
/// | `host.cpu.busiest` | 1 | the largest of these |
/// | `host.context_switches`, `host.forks` | 1/s | |
/// | `host.processes.running`, `host.processes.blocked` | threads | now; blocked ones wait for a disk |
#[derive(Debug)]
pub struct HostCpu {
    file: Kept,
    lap: Lap,
    last: stat::CpuLines,
    counters: Counters,
}

impl HostCpu {
    /// Of this machine.
    pub fn new() -> HostCpu {
        HostCpu::below(&Root::system())
    }

    pub(crate) fn below(root: &Root) -> HostCpu {
        HostCpu {
            file: Kept::new(root, "proc/stat"),
            lap: Lap::default(),
            last: stat::CpuLines::default(),
            counters: Counters::default(),
        }
    }
}

impl Default for HostCpu {
    fn default() -> HostCpu {
        HostCpu::new()
    }
}

source!(HostCpu, |_this| "/proc/stat");

impl Probe for HostCpu {
    fn probe(&mut self, at: Duration, readings: &mut Readings) -> Result<(), SourceError> {
        let bytes = self.file.bytes()?;
        let now = stat::cpus(bytes);
        self.counters.begin(at);
        for (key, name) in [("ctxt", "host.context_switches"), ("processes", "host.forks")] {
            // Since boot there have been some: none means that nobody counts.
            if let Some(count @ 1..) = keyed(bytes, key) {
                self.counters.rate(readings, name, Kind::EVENTS, count);
            }
        }
        self.counters.end();
        // Whoever reads this file runs.
        if let Some(running @ 1..) = keyed(bytes, "procs_running") {
            readings.value("host.processes.running", "threads", running as f64);
            if let Some(blocked) = keyed(bytes, "procs_blocked") {
                readings.value("host.processes.blocked", "threads", blocked as f64);
            }
        }
        let Some(all) = now.all else { return Err(unreadable("proc/stat")) };
        if all.total() == 0 {
            // Some sandboxes show zeros for what they do not count.
            return Err(SourceError::Unavailable("/proc/stat: this system keeps no CPU accounts".into()));
        }
        match self.lap.mark(at) {
            Since::TooSoon => return Ok(()),
            Since::Nothing => {}
            Since::Seconds(_) => {
                if let Some(before) = self.last.all {
                    match all.since(&before) {
                        None => readings.event("counter reset", "host.cpu"),
                        Some(added) if added.total() == 0 => {
                            self.last = now;
                            return Err(SourceError::Failed("/proc/stat: no CPU has spent any time".into()));
                        }
                        Some(added) => {
                            shares(readings, &added);
                            each(readings, &now, &self.last);
                        }
                    }
                }
            }
        }
        if self.last.all.is_some() && self.last.each.len() != now.each.len() {
            let detail = format!("from {} to {}", self.last.each.len(), now.each.len());
            readings.event("CPUs online changed", detail);
        }
        self.last = now;
        Ok(())
    }
}

fn shares(readings: &mut Readings, added: &stat::CpuTicks) {
    let total = added.total() as f64;
    let mut share = |name: &str, ticks: Option<u64>| {
        if let Some(ticks) = ticks {
            readings.value(format!("host.cpu.{name}"), "1", ticks as f64 / total);
        }
    };
    share("busy", Some(added.busy()));
    share("user", Some(added.user));
    share("nice", Some(added.nice));
    share("system", Some(added.system));
    share("irq", added.irq.map(|irq| irq + added.softirq.unwrap_or(0)));
    share("iowait", added.iowait);
    share("idle", Some(added.idle));
    share("steal", added.steal);
}

fn each(readings: &mut Readings, now: &stat::CpuLines, last: &stat::CpuLines) {
    let mut busiest: Option<f64> = None;
    for (number, ticks) in &now.each {
        let Some((_, before)) = last.each.iter().find(|(n, _)| n == number) else { continue };
        let Some(added) = ticks.since(before).filter(|added| added.total() > 0) else { continue };
        let share = added.busy() as f64 / added.total() as f64;
        readings.value(format!("host.cpu.{number}.busy"), "1", share);
        busiest = Some(busiest.unwrap_or(0.0).max(share));
    }
    if let Some(share) = busiest {
        readings.value("host.cpu.busiest", "1", share);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Machine, events, read, try_read, value};

    fn machine(lines: &str) -> (Machine, HostCpu) {
        let machine = Machine::new(&[("proc/stat", lines)]);
        let probe = HostCpu::below(&machine.root());
        (machine, probe)
    }

    #[test]
    fn waiting_for_a_disk_is_not_work() {
        let (machine, mut cpu) = machine("cpu  1000 0 0 5000 100 0 0 0 0 0\n");
        let first = read(&mut cpu, 0);
        assert_eq!(value(&first, "host.cpu.busy"), None, "a first reading has nothing to compare with");
        machine.write("proc/stat", "cpu  1005 0 0 5020 175 0 0 0 0 0\n");
        let second = read(&mut cpu, 1000);
        assert_eq!(value(&second, "host.cpu.busy"), Some(0.05));
        assert_eq!(value(&second, "host.cpu.iowait"), Some(0.75));
        assert_eq!(value(&second, "host.cpu.idle"), Some(0.20));
    }

    #[test]
    fn steal_is_apart_and_each_cpu_has_its_own_share() {
        let (machine, mut cpu) =
            machine("cpu 0 0 0 5 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\nctxt 5\n");
        read(&mut cpu, 0);
        machine.write(
            "proc/stat",
            "cpu 60 20 10 95 0 5 5 10\ncpu0 60 20 10 0 0 5 5 0\ncpu1 0 0 0 90 0 0 0 10\nctxt 1005\nprocs_running 3\n",
        );
        let second = read(&mut cpu, 2000);
        assert_eq!(value(&second, "host.cpu.busy"), Some(0.5));
        assert_eq!(value(&second, "host.cpu.irq"), Some(0.05));
        assert_eq!(value(&second, "host.cpu.steal"), Some(0.05));
        assert_eq!(value(&second, "host.cpu.0.busy"), Some(1.0));
        assert_eq!(value(&second, "host.cpu.1.busy"), Some(0.0));
        assert_eq!(value(&second, "host.cpu.busiest"), Some(1.0));
        assert_eq!(value(&second, "host.context_switches"), Some(500.0));
        assert_eq!(value(&second, "host.processes.running"), Some(3.0));
    }

    #[test]
    fn readings_at_once_give_nothing_and_the_next_one_is_right() {
        let (machine, mut cpu) = machine("cpu 0 0 0 1\n");
        read(&mut cpu, 0);
        for at in [0, 1] {
            assert_eq!(read(&mut cpu, at).values(), []);
        }
        machine.write("proc/stat", "cpu 25 0 0 76\n");
        assert_eq!(value(&read(&mut cpu, 1000), "host.cpu.busy"), Some(0.25));
    }

    #[test]
    fn a_reset_and_a_missing_cpu_are_events() {
        let (machine, mut cpu) = machine("cpu 900 0 0 900\ncpu0 500 0 0 400\ncpu1 400 0 0 500\n");
        read(&mut cpu, 0);
        machine.write("proc/stat", "cpu 1 0 0 9\ncpu0 1 0 0 9\n");
        let second = read(&mut cpu, 1000);
        assert_eq!(value(&second, "host.cpu.busy"), None);
        assert_eq!(events(&second), ["counter reset", "CPUs online changed"]);
        machine.write("proc/stat", "cpu 3 0 0 17\ncpu0 3 0 0 17\n");
        assert_eq!(value(&read(&mut cpu, 2000), "host.cpu.busy"), Some(0.2));
    }

    #[test]
    fn iowait_may_run_backwards_a_little() {
        let (machine, mut cpu) = machine("cpu 100 0 0 500 50 0 0 0\n");
        read(&mut cpu, 0);
        machine.write("proc/stat", "cpu 120 0 0 580 47 0 0 0\n");
        let second = read(&mut cpu, 1000);
        assert_eq!(value(&second, "host.cpu.iowait"), Some(0.0));
        assert_eq!(value(&second, "host.cpu.busy"), Some(0.2));
        assert_eq!(events(&second), [""; 0]);
    }

    #[test]
    fn zeros_and_figures_that_stand_still_are_no_readings() {
        let (machine, mut cpu) = machine("cpu 10 0 0 90\n");
        read(&mut cpu, 0);
        let (readings, result) = try_read(&mut cpu, 1000);
        assert_eq!(readings.values(), []);
        assert!(matches!(result, Err(SourceError::Failed(_))));
        machine.write("proc/stat", "cpu 0 0 0 0 0 0 0 0 0 0\nctxt 0\nprocs_running 0\nprocs_blocked 0\n");
        let (readings, result) = try_read(&mut cpu, 2000);
        assert_eq!(readings.values(), []);
        assert!(matches!(result, Err(SourceError::Unavailable(_))));
    }

    #[test]
    fn no_file_is_unavailable_and_says_which() {
        let machine = Machine::new(&[]);
        let (_, result) = try_read(&mut HostCpu::below(&machine.root()), 0);
        assert!(matches!(result, Err(SourceError::Unavailable(why)) if why.contains("/proc/stat")));
    }
}
