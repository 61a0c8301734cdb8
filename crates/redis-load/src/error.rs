//! The one error of this crate.

use load_core::{ConfigError, Failure};

/// Why something other than an operation failed: settings, the isolation, a pre-fill, a reading.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RedisError {
    /// A setting was refused before anything connected.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// No connection, or it was lost, or it went silent.
    #[error("{target}: {what}")]
    Server {
        /// Address and database.
        target: String,
        /// What happened, without secrets.
        what: String,
    },
    /// The server refused a command.
    #[error("{target}: {command} was refused: {reply}")]
    Refused {
        /// Address and database.
        target: String,
        /// The command, without its arguments.
        command: String,
        /// What the server said.
        reply: String,
    },
    /// The database holds keys that are not ours.
    #[error(
        "{target} holds keys that no run of this project made ({seen} seen, such as {examples}); choose an empty \
         database, or allow them by name"
    )]
    ForeignKeys {
        /// Address and database.
        target: String,
        /// How many were seen before the search stopped.
        seen: u64,
        /// The beginnings of a few of them.
        examples: String,
    },
}

impl RedisError {
    pub(crate) fn config(field: &str, value: impl std::fmt::Display, reason: &str) -> RedisError {
        RedisError::Config(ConfigError::invalid(field, value, reason))
    }

    /// Whether it may be otherwise in a moment: the server is starting, loading, or failing over.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            RedisError::Server { .. } => true,
            RedisError::Refused { reply, .. } => ["LOADING", "BUSY", "MASTERDOWN", "TRYAGAIN", "CLUSTERDOWN"]
                .iter()
                .any(|word| reply.starts_with(word)),
            _ => false,
        }
    }

    /// From a failure to connect or to get an answer.
    pub(crate) fn server(target: &crate::Target, failure: &Failure) -> RedisError {
        RedisError::Server { target: target.to_string(), what: failure.describe() }
    }
}
