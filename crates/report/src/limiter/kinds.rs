//! The kinds of resource that can be full, and what readings say of each.

use super::mean_within;
use load_core::{
    Record,
    record::{Phase, Series},
};

/// From this mean share of a phase on, a resource of the machine or of a server counts as full. Below 1, as readings of a
/// second and a phase that does not begin with one give up a few percent.
pub const FULL: f64 = 0.90;
/// The same of the load generator's busiest thread: where the verdict's rule begins to doubt it.
pub const GENERATOR_FULL: f64 = 0.80;
/// Of memory, which serves well until the last of it is gone.
const MEMORY_FULL: f64 = 0.95;
/// Of the time in which some task waited for memory to be freed, or was read back: more than a tenth is felt.
const WAITING_FULL: f64 = 0.10;
/// Of the periods of a CPU limit: whoever is held back in every second one has no more to give.
const THROTTLED_FULL: f64 = 0.50;

/// A kind of resource.
#[derive(Debug, PartialEq)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// The mean share from which on it is full.
    pub(super) full: f64,
    /// Said to be missing when it was not read. What only some machines have, a limit, is not.
    pub(super) expected: bool,
    /// Left out unless there is something to say.
    pub(super) quiet: bool,
    /// The series is this, one name, and this.
    series: (&'static str, &'static str),
}

const fn kind(name: &'static str, full: f64, prefix: &'static str, suffix: &'static str) -> Kind {
    Kind { name, full, expected: false, quiet: false, series: (prefix, suffix) }
}

impl Kind {
    const fn expected(self) -> Kind {
        Kind { expected: true, ..self }
    }

    const fn quiet(self) -> Kind {
        Kind { quiet: true, ..self }
    }

    /// Which one of its kind a series is about.
    fn which<'a>(&self, series: &'a str) -> Option<&'a str> {
        series.strip_prefix(self.series.0)?.strip_suffix(self.series.1)
    }
}

/// In the order in which they are said when equally full.
pub(super) const KINDS: [Kind; 11] = [
    kind("host CPU", FULL, "host.cpu.busy", "").expected(),
    kind("CPU limit", FULL, "cgroup.", ".cpu.of_limit"),
    kind("CPU limit", FULL, "container.", ".cpu.of_limit"),
    kind("periods held back by a CPU limit", THROTTLED_FULL, "cgroup.", ".throttled_periods").quiet(),
    kind("one core of a server", FULL, "process.", ".cpu.busiest_thread").expected(),
    kind("memory", MEMORY_FULL, "host.memory.available", "").expected(),
    kind("memory limit", MEMORY_FULL, "cgroup.", ".memory.of_limit"),
    kind("memory limit", MEMORY_FULL, "container.", ".memory.of_limit"),
    kind("time waiting for memory", WAITING_FULL, "host.pressure.memory.some", "").quiet(),
    kind("disk", FULL, "host.disk.", ".busy").expected(),
    kind("network", FULL, "host.net.", ".of_link").expected(),
];

/// The engine's own threads: in the evidence of its streams, whatever was sampled.
pub(super) const GENERATOR: Kind = kind("load generator", GENERATOR_FULL, "", "").expected();

/// What a series says of a phase: its kind, which one of the kind, and the mean share.
pub(super) fn share(record: &Record, series: &Series, phase: &Phase) -> Option<(&'static Kind, String, f64)> {
    let (kind, which) = KINDS.iter().find_map(|kind| Some((kind, kind.which(&series.name)?)))?;
    let mean = mean_within(series, phase)?;
    let other = |name: &str| mean_within(record.series.iter().find(|s| s.name == name)?, phase);
    match series.name.as_str() {
        // What the hypervisor took is not there to be used either.
        "host.cpu.busy" => match other("host.cpu.steal").filter(|stolen| *stolen >= 0.01) {
            Some(stolen) => Some((kind, "with what was stolen".into(), (mean + stolen).min(1.0))),
            None => Some((kind, String::new(), mean)),
        },
        "host.memory.available" => {
            let total = other("host.memory.total").filter(|total| *total > 0.0)?;
            Some((kind, String::new(), (1.0 - mean / total).max(0.0)))
        }
        _ => Some((kind, which.into(), mean)),
    }
}
