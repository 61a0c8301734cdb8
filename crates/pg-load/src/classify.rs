//! What an error of the client means: class, code, and what follows from it.

use crate::Error;
use deadpool_postgres::{PoolError, TimeoutType};
use load_core::{Class, Failure, io_class};
use std::{borrow::Cow, error::Error as StdError, io};
use tokio_postgres::error::{DbError, Severity, SqlState};

/// Knows the errors of `tokio_postgres`, `deadpool_postgres` and this crate; see [`load_core::Classify`].
///
/// An error that the server reported is of class `sql` with its SQLSTATE as code. A lost connection is `closed` or
/// `reset`, needs a new session, and leaves the effect unknown unless nothing had been sent.
pub fn classify(error: &(dyn StdError + 'static), failure: &mut Failure) -> bool {
    let meaning = if let Some(e) = error.downcast_ref::<tokio_postgres::Error>() {
        Meaning::of(e)
    } else if let Some(e) = error.downcast_ref::<DbError>() {
        Meaning::of_db(e)
    } else if let Some(e) = error.downcast_ref::<PoolError>() {
        match Meaning::of_pool(e) {
            Some(meaning) => meaning,
            None => return false,
        }
    } else if let Some(e) = error.downcast_ref::<Error>() {
        match e {
            Error::Connect { cause, .. } => Meaning::of(cause).while_connecting(),
            Error::Statement { cause, .. } | Error::InScript { cause, .. } => Meaning::of(cause),
            Error::ConnectTimeout { .. } => Meaning::new(Class::Connect, "timed out").lost(false),
            Error::Timeout { .. } => Meaning::new(Class::Timeout, "statement").lost(true),
            Error::TooManySessions { .. } => Meaning::new(Class::Sql, "53300"),
            _ => Meaning::new(Class::Check, "data"),
        }
    } else {
        return false;
    };
    meaning.tell(failure);
    true
}

/// What is known of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Meaning {
    pub(crate) class: Class,
    pub(crate) code: Cow<'static, str>,
    pub(crate) reconnect: bool,
    pub(crate) unknown: bool,
}

impl Meaning {
    pub(crate) fn new(class: Class, code: impl Into<Cow<'static, str>>) -> Meaning {
        Meaning { class, code: code.into(), reconnect: false, unknown: false }
    }

    /// The connection is gone.
    fn lost(self, unknown: bool) -> Meaning {
        Meaning { reconnect: true, unknown, ..self }
    }

    /// Before a session exists nothing can have had an effect.
    pub(crate) fn while_connecting(mut self) -> Meaning {
        self.unknown = false;
        self.reconnect = true;
        if matches!(self.class, Class::Timeout | Class::Closed | Class::Reset) {
            self.class = Class::Connect;
        }
        self
    }

    fn tell(self, failure: &mut Failure) {
        failure.set(self.class, self.code);
        failure.set_consequences(self.reconnect, self.unknown);
    }

