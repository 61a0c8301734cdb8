//! The one error of this crate.

use crate::classify::reason;
use load_core::ConfigError;
use std::time::Duration;

/// What went wrong while connecting, making or checking data, reading statistics or cleaning up.
///
/// Inside a workload errors become [`Failure`](load_core::Failure)s. No variant carries a password. The client's own errors are
/// told in the text; they are not the `source`, or whoever prints the chain would say them twice.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting that cannot be meant; nothing was connected.
    #[error(transparent)]
    Config(#[from] ConfigError),

    /// No connection.
    #[error("{server}: no connection: {}", reason(cause))]
    Connect {
        /// Host, port and database.
        server: String,
        /// What the server or the network said.
        cause: tokio_postgres::Error,
    },

    /// Connecting, with TLS and login, took too long.
    #[error("{server}: no connection within {after:?}")]
    ConnectTimeout {
        /// Host, port and database.
        server: String,
        /// The limit.
        after: Duration,
    },

    /// A statement of ours failed.
    #[error("{what}: {}", reason(cause))]
    Statement {
        /// What was being done.
        what: String,
        /// What the server or the network said.
        cause: tokio_postgres::Error,
    },

    /// The server did not answer in time.
    #[error("{what}: no answer within {after:?}")]
    Timeout {
        /// What was being done.
        what: String,
        /// The limit.
        after: Duration,
    },

    /// A table of pgbench's is not there.
    #[error("table {table} is missing; load the data first (scale {scale})")]
    MissingTable {
        /// Its name.
        table: String,
        /// The scale that was asked for.
        scale: u32,
    },

    /// A table has a name of pgbench's but is not pgbench's, or holds another amount of data.
    #[error("table {table} is not what is needed: {why}")]
    ForeignTable {
        /// Its name.
        table: String,
        /// What is different.
        why: String,
    },

    /// There is a table already where one was to be made.
    #[error("table {table} exists already; it is replaced only if you say so (Pgbench::replace)")]
    TableExists {
        /// Its name.
        table: String,
    },

    /// The connection was lost before anything was sent.
    #[error("connection lost: {why}")]
    Lost {
        /// What the server or the network had said.
        why: String,
    },

    /// Something of ours is still on the server after it was dropped.
    #[error("{what} is still there")]
    Remains {
        /// What.
        what: String,
    },

    /// A parameter of a statement is of a type that an integer cannot stand for.
    #[error(
        "statement {statement:?}: parameter ${position} (:{variable}) is of type {ty}, which an integer cannot stand for"
    )]
    Parameter {
        /// The name of the statement.
        statement: &'static str,
        /// The parameter's number, from 1.
        position: usize,
        /// The variable that was to be put there.
        variable: String,
        /// The type that the server expects there.
        ty: String,
    },

    /// A statement of a workload's script failed.
    #[error("statement {statement:?}: {}", reason(cause))]
    InScript {
        /// The name of the statement.
        statement: &'static str,
        /// What the server or the network said.
        cause: tokio_postgres::Error,
    },

    /// A statement of a workload's script did something else than it should have.
    #[error("statement {statement:?}: {found} rows, not {expected}")]
    Rows {
        /// The name of the statement.
        statement: &'static str,
        /// Rows it gave or changed.
        found: u64,
        /// Rows it was to give or change.
        expected: u64,
    },

    /// More sessions than the server lets in.
    #[error(
        "{asked} sessions were asked for, but the server has room for {free} (max_connections {limit}, {reserved} of them \
         reserved, {used} in use); SQLSTATE 53300 would follow"
    )]
    TooManySessions {
        /// Sessions asked for.
        asked: usize,
        /// Connections that were free.
        free: i64,
        /// `max_connections`.
        limit: i64,
        /// Kept for superusers and the like.
        reserved: i64,
        /// In use by others.
        used: i64,
    },
}

impl Error {
    pub(crate) fn statement(what: impl Into<String>) -> impl FnOnce(tokio_postgres::Error) -> Error {
        let what = what.into();
        move |cause| Error::Statement { what, cause }
    }

    /// The server's SQLSTATE, if it was the server that refused.
    pub fn sqlstate(&self) -> Option<&str> {
        match self {
            Error::Connect { cause, .. } | Error::Statement { cause, .. } | Error::InScript { cause, .. } => {
                cause.code().map(|c| c.code())
            }
            _ => None,
        }
    }
}
