//! CPU time of a tree of processes that come and go.

use std::collections::HashMap;

/// Ticks of one process: its own, and those of children that ended and were waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticks {
    pub(crate) own: u64,
    pub(crate) children: u64,
}

/// A process for good: numbers are given again, but not with the same start.
pub(crate) type Id = (u32, u64);

/// The ticks that a tree used between two readings.
///
/// When a process ends and its parent waits for it, all of its ticks go to the parent's `children`; what was counted
/// already is subtracted there, so that the last moments of the processes that ended are not lost, and whole lives
/// between two readings neither. `most` is what one process can have used in the time: a new member with more than that
/// was adopted, and its past belongs to nobody here.
pub(crate) fn grown(before: &HashMap<Id, Ticks>, now: &HashMap<Id, Ticks>, most: f64) -> u64 {
    let (mut own, mut waited_for) = (0u64, 0u64);
    for (id, ticks) in now {
        match before.get(id) {
            Some(last) => {
                own = own.saturating_add(ticks.own.saturating_sub(last.own));
                waited_for = waited_for.saturating_add(ticks.children.saturating_sub(last.children));
            }
            None => {
                let all = ticks.own.saturating_add(ticks.children);
                if all as f64 <= most {
                    own = own.saturating_add(all);
                }
            }
        }
    }
    let ended = before
        .iter()
        .filter(|(id, _)| !now.contains_key(id))
        .fold(0u64, |sum, (_, t)| sum.saturating_add(t.own).saturating_add(t.children));
    own.saturating_add(waited_for.saturating_sub(ended))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tree(members: &[(u32, u64, u64)]) -> HashMap<Id, Ticks> {
        members.iter().map(|&(pid, own, children)| ((pid, 1), Ticks { own, children })).collect()
    }

    #[test]
    fn a_child_that_ended_is_counted_once() {
        // 60 of the child's 70 ticks were seen before; it used 10 more and ended, and the parent 5.
        let before = tree(&[(1, 100, 0), (2, 60, 0)]);
        assert_eq!(grown(&before, &tree(&[(1, 105, 70)]), 1e9), 15);
    }

    #[test]
    fn a_whole_life_between_two_readings_is_counted() {
        assert_eq!(grown(&tree(&[(1, 100, 0)]), &tree(&[(1, 100, 33)]), 1e9), 33);
    }

    #[test]
    fn a_child_whose_parent_does_not_wait_loses_only_its_end() {
        let before = tree(&[(1, 100, 0), (2, 60, 0)]);
        assert_eq!(grown(&before, &tree(&[(1, 105, 0)]), 1e9), 5);
    }

    #[test]
    fn new_members_count_from_their_start_but_adopted_ones_do_not() {
        let before = tree(&[(1, 100, 0)]);
        assert_eq!(grown(&before, &tree(&[(1, 100, 0), (2, 40, 0)]), 200.0), 40);
        assert_eq!(grown(&before, &tree(&[(1, 100, 0), (2, 90_000, 0)]), 200.0), 0);
    }

    #[test]
    fn a_number_that_was_given_again_is_another_process() {
        let before = tree(&[(1, 100, 0), (2, 5000, 0)]);
        let mut now = tree(&[(1, 100, 5000)]);
        now.insert((2, 99), Ticks { own: 3, children: 0 });
        assert_eq!(grown(&before, &now, 200.0), 3);
    }

    proptest! {
        #[test]
        fn never_panics(a: Vec<(u32, u64, u64)>, b: Vec<(u32, u64, u64)>) {
            grown(&tree(&a), &tree(&b), 1e3);
        }
    }
}
