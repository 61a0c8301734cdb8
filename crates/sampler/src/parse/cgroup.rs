//! Files of cgroup v1 and v2.

use super::{keyed, lines, single};

/// Where a process is: the path in the v2 hierarchy, and in each v1 hierarchy with its controllers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Membership {
    pub(crate) v2: Option<String>,
    pub(crate) v1: Vec<(Vec<String>, String)>,
}

/// `/proc/PID/cgroup`.
pub(crate) fn membership(bytes: &[u8]) -> Membership {
    let mut found = Membership::default();
    for line in lines(bytes) {
        let mut parts = line.splitn(3, ':');
        let (Some(number), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        if !path.starts_with('/') {
            continue;
        }
        if number == "0" && controllers.is_empty() {
            found.v2 = Some(path.into());
        } else {
            found.v1.push((controllers.split(',').map(String::from).collect(), path.into()));
        }
    }
    found
}

/// Time that the CPU limit held tasks back, ns, from `cpu.stat` of either version.
pub(crate) fn throttled_ns(bytes: &[u8]) -> Option<u64> {
    match keyed(bytes, "throttled_usec") {
        Some(micros) => Some(micros.saturating_mul(1000)),
        None => keyed(bytes, "throttled_time"),
    }
}

/// Cores, from `cpu.max` of v2 (`150000 100000`; `max 100000` is no limit).
pub(crate) fn cpu_max(bytes: &[u8]) -> Option<f64> {
    let mut words = lines(bytes).next()?.split_ascii_whitespace();
    let quota: u64 = words.next()?.parse().ok()?;
    let period: u64 = words.next()?.parse().ok()?;
    cores(quota as i64, period)
}

/// Cores, from `cpu.cfs_quota_us` and `cpu.cfs_period_us` of v1; a quota of -1 is no limit.
pub(crate) fn cfs(quota: &[u8], period: &[u8]) -> Option<f64> {
    let quota = std::str::from_utf8(quota).ok()?.strip_suffix('\n')?.trim().parse().ok()?;
    cores(quota, single(period)?)
}

fn cores(quota: i64, period: u64) -> Option<f64> {
    (quota > 0 && period > 0).then(|| quota as f64 / period as f64)
}

/// A limit of memory, of either version. v1 writes "none" as the largest number of pages, v2 as `max`; a limit of 0 is
/// what some engines say when they do not know.
pub(crate) fn memory_limit(bytes: &[u8]) -> Option<u64> {
    single(bytes).and_then(real_limit)
}

/// A limit that limits: neither 0 nor beyond any machine.
pub(crate) fn real_limit(bytes: u64) -> Option<u64> {
    (bytes > 0 && bytes < 1 << 60).then_some(bytes)
}

/// Bytes read and written by all devices together, from `io.stat` of v2.
pub(crate) fn io_stat(bytes: &[u8]) -> (u64, u64) {
    let mut sums = (0u64, 0u64);
    for word in lines(bytes).flat_map(str::split_ascii_whitespace) {
        match word.split_once('=') {
            Some(("rbytes", n)) => sums.0 = sums.0.saturating_add(n.parse().unwrap_or(0)),
            Some(("wbytes", n)) => sums.1 = sums.1.saturating_add(n.parse().unwrap_or(0)),
            _ => {}
        }
    }
    sums
}

/// The same from `blkio.throttle.io_service_bytes` of v1, whose lines are `8:0 Read 1234`.
pub(crate) fn blkio(bytes: &[u8]) -> (u64, u64) {
    let mut sums = (0u64, 0u64);
    for line in lines(bytes) {
        let mut words = line.split_ascii_whitespace().skip(1);
        let (kind, Some(n)) = (words.next(), words.next().and_then(|n| n.parse().ok())) else { continue };
        match kind {
            Some("Read") => sums.0 = sums.0.saturating_add(n),
            Some("Write") => sums.1 = sums.1.saturating_add(n),
            _ => {}
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn membership_of_both_versions() {
        let both = membership(b"4:memory:/a\n2:cpu,cpuacct:/b:c\n1:name=systemd:/\n0::/user.slice/x.scope\n");
        assert_eq!(both.v2.as_deref(), Some("/user.slice/x.scope"));
        assert_eq!(both.v1[1], (vec!["cpu".into(), "cpuacct".into()], "/b:c".into()));
        assert_eq!(membership(b"nonsense\n0:\n0::relative\n"), Membership::default());
    }

    #[test]
    fn no_limit_is_no_number() {
        assert_eq!(cpu_max(b"150000 100000\n"), Some(1.5));
        assert_eq!(cpu_max(b"max 100000\n"), None);
        assert_eq!(cfs(b"150000\n", b"100000\n"), Some(1.5));
        assert_eq!(cfs(b"-1\n", b"100000\n"), None);
        assert_eq!(cfs(b"150000\n", b"0\n"), None);
        assert_eq!(memory_limit(b"268435456\n"), Some(268_435_456));
        for none in ["max\n", "0\n", "9223372036854771712\n", "18446744073709551615\n", ""] {
            assert_eq!(memory_limit(none.as_bytes()), None, "{none:?}");
        }
    }

    #[test]
    fn io_of_both_versions() {
        assert_eq!(
            io_stat(b"8:0 rbytes=10 wbytes=20 rios=1 wios=2 dbytes=0 dios=0\n253:0 rbytes=5 wbytes=6\n"),
            (15, 26)
        );
        assert_eq!(blkio(b"8:0 Read 10\n8:0 Write 20\n8:0 Sync 30\n8:16 Read 1\nTotal 30\n"), (11, 20));
        assert_eq!(io_stat(b"8:0 \n"), (0, 0));
    }

    #[test]
    fn throttled_time_in_either_unit() {
        assert_eq!(throttled_ns(b"nr_periods 4\nnr_throttled 2\nthrottled_time 81234\n"), Some(81_234));
        assert_eq!(throttled_ns(b"usage_usec 9\nnr_throttled 2\nthrottled_usec 81\n"), Some(81_000));
        assert_eq!(throttled_ns(b"usage_usec 9\nuser_usec 5\n"), None, "no CPU controller: not measured");
        assert_eq!(throttled_ns(b"nr_throttled 2\nthrottled_usec 8"), None, "cut");
    }
}
