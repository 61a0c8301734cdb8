//! Who else kept the machine busy during a run.

use super::{files, members};
use crate::files::Root;
use load_core::record::Environment;
use serde_json::{Value, json};
use std::{
    collections::{HashMap, HashSet},
    time::Instant,
};

/// The other processes of the machine, watched from one moment to another.
///
/// ```
/// let others = sampler::Others::watch();
/// // ... the run ...
/// for other in others.busiest(5) {
///     println!("{} used {:.2} cores", other.name, other.cores);
/// }
/// ```
#[derive(Debug)]
pub struct Others {
    root: Root,
    from: Instant,
    ticks: HashMap<(u32, u64), u64>,
}

/// A program that ran beside the load: its name only, never its arguments.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OtherProcess {
    /// The program's name, cut to 15 bytes by the kernel.
    pub name: String,
    /// How many processes of the name used CPU time.
    pub processes: usize,
    /// Mean number of cores that they kept busy together.
    pub cores: f64,
}

impl Others {
    /// Begins to watch. Reads every process once: 10 to 20 µs each.
    pub fn watch() -> Others {
        Others::below(Root::system())
    }

    fn below(root: Root) -> Others {
        let ticks = files::all(&root)
            .into_iter()
            .filter_map(|pid| members::member(&root, pid))
            .map(|m| ((m.pid, m.start_ticks), m.own_ticks))
            .collect();
        Others { root, from: Instant::now(), ticks }
    }

    /// The programs that used most CPU time since then, busiest first; without this process and those that it started.
    /// Programs that have ended meanwhile are not known. Empty where there is no /proc.
    pub fn busiest(&self, count: usize) -> Vec<OtherProcess> {
        self.busiest_without(std::process::id(), self.from.elapsed().as_secs_f64(), count)
    }

    /// Writes the five busiest as `busiest_others` into a record's environment, an empty list when nobody else used any
    /// time. Nothing is written where processes cannot be seen.
    pub fn record(&self, environment: &mut Environment) {
        if members::member(&self.root, std::process::id()).is_some() {
            environment.more.insert("busiest_others".into(), described(&self.busiest(5)));
        }
    }

    fn busiest_without(&self, own: u32, seconds: f64, count: usize) -> Vec<OtherProcess> {
        let mine: HashSet<u32> = members::member(&self.root, own)
            .map(|top| members::tree(&self.root, top).iter().map(|m| m.pid).collect())
            .unwrap_or_default();
        let mut by_name: HashMap<String, (usize, u64)> = HashMap::new();
        for member in files::all(&self.root).into_iter().filter_map(|pid| members::member(&self.root, pid)) {
            let before = self.ticks.get(&(member.pid, member.start_ticks)).copied().unwrap_or(0);
            let used = member.own_ticks.saturating_sub(before);
            if used > 0 && !mine.contains(&member.pid) {
                let entry = by_name.entry(member.name).or_default();
                *entry = (entry.0 + 1, entry.1.saturating_add(used));
            }
        }
        let per_second = crate::system::ticks_per_second() as f64;
        let mut found: Vec<OtherProcess> = by_name
            .into_iter()
            .map(|(name, (processes, ticks))| OtherProcess {
                name,
                processes,
                cores: ticks as f64 / per_second / seconds.max(0.01),
            })
            .collect();
        found.sort_by(|a, b| b.cores.total_cmp(&a.cores).then_with(|| a.name.cmp(&b.name)));
        found.truncate(count);
        found
    }
}

/// As a record has them: `[{"name": "cc1", "processes": 2, "cores": 0.5}]`, cores to a thousandth.
fn described(found: &[OtherProcess]) -> Value {
    let one = |o: &OtherProcess| json!({"name": o.name, "processes": o.processes, "cores": (o.cores * 1000.0).round() / 1000.0});
    found.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Machine;

    fn process(machine: &Machine, pid: u32, name: &str, parent: u32, ticks: u64, children: &str) {
        let stat =
            format!("{pid} ({name}) S {parent} 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0 {pid} 1 1 0\n");
        machine.write(&format!("proc/{pid}/stat"), &stat);
        machine.write(&format!("proc/{pid}/task/{pid}/children"), children);
    }

    #[test]
    fn names_and_shares_without_the_own_tree() {
        let second = crate::system::ticks_per_second();
        let machine = Machine::new(&[("proc/9/cmdline", "backup\0--password=secret\0")]);
        process(&machine, 5, "bench", 1, 0, "6 ");
        process(&machine, 6, "nginx", 5, 0, "");
        process(&machine, 9, "backup", 1, 500, "");
        let others = Others::below(machine.root());
        process(&machine, 5, "bench", 1, 9 * second, "6 ");
        process(&machine, 6, "nginx", 5, 9 * second, "");
        process(&machine, 9, "backup", 1, 500 + second, "");
        process(&machine, 11, "cc1", 1, 2 * second, "");
        process(&machine, 12, "cc1", 1, 3 * second, "");
        let found = others.busiest_without(5, 10.0, 5);
        let seen: Vec<_> = found.iter().map(|o| (o.name.as_str(), o.processes, o.cores)).collect();
        assert_eq!(seen, [("cc1", 2, 0.5), ("backup", 1, 0.1)]);
        assert_eq!(
            described(&found),
            json!([{"name": "cc1", "processes": 2, "cores": 0.5}, {"name": "backup", "processes": 1, "cores": 0.1}])
        );
        assert!(!format!("{found:?}{others:?}").contains("secret"));
    }

    #[test]
    fn nobody_seen_is_not_nobody_there() {
        let mut environment = Environment::default();
        Others::below(Machine::new(&[]).root()).record(&mut environment);
        assert!(environment.more.is_empty(), "no /proc: {environment:?}");
        #[cfg(target_os = "linux")]
        {
            Others::watch().record(&mut environment);
            assert!(environment.more["busiest_others"].is_array());
        }
    }
}
