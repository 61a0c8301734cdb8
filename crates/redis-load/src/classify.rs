//! Which class and code an error of Redis has.

use crate::{Target, resp::ErrorText};
use fred::error::{Error, ErrorKind};
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

/// Knows the errors of fred, for `Plan::classify`. Failures of the lean client come with their class already.
pub fn classify(error: &(dyn std::error::Error + 'static), failure: &mut Failure) -> bool {
    let Some(error) = error.downcast_ref::<fred::error::Error>() else { return false };
    match fred_reply(error) {
        Some(text) => failure.set(Class::Redis, code(text.first_word())),
        None => {
            let (class, code, unknown, reconnect) = fred_class(error);
            failure.set(class, code);
            failure.set_consequences(reconnect, unknown);
        }
    }
    true
}

/// The error reply of the server behind an error of fred, which tells them by no kind of its own: they begin with a word
/// in capitals.
pub(crate) fn fred_reply(error: &Error) -> Option<ErrorText> {
    let word = error.details().split(' ').next().unwrap_or_default();
    let known = WORDS.contains(&word);
    let custom = *error.kind() == ErrorKind::Unknown
        && word.len() > 2
        && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    (known || custom).then(|| {
        let mut text = ErrorText::new();
        text.push(error.details().as_bytes());
        text
    })
}

/// Class, code, whether the effect is unknown, and whether the client is of no more use.
fn fred_class(error: &Error) -> (Class, &'static str, bool, bool) {
    let said = error.details();
    match error.kind() {
        ErrorKind::Timeout => (Class::Timeout, "command", true, true),
        ErrorKind::IO if said.contains("refused") => (Class::Connect, "refused", false, true),
        ErrorKind::IO if said.contains("No such file") => (Class::Connect, "no such socket", false, true),
        ErrorKind::IO if said.contains("reset") => (Class::Reset, "connection reset", true, true),
        ErrorKind::IO if said.contains("pipe") => (Class::Reset, "broken pipe", true, true),
        ErrorKind::IO if said.contains("lookup") || said.contains("resolve") => {
            (Class::Dns, "not found", false, true)
        }
        ErrorKind::IO if said.contains("os error 24") => {
            (Class::Local, "no file descriptor (EMFILE)", false, true)
        }
        ErrorKind::IO if said.contains("os error 99") => {
            (Class::Local, "no local port (EADDRNOTAVAIL)", false, true)
        }
        // What was in flight when the connection was lost is cancelled.
        ErrorKind::IO | ErrorKind::Canceled => (Class::Closed, "before the reply", true, true),
        ErrorKind::Auth => (Class::Redis, "NOAUTH", false, false),
        ErrorKind::Protocol => (Class::Protocol, "fred", true, true),
        // The answer came, and is not of the type that the closure asked for.
        ErrorKind::Parse => (Class::Check, "type", false, false),
        #[cfg(feature = "tls")]
        ErrorKind::Tls => (Class::Tls, "handshake", false, true),
        ErrorKind::NotFound => (Class::Check, "not found", false, false),
        ErrorKind::Backpressure => (Class::Other, "backpressure", false, false),
        ErrorKind::Config | ErrorKind::Url | ErrorKind::Routing => (Class::Other, "client", false, true),
        _ => (Class::Other, "fred", false, false),
    }
}

/// An error of fred that is none of the server's, as a failure.
pub(crate) fn fred_failure(error: Error) -> Failure {
    let mut failure = Failure::boxed(Box::new(error));
    failure.classify(&[classify]);
    failure
}

/// Why fred could not connect. What the server said is not repeated where it may hold the password.
pub(crate) fn fred_connect_failure(target: &Target, error: &Error) -> Failure {
    if let Some(text) = fred_reply(error) {
        let word = code(text.first_word());
        let said = if text.text().contains("out of range") {
            format!("the server has no database {} ({})", target.database, text.text())
        } else {
            format!("{word}: the server refused the handshake")
        };
        return Failure::new(Class::Redis, word).with_source(Said(said));
    }
    match fred_class(error) {
        (Class::Timeout | Class::Closed | Class::Reset, ..) => {
            Failure::new(Class::Connect, "no answer to the handshake")
        }
        (class, code, ..) => Failure::new(class, code).with_source(Said(error.kind().to_str().into())),
    }
}
