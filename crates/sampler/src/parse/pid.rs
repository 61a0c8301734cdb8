//! `/proc/PID/stat`, `/proc/PID/task/TID/stat` and `schedstat`.

use super::number;

/// `schedstat`: nanoseconds on a CPU and nanoseconds ready but waiting for one. A kernel that does not keep them prints
/// three zeros; a thread that runs has been given a CPU at least once, so that is "not known".
pub(crate) fn schedstat(bytes: &[u8]) -> Option<(u64, u64)> {
    // Without the end of the line the last number may be cut.
    let line = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
    let mut words = line.split_ascii_whitespace();
    let (cpu, waited, times) = (number(&mut words)?, number(&mut words)?, number(&mut words)?);
    (cpu > 0 || times > 0).then_some((cpu, waited))
}

/// What is used of `stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PidStat<'a> {
    /// The name of the program's file, cut to 15 bytes by the kernel.
    pub(crate) name: &'a str,
    pub(crate) state: char,
    pub(crate) parent: u32,
    pub(crate) user_ticks: u64,
    pub(crate) system_ticks: u64,
    /// User and system time of the children that ended and were waited for, and of theirs.
    pub(crate) children_ticks: u64,
    pub(crate) threads: u64,
    /// Ticks from boot to the start of the process: with the PID it names a process for good.
    pub(crate) start_ticks: u64,
    pub(crate) resident_pages: u64,
}

impl PidStat<'_> {
    /// Ticks of the process itself.
    pub(crate) fn own_ticks(&self) -> u64 {
        self.user_ticks.saturating_add(self.system_ticks)
    }
}

/// `stat`. The name may hold spaces and brackets, so the fields begin after the last `)`.
pub(crate) fn stat(bytes: &[u8]) -> Option<PidStat<'_>> {
    let line = bytes.strip_suffix(b"\n")?;
    let open = line.iter().position(|&b| b == b'(')?;
    let close = line.iter().rposition(|&b| b == b')')?;
    let name = std::str::from_utf8(line.get(open + 1..close)?).unwrap_or("?");
    // From here on the numbering of proc_pid_stat(5) starts at 3.
    let mut words = std::str::from_utf8(&line[close + 1..]).ok()?.split_ascii_whitespace();
    let state = words.next()?.chars().next()?;
    let parent = words.next()?.parse().ok()?;
    let user_ticks = number(&mut words.by_ref().skip(9))?;
    let system_ticks = number(&mut words)?;
    let children_ticks = number(&mut words)?.saturating_add(number(&mut words)?);
    let threads = number(&mut words.by_ref().skip(2))?;
    let start_ticks = number(&mut words.by_ref().skip(1))?;
    let resident_pages = number(&mut words.by_ref().skip(1))?;
    Some(PidStat {
        name,
        state,
        parent,
        user_ticks,
        system_ticks,
        children_ticks,
        threads,
        start_ticks,
        resident_pages,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedstat_needs_all_three_numbers_and_the_end_of_the_line() {
        assert_eq!(schedstat(b"1519234 88412 17\n"), Some((1_519_234, 88_412)));
        assert_eq!(schedstat(b"1519234 88412\n"), None);
        assert_eq!(schedstat(b"1519234 88412 1"), None, "a short read may have cut a number");
        assert_eq!(schedstat(b"0 0 0\n"), None, "a kernel without these accounts");
        assert_eq!(schedstat(b"0 0 1\n"), Some((0, 0)), "a thread that has just started");
        assert_eq!(schedstat(b""), None);
    }

    #[test]
    fn stat_survives_any_name() {
        let line =
            b"77 (a) R 1 (x) S 42 77 77 0 -1 4194304 104 0 0 0 250 31 5 2 20 0 9 0 104270 3133440 403 1844\n";
        let stat = stat(line).unwrap();
        assert_eq!((stat.name, stat.state, stat.parent), ("a) R 1 (x", 'S', 42));
        assert_eq!((stat.user_ticks, stat.system_ticks), (250, 31));
        assert_eq!(stat.children_ticks, 7);
        assert_eq!((stat.threads, stat.start_ticks, stat.resident_pages), (9, 104_270, 403));
    }

    #[test]
    fn stat_cut_short_is_nothing() {
        assert_eq!(stat(b"77 (nginx) S 42 77 77 0 -1 4194304 104 0 0 0 250 31 0 0 20 0 9"), None);
        assert_eq!(stat(b"77 (nginx) S 42 77 77 0 -1 4194304 104 0 0 0 250 31 0 0 20 0 9\n"), None);
        assert_eq!(stat(b")(\n"), None);
        assert_eq!(stat(b""), None);
    }
}
