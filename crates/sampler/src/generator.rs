//! The load generator's own threads and process.

use crate::{
    ThreadClock, ThreadTimes,
    counter::{Lap, Since},
    files::Root,
    probe::{Probe, source},
    process::files::{descriptors, resident_bytes},
};
use load_core::{Readings, SourceError};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

/// `generator.*`: what the load generator itself uses. Its threads are told apart from the rest of the process, since a
/// server may live in the same one.
///
/// | series | unit | what |
/// |---|---|---|
/// | `generator.cpu` | 1 | the busiest of its threads, share of a core |
/// | `generator.cpu.total` | cores | all of its threads together |
/// | `generator.run_queue` | 1 | the longest that one of its threads waited for a CPU, share of the time |
/// | `generator.thread.NAME.cpu` | 1 | one thread, share of a core |
/// | `generator.memory.resident` | B | of the whole process |
/// | `generator.descriptors` | descriptors | open in the whole process |
///
/// ```
/// let generator = sampler::Generator::new();
/// let threads = generator.threads();                 // goes to whoever starts the threads
/// std::thread::spawn(move || {
///     threads.add("worker 0", sampler::ThreadClock::current());
///     // ... work ...
/// });
/// let sampler = sampler::Sampler::new().source(generator);
/// ```
#[derive(Debug, Default)]
pub struct Generator {
    threads: GeneratorThreads,
    lap: Lap,
    root: Root,
}

/// Where threads of the load generator say that they exist. Clones are the same list; a thread that has ended leaves it by
/// itself.
#[derive(Debug, Clone, Default)]
pub struct GeneratorThreads(Arc<Mutex<Vec<Watched>>>);

#[derive(Debug)]
struct Watched {
    name: String,
    clock: ThreadClock,
    last: Option<ThreadTimes>,
}

impl GeneratorThreads {
    /// Adds a thread by the clock that it made. Not for hot paths: it takes a lock.
    pub fn add(&self, name: impl Into<String>, clock: ThreadClock) {
        self.lock().push(Watched { name: name.into(), clock, last: None });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Watched>> {
        // A list is whole even when somebody panicked while holding it.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Generator {
    /// Without threads yet.
    pub fn new() -> Generator {
        Generator::default()
    }

    /// The list of its threads, to add to.
    pub fn threads(&self) -> GeneratorThreads {
        self.threads.clone()
    }
}

source!(Generator, |_this| "/proc/self");

impl Probe for Generator {
    fn probe(&mut self, at: Duration, readings: &mut Readings) -> Result<(), SourceError> {
        if let Some(bytes) = resident_bytes(&self.root, "self") {
            readings.value("generator.memory.resident", "B", bytes as f64);
        }
        if let Some(open) = descriptors(&self.root, "self") {
            readings.value("generator.descriptors", "descriptors", open as f64);
        }
        let since = self.lap.mark(at);
        if since == Since::TooSoon {
            return Ok(());
        }
        let (mut busiest, mut total, mut longest): (Option<f64>, f64, Option<f64>) = (None, 0.0, None);
        self.threads.lock().retain_mut(|thread| {
            let Some(now) = thread.clock.read() else { return false };
            let Some(before) = thread.last.replace(now) else { return true };
            let Since::Seconds(seconds) = since else { return true };
            let share = |now: u64, before: u64| now.saturating_sub(before) as f64 / 1e9 / seconds;
            let cpu = share(now.cpu_ns, before.cpu_ns);
            readings.value(format!("generator.thread.{}.cpu", thread.name), "1", cpu);
            busiest = Some(busiest.unwrap_or(0.0).max(cpu));
            total += cpu;
            if let (Some(now), Some(before)) = (now.run_queue_ns, before.run_queue_ns) {
                longest = Some(longest.unwrap_or(0.0).max(share(now, before)));
            }
            true
        });
        if let Some(busiest) = busiest {
            readings.value("generator.cpu", "1", busiest);
            readings.value("generator.cpu.total", "cores", total);
        }
        if let Some(longest) = longest {
            readings.value("generator.run_queue", "1", longest);
        }
        Ok(())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::testing::value;

    #[test]
    fn a_thread_that_works_is_seen_and_one_that_ended_is_not() {
        let ended = std::thread::spawn(ThreadClock::current).join().unwrap();
        while ended.read().is_some() {
            std::thread::yield_now();
        }
        let mut probe = Generator::new();
        probe.threads().add("0", ThreadClock::current());
        probe.threads().add("1", ended);
        let from = crate::probe::now();
        probe.probe(from, &mut Readings::new()).unwrap();
        let clock = ThreadClock::current();
        let start = clock.read().unwrap().cpu_ns;
        while clock.read().unwrap().cpu_ns - start < 50_000_000 {}
        let mut readings = Readings::new();
        probe.probe(crate::probe::now(), &mut readings).unwrap();
        let cpu = value(&readings, "generator.cpu").unwrap();
        // The kernel may be one tick behind when it is first read.
        let least = 0.035 / (crate::probe::now() - from).as_secs_f64();
        assert!(cpu >= least && cpu < 1.3, "{cpu} of a core, at least {least}");
        assert_eq!(value(&readings, "generator.thread.1.cpu"), None);
        assert!(value(&readings, "generator.memory.resident").unwrap() > 100_000.0);
        assert!(value(&readings, "generator.descriptors").unwrap() >= 3.0);
    }

    #[test]
    fn a_thread_that_came_later_needs_two_readings_of_its_own() {
        let mut probe = Generator::new();
        let mut at = |seconds| {
            let mut readings = Readings::new();
            probe.probe(Duration::from_secs(seconds), &mut readings).unwrap();
            let seen = value(&readings, "generator.cpu");
            probe.threads().add(format!("{seconds}"), ThreadClock::current());
            (seen.is_some(), value(&readings, "generator.thread.1.cpu").is_some())
        };
        assert_eq!([at(1), at(2), at(3)], [(false, false), (false, false), (true, true)]);
    }
}
