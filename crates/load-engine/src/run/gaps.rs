//! Times in which the load generator itself stood still: stopped by a signal, starved, or on a machine that slept.

/// The coordinator looks every 10 ms; when it does not for this long, something held the whole process.
const LEAST_NS: u64 = 500_000_000;

/// What workers may take, when the process runs again, until they have seen what happened meanwhile.
const GRACE_NS: u64 = 4_000_000_000;

/// A stretch in which nothing ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Whether the machine slept: the run's clock stood still meanwhile.
    pub(super) asleep: bool,
}

/// Notices gaps.
#[derive(Debug)]
pub(super) struct Gaps {
    last: u64,
    asleep_ns: Option<u64>,
    pub(super) found: Vec<Gap>,
}

impl Gaps {
    pub(super) fn new(now: u64) -> Gaps {
        Gaps { last: now, asleep_ns: asleep_ns(), found: Vec::new() }
    }

    /// Called at every turn of the coordinator.
    pub(super) fn look(&mut self, now: u64) {
        if now.saturating_sub(self.last) >= LEAST_NS {
            self.found.push(Gap { start: self.last, end: now, asleep: false });
        }
        self.last = now;
        let asleep = asleep_ns();
        if let (Some(before), Some(after)) = (self.asleep_ns, asleep)
            && after.saturating_sub(before) >= LEAST_NS
        {
            self.found.push(Gap { start: now, end: now + (after - before), asleep: true });
        }
        self.asleep_ns = asleep;
    }
}

impl Gaps {
    /// Until when nothing is stuck that is late because this process stood still; 0 when it always ran.
    pub(super) fn grace_end(&self) -> u64 {
        let ends = self.found.iter().filter(|gap| !gap.asleep).map(|gap| gap.end);
        ends.max().map_or(0, |end| end.saturating_add(GRACE_NS))
    }
}

impl Gap {
    pub(super) fn seconds(&self) -> f64 {
        (self.end - self.start) as f64 / 1e9
    }

    pub(super) fn what(&self) -> &'static str {
        if self.asleep { "machine slept" } else { "load generator stopped" }
    }
}

/// How long this machine has slept since it was started, by the difference of two clocks.
#[cfg(target_os = "linux")]
fn asleep_ns() -> Option<u64> {
    use rustix::time::{ClockId, clock_gettime};
    let ns = |id| {
        let t = clock_gettime(id);
        u64::try_from(t.tv_sec).ok()?.checked_mul(1_000_000_000)?.checked_add(u64::try_from(t.tv_nsec).ok()?)
    };
    ns(ClockId::Boottime)?.checked_sub(ns(ClockId::Monotonic)?)
}

#[cfg(not(target_os = "linux"))]
fn asleep_ns() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_that_comes_late_is_a_gap() {
        let mut gaps = Gaps::new(1_000);
        for t in [10_000_000, 20_000_000, 3_020_000_000, 3_030_000_000] {
            gaps.look(t);
        }
        assert_eq!(gaps.found, [Gap { start: 20_000_000, end: 3_020_000_000, asleep: false }]);
        assert_eq!((gaps.found[0].seconds(), gaps.grace_end()), (3.0, 7_020_000_000));
    }
}
