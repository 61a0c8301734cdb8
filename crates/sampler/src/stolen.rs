//! Time that the machine withheld: steal by the hypervisor, throttling by a CPU limit.

use crate::{
    cgroup::places,
    files::{Handle, Root},
    parse::{self, stat},
    system,
};
use std::sync::Arc;

/// Cumulative time, in ns, in which something outside this system's scheduler held the CPUs back.
///
/// The share for the verdict is the growth of [`read`](StolenClock::read) over a phase, divided by the phase:
///
/// ```text
/// share = steal / (phase × cores) + throttled / phase
/// ```
///
/// *steal* is the hypervisor's, from `/proc/stat`, summed over the CPUs that this process may use (all of them if that is
/// not known); *cores* is their number; `read` divides already, so that the share of a wholly stolen machine is 1.
/// *throttled* is the time for which the CPU limit of this process's cgroup, or of one above it, held its run queues
/// back (`throttled_usec` of cgroup v2, `throttled_time` of v1). The kernel adds it up over run queues, so that it may exceed the phase
/// when several threads are held back at once: an upper bound, on the cautious side.
///
/// A kernel under a hypervisor that does not tell its guests of steal reports 0; that cannot be told from none.
#[derive(Debug, Clone)]
pub struct StolenClock(Arc<Files>);

#[derive(Debug)]
struct Files {
    stat: Option<Handle>,
    cpus: Option<Vec<u32>>,
    cpu_stats: Vec<Handle>,
    ticks_per_second: u64,
}

impl StolenClock {
    /// Opens the files. Never fails: where nothing can be read, [`read`](StolenClock::read) says `None`.
    pub fn new() -> StolenClock {
        StolenClock::open(&Root::system(), system::allowed_cpus())
    }

    pub(crate) fn open(root: &Root, cpus: Option<Vec<u32>>) -> StolenClock {
        StolenClock(Arc::new(Files {
            stat: root.open("proc/stat").ok(),
            cpus,
            cpu_stats: cpu_stat_paths(root).iter().filter_map(|path| root.open(path).ok()).collect(),
            ticks_per_second: system::ticks_per_second(),
        }))
    }

    /// Nanoseconds so far; `None` when neither account can be read. It hardly ever runs backwards, but a hypervisor's
    /// steal has been seen to after a migration: subtract with saturation.
    pub fn read(&self) -> Option<u64> {
        let mut buffer = Vec::new();
        let files = &*self.0;
        let steal = files.stat.as_ref().and_then(|handle| {
            let lines = stat::cpus(handle.read(&mut buffer).ok()?);
            // A system that counts nothing does not count steal either.
            lines.all.filter(|all| all.total() > 0)?;
            mean_steal(&lines, files.cpus.as_deref(), files.ticks_per_second)
        });
        let mut throttled = None;
        for handle in &files.cpu_stats {
            if let Some(ns) = handle.read(&mut buffer).ok().and_then(parse::cgroup::throttled_ns) {
                throttled = Some(throttled.unwrap_or(0u64).saturating_add(ns));
            }
        }
        match (steal, throttled) {
            (None, None) => None,
            (steal, throttled) => Some(steal.unwrap_or(0).saturating_add(throttled.unwrap_or(0))),
        }
    }
}

impl Default for StolenClock {
    fn default() -> StolenClock {
        StolenClock::new()
    }
}

/// Steal in ns per CPU of `allowed`; of all CPUs when none of those is listed (a container may renumber them).
fn mean_steal(lines: &stat::CpuLines, allowed: Option<&[u32]>, ticks_per_second: u64) -> Option<u64> {
    let steal = |of: &dyn Fn(u32) -> bool| -> Option<(u64, u64)> {
        let mut sum = (0u64, 0u64);
        for (_, ticks) in lines.each.iter().filter(|(n, _)| of(*n)) {
            sum = (sum.0.saturating_add(ticks.steal?), sum.1 + 1);
        }
        (sum.1 > 0).then_some(sum)
    };
    let (ticks, cores) =
        allowed.and_then(|allowed| steal(&|n| allowed.contains(&n))).or_else(|| steal(&|_| true)).or_else(
            || Some((lines.all?.steal?, std::thread::available_parallelism().map_or(1, |n| n.get()) as u64)),
        )?;
    Some(system::ticks_to_ns(ticks, ticks_per_second) / cores)
}

/// `cpu.stat` of the own cgroup and of those above it, of both versions, as far as they can be seen.
fn cpu_stat_paths(root: &Root) -> Vec<String> {
    let places = places(root, "self");
    let levels = places.v1("cpu").into_iter().chain(places.v2.as_ref()).flat_map(|place| place.levels());
    levels.map(|directory| format!("{directory}/cpu.stat")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn write(root: &std::path::Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    const STAT: &str = "cpu  1 1 1 1 0 0 0 600 0 0\ncpu0 1 0 0 0 0 0 0 200 0 0\ncpu1 0 1 1 1 0 0 0 400 0 0\n";

    fn ticks(n: u64) -> Option<u64> {
        Some(system::ticks_to_ns(n, system::ticks_per_second()))
    }

    #[test]
    fn steal_is_per_core_of_those_that_may_be_used() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "proc/stat", STAT);
        let read = |cpus| StolenClock::open(&Root::at(root.path()), cpus).read();
        assert_eq!(read(None), ticks(300));
        assert_eq!(read(Some(vec![1])), ticks(400));
        assert_eq!(read(Some(vec![0, 1, 5])), ticks(300));
        assert_eq!(read(Some(vec![63])), ticks(300), "numbers that are not listed");
    }

    #[test]
    fn throttling_is_read_from_both_versions_and_from_the_groups_above() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "proc/self/cgroup", "0::/pod/app\n");
        write(root.path(), "proc/self/mountinfo", "9 8 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        write(root.path(), "sys/fs/cgroup/pod/cpu.stat", "usage_usec 9\nthrottled_usec 30\n");
        write(root.path(), "sys/fs/cgroup/pod/app/cpu.stat", "usage_usec 9\nthrottled_usec 12\n");
        write(root.path(), "sys/fs/cgroup/cpu.stat", "usage_usec 9\n");
        assert_eq!(StolenClock::open(&Root::at(root.path()), None).read(), Some(42_000));

        let root = tempfile::tempdir().unwrap();
        write(root.path(), "proc/self/cgroup", "3:cpu,cpuacct:/docker/x\n0::/\n");
        let mounts = "9 8 0:38 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";
        write(root.path(), "proc/self/mountinfo", mounts);
        write(
            root.path(),
            "sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.stat",
            "nr_periods 1\nthrottled_time 77\n",
        );
        write(root.path(), "proc/stat", STAT);
        assert_eq!(StolenClock::open(&Root::at(root.path()), None).read(), ticks(300).map(|t| t + 77));
    }

    #[test]
    fn nothing_to_read_is_not_measured() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(StolenClock::open(&Root::at(root.path()), None).read(), None);
        write(root.path(), "proc/stat", "cpu 1 2 3 4\ncpu0 1 2 3 4\n");
        assert_eq!(StolenClock::open(&Root::at(root.path()), None).read(), None, "a kernel without steal");
        write(root.path(), "proc/stat", "cpu 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0\n");
        assert_eq!(
            StolenClock::open(&Root::at(root.path()), None).read(),
            None,
            "a sandbox that counts nothing"
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_machine_gives_a_figure_that_does_not_shrink() {
        let clock = StolenClock::new();
        let (first, second) = (clock.read(), clock.read());
        assert!(first.is_some() && second >= first, "{first:?} {second:?}");
    }
}
