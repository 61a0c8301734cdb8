//! A process with all of its children as a source.

use super::{
    files,
    members::{self, Member},
    threads::Threads,
    usage::{self, Id, Ticks},
};
use crate::{
    counter::{Lap, Since},
    files::Root,
    probe::{Probe, source},
    system,
};
use load_core::{Readings, SourceError};
use std::{collections::HashMap, fmt, path::PathBuf, time::Duration};

/// `process.NAME.*`: a process and all that descend from it, also those that come and go.
///
/// | series | unit | what |
/// |---|---|---|
/// | `.cpu` | cores | CPU time per time: cores that they keep busy together |
/// | `.cpu.busiest_thread` | 1 | share of a core of the thread that used most; near 1 it is the limit of a server that works on one thread |
/// | `.run_queue` | threads | threads that were ready and waited for a CPU, on average |
/// | `.memory.resident` | B | sum over the processes; memory that they share counts once for each |
/// | `.memory.private` | B | sum without what can be shared |
/// | `.memory.shared` | B | the largest that one of them shares with others or files |
/// | `.processes`, `.threads`, `.descriptors` | processes, threads, descriptors | the last are absent when they may not be seen |
/// | `.age` | s | of the first process |
///
/// Events: `process ended`, `process restarted`; `process stopped` when a signal such as SIGSTOP holds some of them, and
/// `process continued` when it holds none of them any more.
pub struct ProcessTree {
    name: String,
    find: Find,
    root: Root,
    top: Option<(u32, u64)>,
    lap: Lap,
    last: HashMap<Id, Ticks>,
    threads: Threads,
    ticks_per_second: f64,
    cores: f64,
    seen: Option<u32>,
    stopped: bool,
}

enum Find {
    Once(u32),
    PidFile(PathBuf),
    Name(String),
    With(Box<dyn FnMut() -> Option<u32> + Send>),
}

impl fmt::Debug for ProcessTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessTree")
            .field("name", &self.name)
            .field("top", &self.top)
            .finish_non_exhaustive()
    }
}

impl ProcessTree {
    /// The process of this number; when it ends the series end, whoever is given its number then.
    pub fn new(name: impl Into<String>, pid: u32) -> ProcessTree {
        ProcessTree::found(name, Find::Once(pid), Root::system())
    }

    /// The process whose number is in a file, also after it was restarted.
    pub fn pid_file(name: impl Into<String>, path: impl Into<PathBuf>) -> ProcessTree {
        ProcessTree::found(name, Find::PidFile(path.into()), Root::system())
    }

    /// The oldest process of a program's name (as in `ps -o comm`) that was not started by one of the same name.
    pub fn named(name: impl Into<String>, program: impl Into<String>) -> ProcessTree {
        ProcessTree::found(name, Find::Name(program.into()), Root::system())
    }

    /// The process whose number the function says; asked again whenever that process has ended.
    pub fn found_by(
        name: impl Into<String>,
        find: impl FnMut() -> Option<u32> + Send + 'static,
    ) -> ProcessTree {
        ProcessTree::found(name, Find::With(Box::new(find)), Root::system())
    }

    fn found(name: impl Into<String>, find: Find, root: Root) -> ProcessTree {
        ProcessTree {
            name: name.into(),
            find,
            root,
            top: None,
            lap: Lap::default(),
            last: HashMap::new(),
            threads: Threads::default(),
            ticks_per_second: system::ticks_per_second() as f64,
            cores: system::cpus() as f64,
            seen: None,
            stopped: false,
        }
    }

    fn find(&mut self) -> Option<u32> {
        match &mut self.find {
            Find::Once(pid) => self.seen.is_none().then_some(*pid),
            Find::PidFile(path) => std::fs::read_to_string(path).ok()?.lines().next()?.trim().parse().ok(),
            Find::Name(name) => members::named(&self.root, name),
            Find::With(find) => find(),
        }
    }

