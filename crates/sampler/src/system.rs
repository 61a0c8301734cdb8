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
