//! What /proc/PID has of one process.

use crate::{files::Root, parse::lines, system};

/// The memory that is resident, in bytes.
pub(crate) fn resident_bytes(root: &Root, pid: &str) -> Option<u64> {
    Some(memory(root, pid)?.resident)
}

/// Resident memory and the part of it that is shared (files and shared memory), in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Resident {
    pub(crate) resident: u64,
    pub(crate) shared: u64,
}

pub(crate) fn memory(root: &Root, pid: &str) -> Option<Resident> {
    statm(root.text(&format!("proc/{pid}/statm"))?.as_bytes(), system::page_size())
}

fn statm(bytes: &[u8], page: u64) -> Option<Resident> {
    let mut words = lines(bytes).next()?.split_ascii_whitespace().skip(1).map(|w| w.parse::<u64>().ok());
    let (resident, shared) = (words.next()??, words.next()??);
    Some(Resident { resident: resident.checked_mul(page)?, shared: shared.checked_mul(page)? })
}

/// How many descriptors are open; `None` when that may not be seen.
pub(crate) fn descriptors(root: &Root, pid: &str) -> Option<u64> {
    let path = root.path(&format!("proc/{pid}/fd"));
    // Since Linux 6.2 the directory's size is their number.
    match std::fs::metadata(&path).ok()?.len() {
        0 => Some(std::fs::read_dir(path).ok()?.count() as u64),
        n => Some(n),
    }
}

/// The threads of a process.
pub(crate) fn threads(root: &Root, pid: u32) -> Vec<u32> {
    numbers(root, &format!("proc/{pid}/task"))
}

/// All processes.
pub(crate) fn all(root: &Root) -> Vec<u32> {
    numbers(root, "proc")
}

fn numbers(root: &Root, path: &str) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir(root.path(path)) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The children that one thread started; `None` where the kernel does not list them.
pub(crate) fn children(root: &Root, pid: u32, thread: u32) -> Option<Vec<u32>> {
    let text = root.text(&format!("proc/{pid}/task/{thread}/children"))?;
    Some(text.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statm_in_pages() {
        assert_eq!(
            statm(b"765 403 200 5 0 90 0\n", 4096),
            Some(Resident { resident: 403 * 4096, shared: 200 * 4096 })
        );
        assert_eq!(statm(b"765 403 20", 4096), None, "cut");
        assert_eq!(statm(b"1 18446744073709551615 2\n", 4096), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn of_this_process() {
        let root = Root::system();
        let before = descriptors(&root, "self").unwrap();
        let files: Vec<_> = (0..20).map(|_| std::fs::File::open("/dev/null").unwrap()).collect();
        assert!(descriptors(&root, "self").unwrap() >= before + 10, "other tests may close a few meanwhile");
        drop(files);
        assert!(all(&root).contains(&std::process::id()));
        assert!(threads(&root, std::process::id()).contains(&system::thread_id().unwrap()));
    }
}
