//! Which class and code an error of Redis has.

use std::borrow::Cow;

/// The first words of error replies that servers give; others are kept as they came, cut to what a word may be.
const WORDS: &[&str] = &[
    "ERR",
    "ASK",
    "BUSY",
    "BUSYGROUP",
    "CLUSTERDOWN",
    "CROSSSLOT",
    "EXECABORT",
    "LOADING",
    "MASTERDOWN",
    "MISCONF",
    "MOVED",
    "NOAUTH",
    "NOGROUP",
    "NOPERM",
    "NOPROTO",
    "NOREPLICAS",
    "NOSCRIPT",
    "OOM",
    "READONLY",
    "TRYAGAIN",
    "UNKILLABLE",
    "WRONGPASS",
    "WRONGTYPE",
];

/// The code for an error reply that begins with `word`.
pub(crate) fn code(word: &[u8]) -> Cow<'static, str> {
    if let Some(known) = WORDS.iter().find(|w| w.as_bytes() == word) {
        return Cow::Borrowed(known);
    }
    let clean: String = word
        .iter()
        .take(24)
        .map(|b| char::from(*b))
        .filter(|c| c.is_ascii_alphanumeric() || "_-".contains(*c))
        .collect();
    if clean.is_empty() { Cow::Borrowed("(no word)") } else { Cow::Owned(clean) }
}
