//! Names and versions of the operating system.

use crate::files::Root;

pub(super) fn host(root: &Root) -> Option<String> {
    root.line("proc/sys/kernel/hostname").or_else(|| root.line("etc/hostname"))
}

/// `PRETTY_NAME` of os-release; the kind of system where there is no such file.
pub(super) fn name(root: &Root) -> Option<String> {
    ["etc/os-release", "usr/lib/os-release"]
        .iter()
        .find_map(|path| pretty_name(&root.text(path)?))
        .or_else(|| Some(std::env::consts::OS.into()).filter(|os: &String| !os.is_empty()))
}

/// The value of `PRETTY_NAME`, without its quotes.
fn pretty_name(text: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.trim().strip_prefix("PRETTY_NAME="))?.trim();
    let bare = ['"', '\''].iter().find_map(|&q| value.strip_prefix(q)?.strip_suffix(q)).unwrap_or(value);
    (!bare.is_empty()).then(|| bare.replace("\\\"", "\""))
}

pub(super) fn kernel(root: &Root) -> Option<String> {
    root.line("proc/sys/kernel/osrelease").or_else(|| {
        Some(root.line("proc/version")?.strip_prefix("Linux version ")?.split(' ').next()?.to_string())
    })
}

/// The averages of the last 1, 5 and 15 minutes.
pub(super) fn load_averages(root: &Root) -> Option<Vec<f64>> {
    let line = root.line("proc/loadavg")?;
    let numbers: Vec<f64> = line.split(' ').take(3).filter_map(|word| word.parse().ok()).collect();
    (numbers.len() == 3 && numbers.iter().all(|x| x.is_finite())).then_some(numbers)
}

/// The choice in brackets: `always [madvise] never`.
pub(super) fn transparent_hugepages(root: &Root) -> Option<String> {
    let line = root.line("sys/kernel/mm/transparent_hugepage/enabled")?;
    Some(line.split_once('[')?.1.split_once(']')?.0.into())
}

/// The soft limit of open files of this process; `None` also when there is none.
pub(super) fn descriptors(root: &Root) -> Option<u64> {
    let text = root.text("proc/self/limits")?;
    text.lines()
        .find_map(|line| line.strip_prefix("Max open files")?.split_ascii_whitespace().next()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pretty_names_in_any_quotes() {
        assert_eq!(
            pretty_name("NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n").unwrap(),
            "Debian GNU/Linux 12 (bookworm)"
        );
        assert_eq!(pretty_name("PRETTY_NAME='Alpine Linux v3.20'").unwrap(), "Alpine Linux v3.20");
        assert_eq!(pretty_name("PRETTY_NAME=Void").unwrap(), "Void");
        assert_eq!(pretty_name("PRETTY_NAME=\"\"\nNAME=x"), None);
    }
}
