//! The `cpu` lines of `/proc/stat`.

use super::lines;

/// Ticks of one CPU, or of all together, by state. A state that this kernel does not tell is `None`.
///
/// The kernel counts guest time in `user` too; the guest columns are therefore not read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CpuTicks {
    pub(crate) user: u64,
    pub(crate) nice: u64,
    pub(crate) system: u64,
    pub(crate) idle: u64,
    pub(crate) iowait: Option<u64>,
    pub(crate) irq: Option<u64>,
    pub(crate) softirq: Option<u64>,
    pub(crate) steal: Option<u64>,
}

/// The `cpu` line, and the `cpuN` lines with their numbers (CPUs that are offline have none).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CpuLines {
    pub(crate) all: Option<CpuTicks>,
    pub(crate) each: Vec<(u32, CpuTicks)>,
}

/// The `cpu` lines; others are passed over.
pub(crate) fn cpus(bytes: &[u8]) -> CpuLines {
    let mut found = CpuLines::default();
    for line in lines(bytes) {
        // They come first; the long `intr` line after them need not be looked at.
        let Some(rest) = line.strip_prefix("cpu") else { break };
        let (name, ticks) = rest.split_once(' ').unwrap_or((rest, ""));
        let Some(ticks) = ticks_of(ticks) else { continue };
        if name.is_empty() {
            found.all = Some(ticks);
        } else if let Ok(number) = name.parse() {
            found.each.push((number, ticks));
        }
    }
    found
}

impl CpuTicks {
    /// Ticks spent on work of this system.
    pub(crate) fn busy(&self) -> u64 {
        [self.user, self.nice, self.system, self.irq.unwrap_or(0), self.softirq.unwrap_or(0)]
            .iter()
            .fold(0, |sum: u64, x| sum.saturating_add(*x))
    }

    /// All ticks.
    pub(crate) fn total(&self) -> u64 {
        [self.idle, self.iowait.unwrap_or(0), self.steal.unwrap_or(0)]
            .iter()
            .fold(self.busy(), |sum, x| sum.saturating_add(*x))
    }

    /// What was added since `before`. A state that ran backwards has added nothing: `idle` and `iowait` may do so by a
    /// few ticks (proc_stat(5)). `None` when all together fell, which means that counting began anew.
    pub(crate) fn since(&self, before: &CpuTicks) -> Option<CpuTicks> {
        if self.total() < before.total() || self.busy() < before.busy() {
            return None;
        }
        let both = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        Some(CpuTicks {
            user: self.user.saturating_sub(before.user),
            nice: self.nice.saturating_sub(before.nice),
            system: self.system.saturating_sub(before.system),
            idle: self.idle.saturating_sub(before.idle),
            iowait: both(self.iowait, before.iowait),
            irq: both(self.irq, before.irq),
            softirq: both(self.softirq, before.softirq),
            steal: both(self.steal, before.steal),
        })
    }
}

fn ticks_of(text: &str) -> Option<CpuTicks> {
    let mut words = text.split_ascii_whitespace().map(|w| w.parse::<u64>());
    let mut next = || words.next()?.ok();
    Some(CpuTicks {
        user: next()?,
        nice: next()?,
        system: next()?,
        idle: next()?,
        iowait: next(),
        irq: next(),
        softirq: next(),
        steal: next(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_all_and_each() {
        let found = cpus(
            b"cpu  10 1 5 80 4 2 3 7 0 0\ncpu0 4 0 2 41 4 2 3 7 0 0\ncpu3 6 1 3 39 0 0 0 0 0 0\nintr 9\n",
        );
        assert_eq!(found.all.unwrap().steal, Some(7));
        assert_eq!(
            found.each.iter().map(|(n, _)| *n).collect::<Vec<_>>(),
            [0, 3],
            "CPUs 1 and 2 are offline"
        );
        assert_eq!(found.each[1].1.user, 6);
    }

    #[test]
    fn an_old_kernel_has_fewer_states() {
        let all = cpus(b"cpu 10 1 5 80\n").all.unwrap();
        assert_eq!((all.idle, all.iowait, all.steal), (80, None, None));
    }

    #[test]
    fn what_is_cut_or_odd_gives_nothing() {
        assert_eq!(cpus(b""), CpuLines::default());
        assert_eq!(cpus(b"cpu  10 1 5"), CpuLines::default());
        assert_eq!(cpus(b"cpu  10 1 5 80 4 2 3 7 0"), CpuLines::default(), "cut");
        assert_eq!(cpus(b"cpu\ncpu0\ncpux 1 2 3 4\n"), CpuLines::default());
    }
}
