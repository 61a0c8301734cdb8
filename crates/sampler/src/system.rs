//! The few things that only the system can tell and no file does.

use std::{io, path::Path};

/// Ticks of the kernel's CPU accounts in one second.
#[cfg(target_os = "linux")]
pub(crate) fn ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second().max(1)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn ticks_per_second() -> u64 {
    100
}

/// The number that the kernel knows the calling thread by; `None` where threads have no files in /proc.
#[cfg(target_os = "linux")]
pub(crate) fn thread_id() -> Option<u32> {
    rustix::thread::gettid().as_raw_nonzero().get().try_into().ok()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn thread_id() -> Option<u32> {
    None
}

/// The CPUs that the calling thread may run on.
#[cfg(target_os = "linux")]
pub(crate) fn allowed_cpus() -> Option<Vec<u32>> {
    let set = rustix::thread::sched_getaffinity(None).ok()?;
    Some((0..rustix::thread::CpuSet::MAX_CPU).filter(|&i| set.is_set(i)).map(|i| i as u32).collect())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn allowed_cpus() -> Option<Vec<u32>> {
    None
}

/// CPUs of the whole machine, whatever this process may use of them.
#[cfg(target_os = "linux")]
pub(crate) fn cpus() -> usize {
    // As many as are configured: CPUs may come online later.
    let configured = std::fs::read_to_string("/sys/devices/system/cpu/possible").ok();
    let last = configured.and_then(|text| text.trim().rsplit(['-', ',']).next()?.parse::<usize>().ok());
    let own = std::thread::available_parallelism().map_or(1, |n| n.get());
    last.map_or(own, |last| (last + 1).max(own))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// CPUs of the whole machine that are online; those that this process may use where that cannot be read.
pub(crate) fn cpus_online(root: &crate::files::Root) -> usize {
    let own = std::thread::available_parallelism().map_or(1, |n| n.get());
    root.line("sys/devices/system/cpu/online").and_then(|list| count(&list)).unwrap_or(own)
}

/// How many numbers a list like `0-3,8` holds.
fn count(list: &str) -> Option<usize> {
    let mut total = 0usize;
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        total = total.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    Some(total)
}

/// Bytes of a page of memory.
#[cfg(target_os = "linux")]
pub(crate) fn page_size() -> u64 {
    rustix::param::page_size() as u64
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn page_size() -> u64 {
    4096
}

/// What is free in a file system.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Space {
    pub(crate) total: u64,
    pub(crate) available: u64,
    pub(crate) files_available: Option<u64>,
}

#[cfg(target_os = "linux")]
pub(crate) fn space(path: &Path) -> io::Result<Space> {
    let stat = rustix::fs::statvfs(path)?;
    Ok(Space {
        total: stat.f_blocks.saturating_mul(stat.f_frsize),
        available: stat.f_bavail.saturating_mul(stat.f_frsize),
        // File systems without a table of files say that they have none.
        files_available: (stat.f_files > 0).then_some(stat.f_favail),
    })
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn space(_: &Path) -> io::Result<Space> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "only Linux is read so far"))
}

/// Ticks as nanoseconds, without overflow before 584 years.
pub(crate) fn ticks_to_ns(ticks: u64, per_second: u64) -> u64 {
    (u128::from(ticks) * 1_000_000_000 / u128::from(per_second.max(1))).try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(count("0-3,8,10-11\n"), Some(7));
        assert_eq!(count("0"), Some(1));
        for odd in ["", "3-1", "a-b", "0-18446744073709551615"] {
            assert_eq!(count(odd), None, "{odd}");
        }
    }

    #[test]
    fn ticks_do_not_overflow() {
        assert_eq!(ticks_to_ns(150, 100), 1_500_000_000);
        assert_eq!(ticks_to_ns(u64::MAX, 100), u64::MAX);
        assert_eq!(ticks_to_ns(1, 0), 1_000_000_000);
    }
}
