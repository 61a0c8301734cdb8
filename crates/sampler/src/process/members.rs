//! Which processes belong to a tree.

use super::files;
use crate::{files::Root, parse::pid};
use std::collections::{HashMap, HashSet};

/// More than this are not looked at: reading them would itself be a load.
const MOST: usize = 1024;

/// What is needed of one process at each reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) name: String,
    pub(crate) start_ticks: u64,
    pub(crate) own_ticks: u64,
    pub(crate) children_ticks: u64,
    pub(crate) threads: u64,
    /// Ended, but not waited for yet: it has times but neither memory nor threads.
    pub(crate) zombie: bool,
    /// Stopped by a signal (SIGSTOP) or by a debugger: it is there and does nothing.
    pub(crate) stopped: bool,
}

/// One process; `None` when it is gone.
pub(crate) fn member(root: &Root, number: u32) -> Option<Member> {
    let text = root.text(&format!("proc/{number}/stat"))?;
    let stat = pid::stat(text.as_bytes())?;
    Some(Member {
        pid: number,
        parent: stat.parent,
        name: stat.name.into(),
        start_ticks: stat.start_ticks,
        own_ticks: stat.own_ticks(),
        children_ticks: stat.children_ticks,
        threads: stat.threads,
        zombie: matches!(stat.state, 'Z' | 'X' | 'x'),
        stopped: matches!(stat.state, 'T' | 't'),
    })
}

/// A process and all that descend from it.
///
/// The kernel lists the children of each thread (`CONFIG_PROC_CHILDREN`); where it does not, all processes are read for
/// their parents.
pub(crate) fn tree(root: &Root, top: Member) -> Vec<Member> {
    let mut found = vec![top];
    let mut seen: HashSet<u32> = found.iter().map(|m| m.pid).collect();
    let mut next = 0;
    while next < found.len() && found.len() < MOST {
        let (pid, threads) = (found[next].pid, found[next].threads);
        let zombie = found[next].zombie;
        next += 1;
        if zombie {
            continue;
        }
        let threads = if threads == 1 { vec![pid] } else { files::threads(root, pid) };
        for thread in threads {
            let Some(children) = files::children(root, pid, thread) else {
                // Gone, or a kernel that does not tell.
                if root.exists(&format!("proc/{pid}/task/{thread}/stat")) {
                    return descendants(root, found.swap_remove(0));
                }
                continue;
            };
            for child in children {
                if seen.insert(child)
                    && let Some(member) = member(root, child)
                {
                    found.push(member);
                }
            }
        }
    }
    found
}

/// A process and all that descend from it, by looking at all processes.
fn descendants(root: &Root, top: Member) -> Vec<Member> {
    let mut by_parent: HashMap<u32, Vec<Member>> = HashMap::new();
    for pid in files::all(root) {
        if let Some(member) = member(root, pid) {
            by_parent.entry(member.parent).or_default().push(member);
        }
    }
    let mut found = vec![top];
    let mut next = 0;
    while next < found.len() && found.len() < MOST {
        // Taken out, so that a tree read while it changed cannot run in a circle.
        found.extend(by_parent.remove(&found[next].pid).unwrap_or_default());
        next += 1;
    }
    found
}

/// The oldest process of this name whose parent has another name: the one that started the others.
pub(crate) fn named(root: &Root, name: &str) -> Option<u32> {
    // The kernel keeps 15 bytes of a name.
    let cut: Vec<u8> = name.bytes().take(15).collect();
    let all: Vec<Member> = files::all(root).into_iter().filter_map(|pid| member(root, pid)).collect();
    let same: Vec<&Member> = all.iter().filter(|m| m.name.as_bytes() == cut && !m.zombie).collect();
    let tops = same.iter().filter(|m| !same.iter().any(|other| other.pid == m.parent));
    tops.min_by_key(|m| (m.start_ticks, m.pid)).map(|m| m.pid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Machine;

    pub(crate) fn stat(pid: u32, name: &str, parent: u32, start: u64) -> String {
        format!("{pid} ({name}) S {parent} 1 1 0 -1 0 0 0 0 0 5 6 7 8 20 0 1 0 {start} 100 10 0\n")
    }

    fn machine(with_children: bool) -> Machine {
        let machine = Machine::new(&[]);
        for (pid, name, parent, start, children) in [
            (10, "nginx", 1, 50, "12 13 "),
            (12, "nginx", 10, 60, ""),
            (13, "nginx", 10, 60, "14 "),
            (14, "helper", 13, 70, ""),
            (20, "other", 1, 5, ""),
        ] {
            machine.write(&format!("proc/{pid}/stat"), &stat(pid, name, parent, start));
            machine.write(&format!("proc/{pid}/task/{pid}/stat"), &stat(pid, name, parent, start));
            if with_children {
                machine.write(&format!("proc/{pid}/task/{pid}/children"), children);
            }
        }
        machine
    }

    #[test]
    fn the_tree_is_the_same_however_it_is_found() {
        for with_children in [true, false] {
            let machine = machine(with_children);
            let root = machine.root();
            let mut pids: Vec<u32> = tree(&root, member(&root, 10).unwrap()).iter().map(|m| m.pid).collect();
            pids.sort();
            assert_eq!(pids, [10, 12, 13, 14], "children listed: {with_children}");
        }
    }

    #[test]
    fn the_oldest_of_a_name_that_started_the_others() {
        let machine = machine(true);
        assert_eq!(named(&machine.root(), "nginx"), Some(10));
        assert_eq!(named(&machine.root(), "postgres"), None);
        machine.write("proc/30/stat", &stat(30, "a-name-of-many-", 1, 9));
        assert_eq!(named(&machine.root(), "a-name-of-many-letters"), Some(30));
    }
}