    /// The first process: the one of the reading before, or a new one.
    fn top(&mut self, readings: &mut Readings) -> Result<Member, SourceError> {
        let known = self.top.and_then(|(pid, _)| members::member(&self.root, pid));
        if let Some(member) = known
            && !member.zombie
            && self.top == Some((member.pid, member.start_ticks))
        {
            return Ok(member);
        }
        if let Some((pid, _)) = self.top.take() {
            self.lap.reset();
            self.last.clear();
            self.threads = Threads::default();
            self.stopped = false;
            readings.event("process ended", format!("{}: {pid}", self.name));
        }
        let found = self.find().and_then(|pid| members::member(&self.root, pid)).filter(|m| !m.zombie);
        let Some(member) = found else {
            let why = format!("process {} is not there", self.name);
            return Err(match self.find {
                Find::Once(_) => SourceError::Unavailable(why),
                _ => SourceError::Failed(why),
            });
        };
        if let Some(before) = self.seen {
            readings.event("process restarted", format!("{}: {before}, now {}", self.name, member.pid));
        }
        self.seen = Some(member.pid);
        self.top = Some((member.pid, member.start_ticks));
        Ok(member)
    }
}

source!(ProcessTree, |this| match this.top {
    Some((pid, _)) => format!("/proc/{pid} and its children"),
    None => "/proc/PID and its children".to_string(),
});

impl Probe for ProcessTree {
    fn probe(&mut self, at: Duration, readings: &mut Readings) -> Result<(), SourceError> {
        let top = self.top(readings)?;
        let start_ticks = top.start_ticks;
        let members = members::tree(&self.root, top);
        let stopped = members.iter().filter(|m| m.stopped).count();
        if (stopped > 0) != self.stopped {
            self.stopped = stopped > 0;
            let what = if self.stopped { "process stopped" } else { "process continued" };
            readings.event(what, format!("{}: {stopped} of {} processes are held", self.name, members.len()));
        }
        let prefix = format!("process.{}", self.name);
        let mut value = |what: &str, unit: &'static str, number: f64| {
            readings.value(format!("{prefix}.{what}"), unit, number)
        };

        value("processes", "processes", members.len() as f64);
        value("threads", "threads", members.iter().map(|m| m.threads as f64).sum());
        let (mut resident, mut private, mut shared) = (0u64, 0u64, 0u64);
        let mut descriptors = Some(0u64);
        for member in members.iter().filter(|m| !m.zombie) {
            let pid = member.pid.to_string();
            if let Some(memory) = files::memory(&self.root, &pid) {
                resident = resident.saturating_add(memory.resident);
                private = private.saturating_add(memory.resident.saturating_sub(memory.shared));
                shared = shared.max(memory.shared);
            }
            descriptors =
                descriptors.zip(files::descriptors(&self.root, &pid)).map(|(sum, n)| sum.saturating_add(n));
        }
        if resident > 0 {
            value("memory.resident", "B", resident as f64);
            value("memory.private", "B", private as f64);
            value("memory.shared", "B", shared as f64);
        }
        if let Some(descriptors) = descriptors {
            value("descriptors", "descriptors", descriptors as f64);
        }
        if let Some(up) = self.root.line("proc/uptime").and_then(|l| l.split(' ').next()?.parse::<f64>().ok())
        {
            value("age", "s", (up - start_ticks as f64 / self.ticks_per_second).max(0.0));
        }

        let since = self.lap.mark(at);
        if since == Since::TooSoon {
            return Ok(());
        }
        let most_ns = match since {
            Since::Seconds(seconds) => (seconds * 1.1 + 0.1) * 1e9,
            _ => f64::INFINITY,
        };
        let used = self.threads.read(&self.root, &members, most_ns);
        let now: HashMap<Id, Ticks> = members
            .iter()
            .map(|m| ((m.pid, m.start_ticks), Ticks { own: m.own_ticks, children: m.children_ticks }))
            .collect();
        if let Since::Seconds(seconds) = since {
            // What all CPUs could have given in that time, with a little for accounts that are brought up to date late.
            let most = self.ticks_per_second * self.cores * (seconds * 1.1 + 0.1);
            let ticks = usage::grown(&self.last, &now, most);
            if ticks as f64 <= most {
                value("cpu", "cores", ticks as f64 / self.ticks_per_second / seconds);
            } else {
                readings.event("counter jumped", format!("{prefix}.cpu: by {ticks} ticks"));
            }
            if let Some(used) = used {
                readings.value(
                    format!("{prefix}.cpu.busiest_thread"),
                    "1",
                    used.busiest_ns as f64 / 1e9 / seconds,
                );
                readings.value(
                    format!("{prefix}.run_queue"),
                    "threads",
                    used.waited_ns as f64 / 1e9 / seconds,
                );
            }
        }
        self.last = now;
        Ok(())
    }
}

#[cfg(test)]
#[path = "source_test.rs"]
mod tests;