    /// A failure with this meaning and `source` as its example.
    pub(crate) fn failure(self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Failure {
        let mut failure = Failure::new(self.class, "").with_source(source);
        self.tell(&mut failure);
        failure
    }

    pub(crate) fn of(error: &tokio_postgres::Error) -> Meaning {
        if let Some(db) = error.as_db_error() {
            return Meaning::of_db(db);
        }
        if error.is_closed() {
            return Meaning::new(Class::Closed, "connection closed").lost(true);
        }
        // The kind of an error is private; its text is the only thing that tells kinds apart.
        let text = error.to_string();
        let io = error.source().and_then(|e| e.downcast_ref::<io::Error>());
        if text.contains("TLS handshake") {
            return Meaning::new(Class::Tls, "handshake").lost(false);
        }
        if text.contains("connecting to server") {
            return Meaning::of_connect(io);
        }
        if text.starts_with("error serializing") || text.starts_with("expected ") {
            return Meaning::new(Class::Other, "parameter");
        }
        if text.starts_with("error deserializing")
            || text.contains("column")
            || text.contains("number of rows")
        {
            return Meaning::new(Class::Check, "row");
        }
        if text.starts_with("authentication") || text.starts_with("invalid configuration") {
            return Meaning::new(Class::Connect, "authentication").lost(false);
        }
        if text.starts_with("timeout") {
            return Meaning::new(Class::Connect, "timed out").lost(false);
        }
        match io {
            // What the server sent could not be understood.
            Some(_) if text.contains("parsing") => Meaning::new(Class::Protocol, "not understood").lost(true),
            Some(io) => {
                let (class, code, unknown) = io_class(io);
                Meaning::new(class, code).lost(unknown)
            }
            None => Meaning::new(Class::Protocol, "unexpected message").lost(true),
        }
    }

    fn of_connect(io: Option<&io::Error>) -> Meaning {
        let Some(io) = io else { return Meaning::new(Class::Connect, "").lost(false) };
        // A failed name resolution is an io::Error with neither number nor kind.
        if io.raw_os_error().is_none() && io.to_string().contains("lookup") {
            return Meaning::new(Class::Dns, "not found").lost(false);
        }
        let (class, code, _) = io_class(io);
        let class = if class == Class::Local { class } else { Class::Connect };
        Meaning::new(class, code).lost(false)
    }

    fn of_db(db: &DbError) -> Meaning {
        let code = db.code();
        let fatal = matches!(db.parsed_severity(), Some(Severity::Fatal | Severity::Panic))
            || matches!(db.severity(), "FATAL" | "PANIC");
        // The server ended the session while a statement may have been on its way to being committed.
        let cut_off = *code == SqlState::ADMIN_SHUTDOWN
            || *code == SqlState::CRASH_SHUTDOWN
            || *code == SqlState::IDLE_SESSION_TIMEOUT
            || code.code().starts_with("08");
        Meaning {
            class: Class::Sql,
            code: code.code().to_owned().into(),
            reconnect: fatal || cut_off,
            unknown: cut_off,
        }
    }

    fn of_pool(error: &PoolError) -> Option<Meaning> {
        match error {
            PoolError::Timeout(TimeoutType::Wait) => Some(Meaning::new(Class::Pool, "wait timeout")),
            PoolError::Timeout(TimeoutType::Create) => Some(Meaning::new(Class::Pool, "create timeout")),
            PoolError::Timeout(TimeoutType::Recycle) => Some(Meaning::new(Class::Pool, "recycle timeout")),
            // A new session is asked for so that the engine's back-off applies: a pool alone would try without pause.
            PoolError::Backend(e) => Some(Meaning::of(e).while_connecting()),
            PoolError::Closed => Some(Meaning::new(Class::Pool, "closed").lost(false)),
            PoolError::NoRuntimeSpecified => Some(Meaning::new(Class::Pool, "no runtime")),
            PoolError::PostCreateHook(_) => None,
        }
    }
}

/// A serialization failure or a deadlock: the two after which pgbench tries again.
pub(crate) fn may_be_retried(error: &tokio_postgres::Error) -> bool {
    matches!(error.code(), Some(c) if *c == SqlState::T_R_SERIALIZATION_FAILURE || *c == SqlState::T_R_DEADLOCK_DETECTED)
}

/// An error in words. The client's own text for an error of the server is just "db error".
pub(crate) fn reason(error: &tokio_postgres::Error) -> String {
    if let Some(db) = error.as_db_error() {
        let mut text = format!("{} (SQLSTATE {})", db.message(), db.code().code());
        for more in [db.detail(), db.hint(), hint(db.code())].into_iter().flatten() {
            text = format!("{text}; {more}");
        }
        return text;
    }
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        text = format!("{text}: {error}");
        next = error.source();
    }
    text
}

/// What the server cannot know.
fn hint(code: &SqlState) -> Option<&'static str> {
    let lost = *code == SqlState::INVALID_SQL_STATEMENT_NAME || *code == SqlState::DUPLICATE_PSTATEMENT;
    lost.then_some(
        "behind a pooler that gives each transaction another server connection, prepared statements get lost: use the \
         extended or the simple protocol",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(error: impl StdError + Send + Sync + 'static) -> Failure {
        let mut failure = Failure::from(error);
        failure.classify(&[classify]);
        failure
    }

    #[test]
    fn a_pool_without_a_free_connection_is_its_own_class() {
        let failure = told(PoolError::Timeout(TimeoutType::Wait));
        assert_eq!((failure.class(), failure.code()), (Class::Pool, "wait timeout"));
        assert!(!failure.needs_reconnect() && !failure.is_unknown());
    }

    #[test]
    fn own_errors_are_known() {
        let timeout = told(Error::Timeout { what: "x".into(), after: std::time::Duration::from_secs(1) });
        assert_eq!(timeout.class(), Class::Timeout);
        assert!(timeout.needs_reconnect() && timeout.is_unknown());
        let missing = told(Error::MissingTable { table: "pgbench_tellers".into(), scale: 1 });
        assert_eq!(missing.class(), Class::Check);
        assert!(missing.describe().contains("pgbench_tellers"));
    }
}
