//! The few things that only the system can tell and no file does.

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

/// Ticks as nanoseconds, without overflow before 584 years.
pub(crate) fn ticks_to_ns(ticks: u64, per_second: u64) -> u64 {
    (u128::from(ticks) * 1_000_000_000 / u128::from(per_second.max(1))).try_into().unwrap_or(u64::MAX)
}
