//! A control group as a source.

use super::{
    account::{Account, Figures},
    locate::{Places, places},
};
use crate::{
    files::{Kept, Root},
    host::pressure_shares,
    parse::{cgroup, keyed, single},
    probe::{Probe, source},
    system,
};
use load_core::{Readings, SourceError};
use std::time::Duration;

/// `cgroup.NAME.*`: what a control group uses, against its limits; of cgroup v1 and v2.
///
/// | series | unit | what |
/// |---|---|---|
/// | `.cpu` | cores | that it keeps busy |
/// | `.cpu.of_host` | 1 | the same as a share of all CPUs of the machine |
/// | `.cpu.of_limit` | 1 | the same as a share of its limit. Absent without a limit |
/// | `.cpu.limit` | cores | the limit |
/// | `.throttled` | s/s | time that the limit held its run queues back, per time; may exceed 1 on several cores |
/// | `.throttled_periods` | 1 | share of the limit's periods in which it was held back |
/// | `.memory.usage` | B | as the kernel counts it, with cached files |
/// | `.memory.used` | B | without cache (v1) or inactive file pages (v2) |
/// | `.memory.limit`, `.memory.of_limit` | B, 1 | the limit, and `.used` as a share of it. Absent without a limit |
/// | `.read`, `.written` | B/s | of block devices |
/// | `.tasks` | tasks | |
/// | `.pressure.RESOURCE.some`, `.full` | 1 | v2 |
///
/// A limit is the lowest of the group's own and of those above it that can be seen. Events: `restarted` (the group was
/// made anew), `out of memory kill`.
#[derive(Debug)]
pub struct Cgroup {
    files: Files,
    account: Account,
    lost: bool,
}

#[derive(Debug)]
enum Files {
    V2 {
        cpu: Kept,
        cpu_max: Vec<Kept>,
        memory: Kept,
        memory_stat: Kept,
        memory_max: Vec<Kept>,
        memory_events: Kept,
        io: Kept,
        tasks: Kept,
        pressure: Vec<(&'static str, Kept)>,
    },
    V1 {
        usage: Kept,
        cpu: Kept,
        quotas: Vec<(Kept, Kept)>,
        memory: Kept,
        memory_stat: Kept,
        memory_max: Vec<Kept>,
        io: Kept,
        tasks: Kept,
    },
    None(String),
}

impl Cgroup {
    /// The group that this process is in.
    pub fn own(name: impl Into<String>) -> Cgroup {
        Cgroup::of(name, &Root::system(), "self")
    }

    /// The group that a process is in now.
    pub fn of_process(name: impl Into<String>, pid: u32) -> Cgroup {
        Cgroup::of(name, &Root::system(), &pid.to_string())
    }

    pub(crate) fn of(name: impl Into<String>, root: &Root, pid: &str) -> Cgroup {
        Cgroup {
            files: Files::at(root, &places(root, pid)),
            account: Account::new(format!("cgroup.{}", name.into()), system::cpus_online(root) as f64),
            lost: false,
        }
    }
}

impl Cgroup {
    /// Its limits: cores, and bytes of memory.
    pub(crate) fn limits(&mut self) -> (Option<f64>, Option<u64>) {
        let figures = self.files.figures();
        (figures.cpu_limit_cores, figures.memory_limit)
    }
}

impl Files {
    fn at(root: &Root, places: &Places) -> Files {
        // Where both are mounted the controllers belong to one of them.
        if let Some(place) = &places.v2 {
            let directory = place.directory();
            let kept = |name: &str| Kept::new(root, format!("{directory}/{name}"));
            let levels =
                |name: &str| place.levels().iter().map(|l| Kept::new(root, format!("{l}/{name}"))).collect();
            let owns = |name: &str| root.exists(&format!("{directory}/{name}"));
            if owns("memory.current") || owns("cpu.max") || places.v1.is_empty() {
                return Files::V2 {
                    cpu: kept("cpu.stat"),
                    cpu_max: levels("cpu.max"),
                    memory: kept("memory.current"),
                    memory_stat: kept("memory.stat"),
                    memory_max: levels("memory.max"),
                    memory_events: kept("memory.events"),
                    io: kept("io.stat"),
                    tasks: kept("pids.current"),
                    pressure: ["cpu", "memory", "io"].map(|r| (r, kept(&format!("{r}.pressure")))).into(),
                };
            }
        }
        if places.v1.is_empty() {
            return Files::None("this process's cgroup cannot be seen".into());
        }
        let kept = |controller: &str, name: &str| {
            let directory = places.v1(controller).map_or("none".into(), |place| place.directory());
            Kept::new(root, format!("{directory}/{name}"))
        };
        let levels = |controller: &str| places.v1(controller).map(|p| p.levels()).unwrap_or_default();
        Files::V1 {
            usage: kept("cpuacct", "cpuacct.usage"),
            cpu: kept("cpu", "cpu.stat"),
            quotas: levels("cpu")
                .iter()
                .map(|l| ["quota", "period"].map(|n| Kept::new(root, format!("{l}/cpu.cfs_{n}_us"))).into())
                .collect(),
            memory: kept("memory", "memory.usage_in_bytes"),
            memory_stat: kept("memory", "memory.stat"),
            memory_max: levels("memory")
                .iter()
                .map(|l| Kept::new(root, format!("{l}/memory.limit_in_bytes")))
                .collect(),
            io: kept("blkio", "blkio.throttle.io_service_bytes"),
            tasks: kept("pids", "pids.current"),
        }
    }

