//! The CPU time of one thread, read from any other.

use crate::{
    files::{Handle, Root},
    parse::pid,
    system,
};
use std::sync::Arc;

/// What a thread has used so far, since it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadTimes {
    /// Nanoseconds on a CPU.
    pub cpu_ns: u64,
    /// Nanoseconds ready to run but waiting for a CPU; `None` where the kernel does not keep them.
    pub run_queue_ns: Option<u64>,
}

/// The clock of the thread that made it; any thread of the process may read it.
///
/// Reads `/proc/self/task/TID/schedstat` through a handle that stays open (about 1 µs), or `stat` where there is no such
/// account. The kernel brings the figures of a running thread up to date at its ticks, so that they may be one tick
/// (1 to 10 ms) behind.
///
/// ```
/// let clock = sampler::ThreadClock::current();
/// let reader = clock.clone();
/// let seen = std::thread::spawn(move || reader.read()).join().unwrap();
/// if let Some(times) = seen {                       // None: not measured on this system
///     println!("{} ns on a CPU, {:?} ns waiting for one", times.cpu_ns, times.run_queue_ns);
/// }
/// ```
#[derive(Debug, Clone)]
pub struct ThreadClock(Arc<Files>);

#[derive(Debug)]
struct Files {
    schedstat: Option<Handle>,
    stat: Option<Handle>,
    ticks_per_second: u64,
}

impl ThreadClock {
    /// The clock of the calling thread. Never fails: where nothing can be read, [`read`](ThreadClock::read) says `None`.
    pub fn current() -> ThreadClock {
        match system::thread_id() {
            Some(id) => ThreadClock::open(&Root::system(), &format!("proc/self/task/{id}")),
            None => ThreadClock(Arc::new(Files { schedstat: None, stat: None, ticks_per_second: 100 })),
        }
    }

    fn open(root: &Root, directory: &str) -> ThreadClock {
        ThreadClock(Arc::new(Files {
            schedstat: root.open(&format!("{directory}/schedstat")).ok(),
            stat: root.open(&format!("{directory}/stat")).ok(),
            ticks_per_second: system::ticks_per_second(),
        }))
    }

    /// What the thread has used so far; `None` when it cannot be known: another system than Linux, no /proc, or the
    /// thread has ended.
    pub fn read(&self) -> Option<ThreadTimes> {
        let mut buffer = [0; 1024];
        if let Some(handle) = &self.0.schedstat
            && let Some((cpu_ns, waited)) = pid::schedstat(handle.read_line(&mut buffer).ok()?)
        {
            return Some(ThreadTimes { cpu_ns, run_queue_ns: Some(waited) });
        }
        let stat = pid::stat(self.0.stat.as_ref()?.read_line(&mut buffer).ok()?)?;
        Some(ThreadTimes {
            cpu_ns: system::ticks_to_ns(stat.own_ticks(), self.0.ticks_per_second),
            run_queue_ns: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    #[cfg(target_os = "linux")]
    fn sees_the_work_of_another_thread_and_not_its_own() {
        let (send, receive) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let busy = std::thread::spawn(move || {
            send.send(ThreadClock::current()).unwrap();
            let mut x = 1u64;
            while ended.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                x = std::hint::black_box(x.wrapping_mul(3));
            }
        });
        let other = receive.recv().unwrap();
        let own = ThreadClock::current();
        let (start, own_start) = (other.read().unwrap(), own.read().unwrap());
        let from = std::time::Instant::now();
        // Until the other thread has had 100 ms of CPU, however long this busy machine needs for it.
        while other.read().unwrap().cpu_ns - start.cpu_ns < 100_000_000 {
            assert!(from.elapsed().as_secs() < 60, "no CPU time seen in 60 s");
            std::thread::park_timeout(std::time::Duration::from_millis(5));
        }
        let used = other.read().unwrap().cpu_ns - start.cpu_ns;
        assert!(
            u128::from(used) <= from.elapsed().as_nanos() + 20_000_000,
            "more than one core's worth: {used}"
        );
        assert!(own.read().unwrap().cpu_ns - own_start.cpu_ns < used, "the reader mostly slept");
        drop(end);
        busy.join().unwrap();
        // Joining returns a moment before the kernel has let go of the thread.
        let from = std::time::Instant::now();
        while other.read().is_some() {
            assert!(from.elapsed().as_secs() < 60, "an ended thread still gives figures");
            std::thread::yield_now();
        }
    }

    fn files(schedstat: Option<&str>, stat: Option<&str>) -> Option<ThreadTimes> {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("t")).unwrap();
        for (name, text) in [("schedstat", schedstat), ("stat", stat)] {
            if let Some(text) = text {
                fs::write(directory.path().join("t").join(name), text).unwrap();
            }
        }
        ThreadClock::open(&Root::at(directory.path()), "t").read()
    }

    #[test]
    fn falls_back_to_ticks_and_never_to_zero() {
        const STAT: &str = "7 (w) R 1 1 1 0 -1 0 0 0 0 0 250 50 0 0 20 0 1 0 5 6 7 8\n";
        let full = files(Some("900 40 3\n"), Some(STAT)).unwrap();
        assert_eq!((full.cpu_ns, full.run_queue_ns), (900, Some(40)));
        let expected = system::ticks_to_ns(300, system::ticks_per_second());
        for schedstat in [None, Some("0 0 0\n"), Some("")] {
            let times = files(schedstat, Some(STAT)).unwrap();
            assert_eq!((times.cpu_ns, times.run_queue_ns), (expected, None));
        }
        assert_eq!(files(None, None), None);
        assert_eq!(files(None, Some("7 (w) R 1 1")), None);
    }
}
