//! A way to restart a server.

use std::fmt;

/// Restarts a server: a local process, a container, a service. Recovery checks and fault experiments take one.
pub trait Restart: Send + Sync + 'static {
    /// Which server, for the record (`"nginx"`).
    fn name(&self) -> &str;

    /// Stops it in good order and starts it again; returns when it has been told to start, not when it answers: how long
    /// that takes is what a recovery check measures.
    ///
    /// # Errors
    /// When it could not be stopped or started.
    fn restart(&self) -> impl Future<Output = Result<(), RestartError>> + Send;
}

/// Why a server could not be restarted.
#[derive(Debug)]
pub struct RestartError {
    server: String,
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl RestartError {
    /// For `server`, because of `source`.
    pub fn new(
        server: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> RestartError {
        RestartError { server: server.into(), source: source.into() }
    }
}

impl fmt::Display for RestartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} could not be restarted: {}", self.server, self.source)
    }
}

impl std::error::Error for RestartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.source)
    }
}
