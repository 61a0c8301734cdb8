//! What came of an operation, and the classes of what can go wrong.

use serde::{Deserialize, Serialize};
use std::{borrow::Cow, error::Error, fmt, io};

/// What an operation came to. What else is known (bytes, steps, kind) is said on [`Op`](crate::Op), so that
/// failures keep it too.
pub type Outcome = Result<(), Failure>;

/// The class of a failure. Every failed operation is in exactly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Class {
    /// A name could not be resolved.
    Dns,
    /// No connection: refused, unreachable, timed out while connecting.
    Connect,
    /// The TLS handshake failed.
    Tls,
    /// A limit of this machine: no descriptor, no local port. Not the server's fault.
    Local,
    /// No complete answer in time.
    Timeout,
    /// The peer reset the connection.
    Reset,
    /// The peer closed the connection before the answer was complete.
    Closed,
    /// An answer that is not of the protocol.
    Protocol,
    /// A well-formed answer with a status that was not expected.
    Status,
    /// An answer that did not pass the workload's own check.
    Check,
    /// An error reported by an SQL server.
    Sql,
    /// An error reply of Redis.
    Redis,
    /// No connection from a pool.
    Pool,
    /// The workload panicked.
    Panic,
    /// The operation was cancelled.
    Cancelled,
    /// An error that no classifier knew.
    Other,
}

impl Class {
    /// The name that the record uses.
    pub fn name(self) -> &'static str {
        match self {
            Class::Dns => "dns",
            Class::Connect => "connect",
            Class::Tls => "tls",
            Class::Local => "local",
            Class::Timeout => "timeout",
            Class::Reset => "reset",
            Class::Closed => "closed",
            Class::Protocol => "protocol",
            Class::Status => "status",
            Class::Check => "check",
            Class::Sql => "sql",
            Class::Redis => "redis",
            Class::Pool => "pool",
            Class::Panic => "panic",
            Class::Cancelled => "cancelled",
            Class::Other => "other",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why an operation failed.
///
/// It is not an [`Error`] itself (as with `anyhow::Error`), so that `?` turns every client's error into one. An error
/// taken by `?` is classified when the failure is counted, by the classifiers that the plan knows
/// ([`Classify`]); [`std::io::Error`] is always known. For a boxed error use [`Failure::boxed`].
pub struct Failure {
    class: Class,
    code: Cow<'static, str>,
    source: Option<Box<dyn Error + Send + Sync>>,
    unknown: bool,
    reconnect: bool,
}

impl Failure {
    /// A failure of this class. `code` tells failures of a class apart (`"404"`, `"40001"`, `"refused"`): keep it to a
    /// handful of values, they are counted one by one.
    pub fn new(class: Class, code: impl Into<Cow<'static, str>>) -> Failure {
        Failure { class, code: code.into(), source: None, unknown: false, reconnect: false }
    }

    /// A failure of class [`Check`](Class::Check): the answer came but was not the right one.
    pub fn check(code: impl Into<Cow<'static, str>>) -> Failure {
        Failure::new(Class::Check, code)
    }

    /// From an error that is boxed already, for which `?` does not work.
    pub fn boxed(error: Box<dyn Error + Send + Sync>) -> Failure {
        Failure { source: Some(error), ..Failure::new(Class::Other, "") }
    }

    /// Keeps `error` as the example that the record shows.
    pub fn with_source(mut self, error: impl Into<Box<dyn Error + Send + Sync>>) -> Failure {
        self.source = Some(error.into());
        self
    }

    /// The effect on the server is not known: a timeout, a connection lost after the request was sent.
    pub fn unknown_outcome(mut self) -> Failure {
        self.unknown = true;
        self
    }

    /// The session cannot be used any more; the engine closes it and connects a new one.
    pub fn reconnect(mut self) -> Failure {
        self.reconnect = true;
        self
    }

    /// Sets class and code, for classifiers.
    pub fn set(&mut self, class: Class, code: impl Into<Cow<'static, str>>) {
        self.class = class;
        self.code = code.into();
    }

    /// Sets whether a new session is needed and whether the effect is unknown, for classifiers.
    pub fn set_consequences(&mut self, reconnect: bool, unknown: bool) {
        self.reconnect = reconnect;
        self.unknown = unknown;
    }

    /// Says which part of a composed workload it came from, in its example. For failures that are few: it allocates.
    pub(crate) fn in_part(mut self, part: &'static str) -> Failure {
        self.source = Some(Box::new(InPart { part, source: self.source.take() }));
        self
    }

    /// The class.
    pub fn class(&self) -> Class {
        self.class
    }

    /// The code within the class; may be empty.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Whether the engine connects a new session.
    pub fn needs_reconnect(&self) -> bool {
        self.reconnect
    }

    /// Whether the effect on the server is unknown.
    pub fn is_unknown(&self) -> bool {
        self.unknown
    }

    /// The error behind it.
    pub fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|e| e as _)
    }

