//! Which class and code an error of Redis has.

use crate::resp::ErrorText;
use load_core::{Class, Failure};
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

/// What a server said, as the example that the record shows.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Said(pub(crate) String);

/// The counter for an error reply in a pipeline whose others went well.
pub(crate) fn counter(word: &[u8]) -> &'static str {
    match word {
        b"ASK" => "error.ASK",
        b"CLUSTERDOWN" => "error.CLUSTERDOWN",
        b"LOADING" => "error.LOADING",
        b"MOVED" => "error.MOVED",
        b"NOPERM" => "error.NOPERM",
        b"OOM" => "error.OOM",
        b"READONLY" => "error.READONLY",
        b"TRYAGAIN" => "error.TRYAGAIN",
        b"WRONGTYPE" => "error.WRONGTYPE",
        _ => "error.other",
    }
}

/// An error reply as a failure: counted by its first word. The connection is good all the same, and the command was not
/// carried out.
pub(crate) fn reply_failure(error: &ErrorText) -> Failure {
    let hint = match error.first_word() {
        b"MOVED" | b"ASK" => " (a node of a cluster; redirections are counted, not followed)",
        b"LOADING" => " (the server has not read its data yet)",
        b"NOAUTH" => " (no password was given)",
        _ => "",
    };
    Failure::new(Class::Redis, code(error.first_word())).with_source(Said(format!("{}{hint}", error.text())))
}

/// Knows the errors of this crate's clients, for `Plan::classify`. Failures of the lean client come with their class
/// already.
pub fn classify(error: &(dyn std::error::Error + 'static), failure: &mut Failure) -> bool {
    let _ = (error, failure);
    false
}
