//! Files of cgroup v1 and v2.

use super::{keyed, lines};

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
    fn throttled_time_in_either_unit() {
        assert_eq!(throttled_ns(b"nr_periods 4\nnr_throttled 2\nthrottled_time 81234\n"), Some(81_234));
        assert_eq!(throttled_ns(b"usage_usec 9\nnr_throttled 2\nthrottled_usec 81\n"), Some(81_000));
        assert_eq!(throttled_ns(b"usage_usec 9\nuser_usec 5\n"), None, "no CPU controller: not measured");
        assert_eq!(throttled_ns(b"nr_throttled 2\nthrottled_usec 8"), None, "cut");
    }
}
