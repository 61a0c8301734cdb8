//! From what a group or container has used to series.

use crate::counter::{Counters, Kind};
use load_core::{Readings, SourceError};
use std::time::Duration;

/// What one reading gave; what was not told is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Figures {
    pub(crate) cpu_ns: Option<u64>,
    pub(crate) cpu_limit_cores: Option<f64>,
    pub(crate) throttled_ns: Option<u64>,
    pub(crate) periods: Option<u64>,
    pub(crate) throttled_periods: Option<u64>,
    pub(crate) memory_usage: Option<u64>,
    /// The part of it that the kernel can take back at once.
    pub(crate) memory_reclaimable: Option<u64>,
    pub(crate) memory_limit: Option<u64>,
    pub(crate) memory_kills: Option<u64>,
    pub(crate) read_bytes: Option<u64>,
    pub(crate) written_bytes: Option<u64>,
    pub(crate) received_bytes: Option<u64>,
    pub(crate) sent_bytes: Option<u64>,
    pub(crate) tasks: Option<u64>,
}

/// Differences between the readings of one group.
#[derive(Debug)]
pub(crate) struct Account {
    /// `"cgroup.NAME"` or `"container.NAME"`.
    pub(crate) prefix: String,
    cores: f64,
    last_cpu_ns: Option<u64>,
    pub(crate) counters: Counters,
}

impl Account {
    pub(crate) fn new(prefix: String, cores: f64) -> Account {
        Account { prefix, cores, last_cpu_ns: None, counters: Counters::default() }
    }

    /// The group was made anew: what was counted before does not count.
    pub(crate) fn restarted(&mut self, readings: &mut Readings) {
        self.counters.reset();
        self.last_cpu_ns = None;
        readings.event("restarted", self.prefix.clone());
    }

    /// One reading. `self.counters` stays open for more of the same reading; the caller ends it.
    pub(crate) fn take(
        &mut self,
        at: Duration,
        figures: &Figures,
        readings: &mut Readings,
    ) -> Result<(), SourceError> {
        // A group in which something runs has used CPU and memory: engines show zeros when they do not know.
        let nothing = |x: Option<u64>| x.is_none_or(|x| x == 0);
        if nothing(figures.cpu_ns) && nothing(figures.memory_usage) {
            return Err(SourceError::Failed(format!("{}: everything is zero or missing", self.prefix)));
        }
        if let (Some(last), Some(now)) = (self.last_cpu_ns, figures.cpu_ns)
            && now < last
        {
            self.restarted(readings);
        }
        self.last_cpu_ns = figures.cpu_ns.or(self.last_cpu_ns);
        self.counters.begin(at);
        self.cpu(figures, readings);
        self.memory(figures, readings);
        for (name, kind, count) in [
            ("read", Kind::BYTES, figures.read_bytes),
            ("written", Kind::BYTES, figures.written_bytes),
            ("received", Kind::BYTES, figures.received_bytes),
            ("sent", Kind::BYTES, figures.sent_bytes),
        ] {
            if let Some(count) = count {
                self.counters.rate(readings, &format!("{}.{name}", self.prefix), kind, count);
            }
        }
        if let Some(tasks) = figures.tasks {
            readings.value(format!("{}.tasks", self.prefix), "tasks", tasks as f64);
        }
        Ok(())
    }

    fn cpu(&mut self, figures: &Figures, readings: &mut Readings) {
        let name = format!("{}.cpu", self.prefix);
        if let Some(limit) = figures.cpu_limit_cores {
            readings.value(format!("{name}.limit"), "cores", limit);
        }
        let Some(cpu_ns) = figures.cpu_ns else { return };
        let first = readings.values().len();
        self.counters.rate(readings, &name, Kind::time(1e9, self.cores).of("cores"), cpu_ns);
        // Three shares of three things; the name says of which.
        if let Some(cores) = readings.values().get(first).map(|v| v.2) {
            readings.value(format!("{name}.of_host"), "1", cores / self.cores);
            if let Some(limit) = figures.cpu_limit_cores {
                readings.value(format!("{name}.of_limit"), "1", cores / limit);
            }
        }
        if let Some(ns) = figures.throttled_ns {
            let kind = Kind::time(1e9, self.cores).of("s/s");
            self.counters.rate(readings, &format!("{}.throttled", self.prefix), kind, ns);
        }
        if let (Some(periods), Some(throttled)) = (figures.periods, figures.throttled_periods) {
            let periods = self.counters.grown("periods", periods);
            let throttled = self.counters.grown("throttled periods", throttled);
            if let (Some(periods @ 1..), Some(throttled)) = (periods, throttled) {
                let share = throttled as f64 / periods as f64;
                readings.value(format!("{}.throttled_periods", self.prefix), "1", share);
            }
        }
    }

    fn memory(&mut self, figures: &Figures, readings: &mut Readings) {
        let name = format!("{}.memory", self.prefix);
        if let Some(limit) = figures.memory_limit {
            readings.value(format!("{name}.limit"), "B", limit as f64);
        }
        if let Some(usage) = figures.memory_usage {
            readings.value(format!("{name}.usage"), "B", usage as f64);
            if let Some(reclaimable) = figures.memory_reclaimable {
                let used = usage.saturating_sub(reclaimable) as f64;
                readings.value(format!("{name}.used"), "B", used);
                if let Some(limit) = figures.memory_limit {
                    readings.value(format!("{name}.of_limit"), "1", used / limit as f64);
                }
            }
        }
        let kills = figures.memory_kills.and_then(|n| self.counters.grown("kills", n));
        if let Some(kills @ 1..) = kills {
            readings.event("out of memory kill", format!("{kills} in {}", self.prefix));
        }
    }
}
