//! The load generator's own threads and process.

use crate::{
    ThreadClock,
    counter::{Lap, Since},
    files::Root,
    probe::{Probe, source},
    process::files::{descriptors, resident_bytes},
};
use load_core::{Readings, SourceError};
use std::time::Duration;

/// `generator.*`: what the load generator itself uses. Its threads are told apart from the rest of the process, since a
/// server may live in the same one.
///
/// | series | unit | what |
/// |---|---|---|
/// | `generator.cpu` | 1 | the busiest of its threads, share of a core |
/// | `generator.cpu.total` | 1 | all of its threads together, in cores |
/// | `generator.run_queue` | 1 | the longest that one of its threads waited for a CPU, share of the time |
/// | `generator.thread.NAME.cpu` | 1 | one thread, share of a core |
/// | `generator.memory.resident` | B | of the whole process |
/// | `generator.descriptors` | 1 | open in the whole process |
#[derive(Debug)]
pub struct Generator {
    threads: Vec<(String, ThreadClock, Option<crate::ThreadTimes>)>,
    lap: Lap,
    root: Root,
}

impl Generator {
    /// Without threads yet.
    pub fn new() -> Generator {
        Generator { threads: Vec::new(), lap: Lap::default(), root: Root::system() }
    }

    /// Adds a thread by the clock that it made.
    pub fn thread(mut self, name: impl Into<String>, clock: ThreadClock) -> Generator {
        self.threads.push((name.into(), clock, None));
        self
    }
}

impl Default for Generator {
    fn default() -> Generator {
        Generator::new()
    }
}

source!(Generator, |_this| "/proc/self");

impl Probe for Generator {
    fn probe(&mut self, at: Duration, readings: &mut Readings) -> Result<(), SourceError> {
        if let Some(bytes) = resident_bytes(&self.root, "self") {
            readings.value("generator.memory.resident", "B", bytes as f64);
        }
        if let Some(open) = descriptors(&self.root, "self") {
            readings.value("generator.descriptors", "1", open as f64);
        }
        let since = self.lap.mark(at);
        if since == Since::TooSoon {
            return Ok(());
        }
        let (mut busiest, mut total, mut longest): (Option<f64>, f64, Option<f64>) = (None, 0.0, None);
        for (name, clock, last) in &mut self.threads {
            let (before, now) = (last.take(), clock.read());
            *last = now;
            let (Since::Seconds(seconds), Some(before), Some(now)) = (since, before, now) else { continue };
            let share = |ns: u64| ns as f64 / 1e9 / seconds;
            let cpu = share(now.cpu_ns.saturating_sub(before.cpu_ns));
            readings.value(format!("generator.thread.{name}.cpu"), "1", cpu);
            busiest = Some(busiest.unwrap_or(0.0).max(cpu));
            total += cpu;
            if let (Some(now), Some(before)) = (now.run_queue_ns, before.run_queue_ns) {
                longest = Some(longest.unwrap_or(0.0).max(share(now.saturating_sub(before))));
            }
        }
        if let Some(busiest) = busiest {
            readings.value("generator.cpu", "1", busiest);
            readings.value("generator.cpu.total", "1", total);
        }
        if let Some(longest) = longest {
            readings.value("generator.run_queue", "1", longest);
        }
        if self.threads.iter().all(|(_, _, last)| last.is_none()) && !self.threads.is_empty() {
            return Err(SourceError::Failed(
                "no thread of the generator can be read (ended, or no /proc)".into(),
            ));
        }
        Ok(())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::testing::{try_read, value};

    #[test]
    fn a_thread_that_works_is_seen_and_one_that_ended_is_not() {
        let ended = std::thread::spawn(ThreadClock::current).join().unwrap();
        let mut probe = Generator::new().thread("0", ThreadClock::current()).thread("1", ended.clone());
        while ended.read().is_some() {
            std::thread::yield_now();
        }
        let from = crate::probe::now();
        probe.probe(from, &mut Readings::new()).unwrap();
        let clock = ThreadClock::current();
        let start = clock.read().unwrap().cpu_ns;
        while clock.read().unwrap().cpu_ns - start < 50_000_000 {}
        let mut readings = Readings::new();
        probe.probe(crate::probe::now(), &mut readings).unwrap();
        let cpu = value(&readings, "generator.cpu").unwrap();
        let least = 0.045 / (crate::probe::now() - from).as_secs_f64();
        // The kernel may be one tick behind when it is first read.
        assert!(cpu >= least && cpu < 1.3, "{cpu} of a core, at least {least}");
        assert_eq!(value(&readings, "generator.thread.1.cpu"), None);
        assert!(value(&readings, "generator.memory.resident").unwrap() > 100_000.0);
        assert!(value(&readings, "generator.descriptors").unwrap() >= 3.0);
    }

    #[test]
    fn all_ended_is_an_error_not_zero() {
        let ended = std::thread::spawn(ThreadClock::current).join().unwrap();
        while ended.read().is_some() {
            std::thread::yield_now();
        }
        let (readings, result) = try_read(&mut Generator::new().thread("0", ended), 0);
        assert!(result.is_err() && value(&readings, "generator.cpu").is_none());
    }
}
