//! On which cores this thread and the children that it starts run.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Those that it may use now.
pub fn cores() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap_or_default();
    (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect()
}

/// Uses these only. Whether that could be done.
pub fn on_cores(cores: &[usize]) -> bool {
    let mut set = CpuSet::new();
    cores.iter().for_each(|core| set.set(*core));
    sched_setaffinity(None, &set).is_ok()
}

/// Uses core number `n` of the machine only. Whether there is one.
pub fn on_core(n: usize) -> bool {
    on_cores(&[n])
}