    fn figures(&mut self) -> Figures {
        match self {
            Files::V2 { cpu, cpu_max, memory, memory_stat, memory_max, memory_events, io, tasks, .. } => {
                let mut f = Figures::default();
                if let Ok(bytes) = cpu.read() {
                    f.cpu_ns = keyed(bytes, "usage_usec").map(|us| us.saturating_mul(1000));
                    f.throttled_ns = cgroup::throttled_ns(bytes);
                    (f.periods, f.throttled_periods) =
                        (keyed(bytes, "nr_periods"), keyed(bytes, "nr_throttled"));
                }
                f.cpu_limit_cores = cpu_max
                    .iter_mut()
                    .filter_map(|file| cgroup::cpu_max(file.read().ok()?))
                    .min_by(f64::total_cmp);
                f.memory_usage = memory.read().ok().and_then(single);
                f.memory_reclaimable = memory_stat.read().ok().and_then(|b| keyed(b, "inactive_file"));
                f.memory_limit = lowest(memory_max);
                f.memory_kills = memory_events.read().ok().and_then(|b| keyed(b, "oom_kill"));
                if let Ok(bytes) = io.read() {
                    let (read, written) = cgroup::io_stat(bytes);
                    (f.read_bytes, f.written_bytes) = (Some(read), Some(written));
                }
                f.tasks = tasks.read().ok().and_then(single);
                f
            }
            Files::V1 { usage, cpu, quotas, memory, memory_stat, memory_max, io, tasks } => {
                let mut f = Figures { cpu_ns: usage.read().ok().and_then(single), ..Figures::default() };
                if let Ok(bytes) = cpu.read() {
                    f.throttled_ns = cgroup::throttled_ns(bytes);
                    (f.periods, f.throttled_periods) =
                        (keyed(bytes, "nr_periods"), keyed(bytes, "nr_throttled"));
                }
                f.cpu_limit_cores = quotas
                    .iter_mut()
                    .filter_map(|(quota, period)| cgroup::cfs(quota.read().ok()?, period.read().ok()?))
                    .min_by(f64::total_cmp);
                f.memory_usage = memory.read().ok().and_then(single);
                f.memory_reclaimable = memory_stat
                    .read()
                    .ok()
                    .and_then(|b| keyed(b, "total_cache").or_else(|| keyed(b, "cache")));
                f.memory_limit = lowest(memory_max);
                if let Ok(bytes) = io.read() {
                    let (read, written) = cgroup::blkio(bytes);
                    (f.read_bytes, f.written_bytes) = (Some(read), Some(written));
                }
                f.tasks = tasks.read().ok().and_then(single);
                f
            }
            Files::None(_) => Figures::default(),
        }
    }
}

fn lowest(files: &mut [Kept]) -> Option<u64> {
    files.iter_mut().filter_map(|file| cgroup::memory_limit(file.read().ok()?)).min()
}

source!(Cgroup, |this| match &this.files {
    Files::V2 { cpu, .. } => format!("cgroup v2 {}", cpu.directory()),
    Files::V1 { usage, .. } => format!("cgroup v1 {}", usage.directory()),
    Files::None(_) => "cgroup".into(),
});

impl Probe for Cgroup {
    fn probe(&mut self, at: Duration, readings: &mut Readings) -> Result<(), SourceError> {
        if let Files::None(why) = &self.files {
            return Err(SourceError::Unavailable(why.clone()));
        }
        let figures = self.files.figures();
        // What is left then are the limits of the groups above.
        if figures.cpu_ns.is_none() && figures.memory_usage.is_none() {
            self.lost = true;
            return Err(SourceError::Failed(format!("{}: the group is gone", self.account.prefix)));
        }
        // Handles of a group that was removed give errors; this is another one in its place.
        if std::mem::take(&mut self.lost) {
            self.account.restarted(readings);
        }
        self.account.take(at, &figures, readings)?;
        if let Files::V2 { pressure, .. } = &mut self.files {
            for (resource, file) in pressure {
                if let Ok(bytes) = file.read() {
                    let prefix = format!("{}.pressure.{resource}", self.account.prefix);
                    pressure_shares(&mut self.account.counters, readings, &prefix, bytes);
                }
            }
        }
        self.account.counters.end();
        Ok(())
    }
}

#[cfg(test)]
#[path = "source_test.rs"]
mod tests;
