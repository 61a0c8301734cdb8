//! Where a process's groups are in the file system.

use crate::{
    files::Root,
    parse::{cgroup, mounts},
};

/// The directory of a group, as a mount point and a path below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    point: String,
    path: String,
}

/// The directories of a process's groups.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Places {
    pub(crate) v2: Option<Place>,
    pub(crate) v1: Vec<(String, Place)>,
}

impl Place {
    pub(crate) fn directory(&self) -> String {
        format!("{}{}", self.point.trim_end_matches('/'), self.path)
    }

    /// The group and those above it, as far as they can be seen.
    pub(crate) fn levels(&self) -> Vec<String> {
        let mut path = self.path.as_str();
        let mut levels = vec![self.directory()];
        while let Some(cut) = path.rfind('/') {
            path = &path[..cut];
            levels.push(format!("{}{path}", self.point.trim_end_matches('/')));
        }
        levels
    }
}

impl Places {
    /// The directory of a v1 controller.
    pub(crate) fn v1(&self, controller: &str) -> Option<&Place> {
        self.v1.iter().find(|(name, _)| name == controller).map(|(_, place)| place)
    }
}

/// The groups of a process (`"self"` or a number).
pub(crate) fn places(root: &Root, pid: &str) -> Places {
    let (Some(groups), Some(info)) =
        (root.text(&format!("proc/{pid}/cgroup")), root.text("proc/self/mountinfo"))
    else {
        return Places::default();
    };
    let mounts = mounts::cgroups(info.as_bytes());
    let membership = cgroup::membership(groups.as_bytes());
    let mut places = Places::default();
    if let Some(path) = &membership.v2 {
        places.v2 = mounts.iter().find(|m| m.controllers.is_none()).map(|mount| place(mount, path));
    }
    for (controllers, path) in &membership.v1 {
        for controller in controllers {
            let mount =
                mounts.iter().find(|m| m.controllers.as_ref().is_some_and(|c| c.contains(controller)));
            if let Some(mount) = mount {
                places.v1.push((controller.clone(), place(mount, path)));
            }
        }
    }
    places
}

fn place(mount: &mounts::CgroupMount, path: &str) -> Place {
    // In a container the mount may show only the container's own group, under its full name.
    let below = match path.strip_prefix(mount.group.trim_end_matches('/')) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
        // Another name space's path: what is mounted is all that can be seen.
        _ => "",
    };
    // `/../x` is a group beside the root of this name space.
    let path = if below.contains("/..") { "" } else { below.trim_end_matches('/') };
    Place { point: mount.point.clone(), path: path.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Machine;

    fn of(groups: &str, mountinfo: &str) -> Places {
        let machine = Machine::new(&[("proc/self/cgroup", groups), ("proc/self/mountinfo", mountinfo)]);
        places(&machine.root(), "self")
    }

    #[test]
    fn a_service_of_v2_with_the_groups_above_it() {
        let found =
            of("0::/system.slice/nginx.service\n", "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        assert_eq!(
            found.v2.unwrap().levels(),
            ["/sys/fs/cgroup/system.slice/nginx.service", "/sys/fs/cgroup/system.slice", "/sys/fs/cgroup"]
        );
    }

    #[test]
    fn in_containers() {
        let v1 = of(
            "4:memory:/docker/ab\n2:cpu,cpuacct:/docker/ab\n",
            "36 31 0:29 /docker/ab /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n\
             37 31 0:30 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
        );
        assert_eq!(v1.v1("cpuacct").unwrap().levels(), ["/sys/fs/cgroup/cpu,cpuacct"]);
        assert_eq!(v1.v1("memory").unwrap().directory(), "/sys/fs/cgroup/memory");
        let v2 = of("0::/\n", "41 31 0:38 / /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n");
        assert_eq!(v2.v2.unwrap().levels(), ["/sys/fs/cgroup"]);
    }

    #[test]
    fn a_path_that_cannot_be_seen_is_what_is_mounted() {
        for path in ["/docker/cd", "/../other", "/docker/abc"] {
            let found =
                of(&format!("0::{path}\n"), "41 31 0:38 /docker/ab /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n");
            assert_eq!(found.v2.unwrap().directory(), "/sys/fs/cgroup", "{path}");
        }
    }
}
