//! The cgroup file systems in `/proc/PID/mountinfo`.

use super::lines;

/// A mounted hierarchy of cgroups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CgroupMount {
    /// Of v1: its controllers; `None` of v2.
    pub(crate) controllers: Option<Vec<String>>,
    /// The group that is seen at the mount point.
    pub(crate) group: String,
    pub(crate) point: String,
}

pub(crate) fn cgroups(bytes: &[u8]) -> Vec<CgroupMount> {
    lines(bytes).filter_map(mount).collect()
}

fn mount(line: &str) -> Option<CgroupMount> {
    // There may be any number of optional fields before the dash.
    let (before, after) = line.split_once(" - ")?;
    let mut after = after.split(' ');
    let controllers = match after.next()? {
        "cgroup2" => None,
        "cgroup" => Some(after.nth(1)?.split(',').map(String::from).collect()),
        _ => return None,
    };
    let mut fields = before.split(' ').skip(3);
    Some(CgroupMount { controllers, group: unescape(fields.next()?), point: unescape(fields.next()?) })
}

/// Spaces and the like are written in octal: `\040`.
fn unescape(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = (first == b'\\' && tail.len() >= 3)
            .then(|| {
                std::str::from_utf8(&tail[..3]).ok().and_then(|digits| u8::from_str_radix(digits, 8).ok())
            })
            .flatten();
        out.push(code.unwrap_or(first));
        rest = if code.is_some() { &tail[3..] } else { tail };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_and_nothing_else() {
        let text = b"27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
            36 31 0:29 /docker/ab /sys/fs/cgroup/cpu,cpuacct ro master:15 - cgroup cgroup rw,cpu,cpuacct\n\
            41 31 0:38 / /sys/fs/cg\\040roup rw,relatime shared:1 master:2 - cgroup2 cgroup2 rw\n";
        let found = cgroups(text);
        assert_eq!(found.len(), 2);
        assert!(found[0].controllers.as_ref().unwrap().contains(&"cpuacct".to_string()));
        assert_eq!(
            (found[0].group.as_str(), found[0].point.as_str()),
            ("/docker/ab", "/sys/fs/cgroup/cpu,cpuacct")
        );
        assert_eq!((found[1].controllers.clone(), found[1].point.as_str()), (None, "/sys/fs/cg roup"));
    }
}
