//! Parsers: pure functions over the bytes of a file. None panics, and what is not there is `None`, never 0.

pub(crate) mod cgroup;
pub(crate) mod pid;
pub(crate) mod stat;

/// The next number of a line.
pub(crate) fn number<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<u64> {
    words.next()?.parse().ok()
}

/// The lines of a file; bytes that are no UTF-8 spoil only their own line.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = &str> {
    bytes.split(|&b| b == b'\n').filter_map(|line| std::str::from_utf8(line).ok())
}
