//! Parsers: pure functions over the bytes of a file. None panics, and what is not there is `None`, never 0.

pub(crate) mod cgroup;
pub(crate) mod disk;
pub(crate) mod memory;
pub(crate) mod mounts;
pub(crate) mod net;
pub(crate) mod pid;
pub(crate) mod pressure;
pub(crate) mod stat;

#[cfg(test)]
mod any_bytes_test;
// `fuzzing` is what cargo-fuzz sets.
#[cfg(any(test, fuzzing))]
pub(crate) mod every;

/// The next number of a line.
pub(crate) fn number<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<u64> {
    words.next()?.parse().ok()
}

/// The lines of a file; bytes that are no UTF-8 spoil only their own line. A last line without its end is left out: a
/// short read may have cut it, and half a number is a wrong number.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = &str> {
    let end = bytes.iter().rposition(|&b| b == b'\n').unwrap_or(0);
    bytes[..end].split(|&b| b == b'\n').filter_map(|line| std::str::from_utf8(line).ok())
}

/// The value of a key in a file of `key value` lines.
pub(crate) fn keyed(bytes: &[u8], key: &str) -> Option<u64> {
    lines(bytes).find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

/// A file that is one number.
pub(crate) fn single(bytes: &[u8]) -> Option<u64> {
    std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?.trim().parse().ok()
}
