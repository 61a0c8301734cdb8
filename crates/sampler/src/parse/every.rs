//! All parsers on the same bytes: for the property tests and the fuzz target.

use super::*;

/// Runs them; none may panic.
pub(crate) fn all(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let membership = cgroup::membership(bytes);
    std::hint::black_box((
        membership,
        cgroup::throttled_ns(bytes),
        cgroup::cpu_max(bytes),
        cgroup::cfs(bytes, bytes),
    ));
    std::hint::black_box((cgroup::memory_limit(bytes), cgroup::io_stat(bytes), cgroup::blkio(bytes)));
    std::hint::black_box((disk::diskstats(bytes).count(), memory::meminfo(bytes), mounts::cgroups(bytes)));
    std::hint::black_box((net::interfaces(bytes).count(), net::paired(bytes, "Tcp", "OutSegs")));
    std::hint::black_box((net::sockstat(bytes, "TCP", "tw"), pid::schedstat(bytes), pid::stat(bytes)));
    std::hint::black_box((pressure::pressure(bytes), keyed(bytes, "ctxt"), single(bytes), text));
    let lines = stat::cpus(bytes);
    let mut last: Option<stat::CpuTicks> = None;
    for ticks in lines.all.into_iter().chain(lines.each.iter().map(|(_, t)| *t)) {
        std::hint::black_box((ticks.total(), last.and_then(|last| ticks.since(&last))));
        last = Some(ticks);
    }
}
