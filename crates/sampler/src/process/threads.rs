//! CPU time and waiting time of single threads.

use super::members::Member;
use crate::{
    files::{Handle, Root},
    parse::pid,
};
use std::collections::HashMap;

/// Files that are kept open at most: descriptors are scarce in a process that opens many connections.
const KEPT: usize = 64;
/// Threads that are read at most.
const MOST: usize = 512;

#[derive(Debug)]
struct Thread {
    handle: Option<Handle>,
    cpu_ns: u64,
    waited_ns: u64,
    generation: u64,
}

/// The threads of a tree, as last read.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    known: HashMap<(u32, u32), Thread>,
    generation: u64,
    kept: usize,
}

/// What threads used between two readings, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) busiest_ns: u64,
    pub(crate) waited_ns: u64,
}

impl Threads {
    /// Reads all threads; `None` when the kernel keeps no account of threads, or when they are too many. A new thread with
    /// more than `most_ns` has a past that does not belong to the time since the reading before.
    pub(crate) fn read(&mut self, root: &Root, members: &[Member], most_ns: f64) -> Option<Used> {
        self.generation += 1;
        let mut used = Used::default();
        let mut any = false;
        let total: u64 = members.iter().map(|m| m.threads).fold(0, u64::saturating_add);
        if total <= MOST as u64 {
            for member in members.iter().filter(|m| !m.zombie) {
                let threads = if member.threads == 1 {
                    vec![member.pid]
                } else {
                    super::files::threads(root, member.pid)
                };
                for thread in threads {
                    if let Some(one) = self.one(root, member.pid, thread, most_ns) {
                        any = true;
                        used.busiest_ns = used.busiest_ns.max(one.busiest_ns);
                        used.waited_ns = used.waited_ns.saturating_add(one.waited_ns);
                    }
                }
            }
        }
        let generation = self.generation;
        self.known.retain(|_, thread| thread.generation == generation);
        self.kept = self.known.values().filter(|thread| thread.handle.is_some()).count();
        any.then_some(used)
    }

    fn one(&mut self, root: &Root, process: u32, thread: u32, most_ns: f64) -> Option<Used> {
        let mut buffer = [0; 128];
        let last = self.known.remove(&(process, thread));
        let known = last.as_ref().map(|t| (t.cpu_ns, t.waited_ns));
        let mut handle = last.and_then(|t| t.handle);
        let mut times = handle.as_ref().and_then(|h| pid::schedstat(h.read_line(&mut buffer).ok()?));
        if times.is_none() {
            let opened = root.open(&format!("proc/{process}/task/{thread}/schedstat")).ok()?;
            times = pid::schedstat(opened.read_line(&mut buffer).ok()?);
            handle = (self.kept < KEPT).then_some(opened);
            self.kept += usize::from(handle.is_some());
        }
        let (cpu_ns, waited_ns) = times?;
        self.known
            .insert((process, thread), Thread { handle, cpu_ns, waited_ns, generation: self.generation });
        // A thread with less than before is another one of the same number.
        let (cpu, waited) = known.filter(|k| k.0 <= cpu_ns && k.1 <= waited_ns).unwrap_or((0, 0));
        let used = Used { busiest_ns: cpu_ns - cpu, waited_ns: waited_ns - waited };
        let possible = used.busiest_ns as f64 <= most_ns && used.waited_ns as f64 <= most_ns;
        Some(if possible { used } else { Used::default() })
    }
}
