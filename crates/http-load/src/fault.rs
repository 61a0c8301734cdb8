//! From what went wrong to a class, a code and the consequences.

use crate::HttpError;
use load_core::{Class, Failure, io_class};
use std::{error::Error, io, time::Duration};

/// As many headers and as large a head as the HTTP library takes.
pub(crate) const MAX_HEADERS: usize = 100;
pub(crate) const MAX_HEAD_BYTES: usize = 8192 + 4096 * 100;

/// How far an operation got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// No byte of the answer has come.
    FirstByte,
    /// A part of the head has come.
    Head,
    /// The head has come.
    Body,
}

impl Step {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Step::FirstByte => "first byte",
            Step::Head => "head",
            Step::Body => "body",
        }
    }
}

/// No connection.
pub(crate) fn connect(address: String, source: io::Error) -> Failure {
    let (class, code, _) = io_class(&source);
    // Whatever it was, it kept the connection from being made; only this machine's own limits are another matter.
    let (class, error) = match class {
        Class::Local => (class, HttpError::Local { address, hint: hint(code), source }),
        _ => (Class::Connect, HttpError::Connect { address, source }),
    };
    Failure::new(class, code).with_source(error).reconnect()
}

/// What limits this machine, and what can be done about it.
fn hint(code: &str) -> String {
    if code.contains("EMFILE") {
        return format!("RLIMIT_NOFILE{}: raise it (ulimit -n) or ask for fewer sessions", descriptors());
    }
    if code.contains("EADDRNOTAVAIL") {
        return "all local ports are in use or in TIME_WAIT: keep connections, connect to more addresses, or widen \
                net.ipv4.ip_local_port_range"
            .into();
    }
    "a limit of this machine, not of the server".into()
}

#[cfg(target_os = "linux")]
fn descriptors() -> String {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.map_or_else(String::new, |n| format!(" is {n}"))
}

#[cfg(not(target_os = "linux"))]
fn descriptors() -> String {
    String::new()
}

/// The time is up.
pub(crate) fn timed_out(step: &'static str, limit: Duration, sent: bool) -> Failure {
    let failure =
        Failure::new(Class::Timeout, step).with_source(HttpError::TimedOut { limit, step }).reconnect();
    if sent { failure.unknown_outcome() } else { failure }
}

/// The connection ended before the answer did. `rest` is what had been read and not understood. Whether the outcome is unknown
/// is for the caller to say.
pub(crate) fn broken(step: Step, error: &hyper::Error, rest: &[u8]) -> Failure {
    named(step, error, rest).reconnect()
}

fn named(step: Step, error: &hyper::Error, rest: &[u8]) -> Failure {
    let step_name = step.name();
    if error.is_parse() {
        let reason = error.to_string();
        if reason.contains("too large") {
            return Failure::new(Class::Protocol, "head of the answer too large")
                .with_source(HttpError::HeadTooLarge { headers: MAX_HEADERS, bytes: MAX_HEAD_BYTES });
        }
        // In a body it may be anything, our own words come back among it.
        let rest = if step == Step::Body { &[] } else { rest };
        return not_http(reason, rest);
    }
    if error.is_incomplete_message() {
        return closed(step_name);
    }
    let mut next: Option<&(dyn Error + 'static)> = error.source();
    while let Some(cause) = next {
        if let Some(error) = cause.downcast_ref::<hyper::Error>()
            && error.is_incomplete_message()
        {
            return closed(step_name);
        }
        if let Some(io) = cause.downcast_ref::<io::Error>() {
            // A server may refuse the client only after the client has seen the handshake end.
            #[cfg(feature = "tls")]
            if let Some(found) = crate::tls::found(io) {
                return found.into_failure(io);
            }
            return match io.kind() {
                io::ErrorKind::UnexpectedEof => closed(step_name),
                // How the library reports a chunk that cannot be read.
                io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => not_http(io.to_string(), &[]),
                kind => {
                    let (class, code, _) = io_class(io);
                    let source = io.raw_os_error().map_or_else(|| kind.into(), io::Error::from_raw_os_error);
                    Failure::new(class, code).with_source(HttpError::Broken { step: step_name, source })
                }
            };
        }
        next = cause.source();
    }
    Failure::new(Class::Other, "").with_source(HttpError::Other(format!("{step_name}: {error}")))
}

fn closed(step: &'static str) -> Failure {
    Failure::new(Class::Closed, step).with_source(HttpError::Closed { step })
}

fn not_http(reason: String, rest: &[u8]) -> Failure {
    Failure::new(Class::Protocol, reason.clone())
        .with_source(HttpError::NotHttp { reason, sample: sample(rest) })
}

/// The first line of what came, up to 48 bytes, escaped; no further than where a value may begin, as it may be something of
/// our own request come back.
fn sample(bytes: &[u8]) -> String {
    let line = bytes.split(|b| matches!(b, b'\r' | b'\n')).next().unwrap_or_default();
    let line = line.split(|b| matches!(b, b'?' | b':' | b'=')).next().unwrap_or_default();
    line[..line.len().min(48)].escape_ascii().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_show_one_short_line_without_the_query() {
        for (bytes, shown) in [
            (&b"GET /a?token=x HTTP/1.1\r\nauthorization: y\r\n"[..], "GET /a"),
            (b"Authorization: Bearer x", "Authorization"),
            (b"name=value", "name"),
            (b"\x16\x03\x01", "\\x16\\x03\\x01"),
            (b"", ""),
            (&[b'a'; 100], &"a".repeat(48)),
        ] {
            assert_eq!(sample(bytes), shown);
        }
    }

    #[test]
    fn limits_of_this_machine_are_told_apart_from_a_refusal() {
        for (errno, class, code) in [
            (111, Class::Connect, "refused"),
            (104, Class::Connect, "connection reset"),
            (110, Class::Connect, "timed out"),
            (113, Class::Connect, "unreachable"),
            (99, Class::Local, "no local port (EADDRNOTAVAIL)"),
            (24, Class::Local, "no file descriptor (EMFILE)"),
        ] {
            let failure = connect("127.0.0.1:1".into(), io::Error::from_raw_os_error(errno));
            assert_eq!((failure.class(), failure.code()), (class, code), "{errno}");
            assert!(failure.needs_reconnect() && !failure.is_unknown());
            assert!(failure.describe().contains("127.0.0.1:1"), "{}", failure.describe());
        }
    }
}