    /// Finds the class of a failure that came by `?`: walks from the error through its sources and asks each classifier,
    /// then the built-in one for [`std::io::Error`]. Does nothing to a failure that was made with a class. Called by the
    /// engine, once for each failure.
    pub fn classify(&mut self, classifiers: &[Classify]) {
        if self.class != Class::Other {
            return;
        }
        let Some(source) = self.source.take() else { return };
        let mut next: Option<&(dyn Error + 'static)> = Some(&*source);
        'walk: while let Some(error) = next {
            for classify in classifiers.iter().copied().chain([classify_io as Classify]) {
                if classify(error, self) {
                    break 'walk;
                }
            }
            next = error.source();
        }
        self.source = Some(source);
    }

    /// One line for people: class, code, and the chain of errors.
    pub fn describe(&self) -> String {
        let mut text = self.class.to_string();
        if !self.code.is_empty() {
            text = format!("{text} ({})", self.code);
        }
        let mut next = self.source();
        let mut last = String::new();
        while let Some(error) = next {
            let said = error.to_string();
            // Many errors repeat what their source says.
            if !last.ends_with(&said) {
                text = format!("{text}: {said}");
                last = said;
            }
            next = error.source();
        }
        text
    }
}

/// A link in the chain of errors that names a part; classifiers pass it by.
#[derive(Debug)]
struct InPart {
    part: &'static str,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl fmt::Display for InPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in {}", self.part)
    }
}

impl Error for InPart {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|e| e as _)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Failure({})", self.describe())
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::boxed(Box::new(error))
    }
}

/// Looks at one error of a chain; sets class, code and consequences and answers `true` when it knows the error.
/// Protocol crates bring one each; `Plan::classify` adds it.
pub type Classify = fn(&(dyn Error + 'static), &mut Failure) -> bool;

/// The built-in classifier, for [`std::io::Error`]: the class by its kind, and a new session needed.
pub fn classify_io(error: &(dyn Error + 'static), failure: &mut Failure) -> bool {
    let Some(error) = error.downcast_ref::<io::Error>() else { return false };
    // An io::Error that only wraps another error says nothing itself; its source will be asked next.
    if error.kind() == io::ErrorKind::Other && error.raw_os_error().is_none() {
        return false;
    }
    let (class, code, unknown) = io_class(error);
    failure.set(class, code);
    failure.set_consequences(true, unknown);
    true
}

/// Class, code and "effect unknown" of an I/O error, as [`classify_io`] sets them.
pub fn io_class(error: &io::Error) -> (Class, &'static str, bool) {
    use io::ErrorKind as K;
    match error.kind() {
        K::ConnectionRefused => (Class::Connect, "refused", false),
        K::HostUnreachable | K::NetworkUnreachable | K::NetworkDown => (Class::Connect, "unreachable", false),
        K::NotFound => (Class::Connect, "no such socket", false),
        K::PermissionDenied => (Class::Local, "permission denied", false),
        K::AddrNotAvailable => (Class::Local, "no local port (EADDRNOTAVAIL)", false),
        K::AddrInUse => (Class::Local, "address in use", false),
        K::OutOfMemory => (Class::Local, "out of memory", false),
        K::ConnectionReset | K::ConnectionAborted => (Class::Reset, "connection reset", true),
        K::BrokenPipe | K::NotConnected => (Class::Reset, "broken pipe", true),
        K::UnexpectedEof => (Class::Closed, "end of stream", true),
        K::TimedOut | K::WouldBlock => (Class::Timeout, "timed out", true),
        K::InvalidData => (Class::Protocol, "invalid data", true),
        _ => match error.raw_os_error() {
            // EMFILE and ENFILE have no stable kind.
            Some(23 | 24) => (Class::Local, "no file descriptor (EMFILE)", false),
            Some(105) => (Class::Local, "no buffer space (ENOBUFS)", false),
            _ => (Class::Other, "io", true),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails() -> Outcome {
        Err(io::Error::from(io::ErrorKind::ConnectionReset))?;
        Ok(())
    }

    #[test]
    fn question_mark_takes_any_error_and_it_is_classified_once() {
        let mut failure = fails().unwrap_err();
        failure.classify(&[]);
        assert_eq!((failure.class(), failure.code()), (Class::Reset, "connection reset"));
        assert!(failure.needs_reconnect() && failure.is_unknown());
        let mut own = Failure::check("too short").with_source(io::Error::from(io::ErrorKind::TimedOut));
        own.classify(&[]);
        assert_eq!(own.class(), Class::Check, "a class that was given stays");
    }

    #[test]
    fn local_limits_are_not_the_servers_fault() {
        for (number, class) in
            [(24, Class::Local), (99, Class::Local), (111, Class::Connect), (104, Class::Reset)]
        {
            assert_eq!(io_class(&io::Error::from_raw_os_error(number)).0, class, "errno {number}");
        }
    }

    #[test]
    fn unknown_errors_are_other_and_described() {
        let mut failure = Failure::from("x".parse::<u32>().unwrap_err());
        failure.classify(&[]);
        assert_eq!(failure.class(), Class::Other);
        assert_eq!(failure.describe(), "other: invalid digit found in string");
    }
}
