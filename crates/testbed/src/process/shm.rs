//! System V shared memory that a killed process leaves: it belongs to no directory, and nobody else removes it.
//!
//! PostgreSQL keeps one small segment as a lock, and removes it when it ends in good order.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Segments listed in `/proc/sysvipc/shm` that process `creator` made and nobody uses, as (id, user).
fn left_by(table: &str, creator: u32) -> Vec<(u32, u32)> {
    let mut lines = table.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split_ascii_whitespace().collect();
    let column = |name: &str| names.iter().position(|other| *other == name);
    let (Some(id), Some(cpid), Some(users), Some(uid)) =
        (column("shmid"), column("cpid"), column("nattch"), column("uid"))
    else {
        return Vec::new();
    };
    lines
        .filter_map(|line| {
            let fields: Vec<u32> =
                line.split_ascii_whitespace().map(|field| field.parse().unwrap_or(u32::MAX)).collect();
            let is_left = *fields.get(cpid)? == creator && *fields.get(users)? == 0;
            is_left.then(|| Some((*fields.get(id)?, *fields.get(uid)?))).flatten()
        })
        .collect()
}

/// Removes what the dead process `creator` left. There is no safe call for it, so `ipcrm` does it, as the owner of the
/// segment and nobody more.
pub(super) fn remove_left_by(creator: u32) {
    let me = rustix::process::geteuid();
    for (id, uid) in left_by(&fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default(), creator) {
        // Root's servers are never root, and others' are themselves: anything else is not ours.
        let ours = if me.is_root() { uid != 0 } else { uid == me.as_raw() };
        if !ours {
            continue;
        }
        let mut command = Command::new("ipcrm");
        command
            .args(["-m", &id.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if me.is_root() {
            command.uid(uid);
        }
        if !command.status().is_ok_and(|status| status.success()) {
            tracing::warn!(id, "a shared memory segment of a killed server could not be removed (ipcrm)");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unused_segments_of_that_process_are_taken() {
        let table = "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid\n\
                     1 7 600 56 42 42 0 101 104 101 104\n\
                     2 8 600 56 42 42 3 101 104 101 104\n\
                     3 9 600 56 43 42 0 101 104 101 104\n\
                     short\n";
        assert_eq!(left_by(table, 42), [(7, 101)]);
        assert_eq!(left_by("", 42), []);
        assert_eq!(left_by("other columns\n1 2", 42), []);
    }
}
