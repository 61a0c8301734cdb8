//! Where a server is and how to get in.

mod parse;
mod ssl;
#[cfg(feature = "tls")]
mod tls;

pub use ssl::SslMode;
#[cfg(feature = "tls")]
pub(crate) use tls::Tls;

use crate::{Connection, Error};
use load_core::ConfigError;
use std::{
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};
use tokio_postgres::{Config, config::Host};

/// Limit for connecting unless told otherwise, TLS and login included.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A PostgreSQL server, a database on it, and how to log in.
///
/// Its `Debug` and `Display` give host, port and database, never the password.
///
/// ```
/// use pg_load::{Server, SslMode};
/// let server = Server::parse("postgres://bench:secret@127.0.0.1:5432/bench?sslmode=disable")?;
/// assert_eq!(server.to_string(), "127.0.0.1:5432/bench");
/// assert_eq!(server.ssl_mode(), SslMode::Disable);
/// # Ok::<(), pg_load::Error>(())
/// ```
#[derive(Clone)]
pub struct Server {
    config: Config,
    ssl: SslMode,
    root_certificate: Option<PathBuf>,
    connect_timeout: Duration,
}

impl Server {
    /// From a connection URL (`postgres://user:password@host:port/database?sslmode=..`) or libpq's `key=value` words.
    /// A host that begins with `/` is the directory of a unix socket. Environment variables are not looked at.
    ///
    /// Beside the options of [`tokio_postgres::Config`]: all of libpq's `sslmode`s but `allow`, and `sslrootcert`.
    ///
    /// # Errors
    /// [`Error::Config`] names the option that is wrong; the text itself, which may hold a password, is not repeated.
    pub fn parse(text: &str) -> Result<Server, Error> {
        let parsed = parse::parse(text)?;
        let mut server = Server::from_config(parsed.config)?;
        if let Some(mode) = parsed.ssl {
            server.ssl = mode;
        }
        server.root_certificate = parsed.root_certificate;
        Ok(server)
    }

    /// From a configuration of the client's. Of its `ssl_mode` as it is documented there: `require` does not look at
    /// the certificate.
    ///
    /// # Errors
    /// [`Error::Config`] when it names no host.
    pub fn from_config(config: Config) -> Result<Server, Error> {
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(ConfigError::invalid(
                "host",
                "none",
                "name a host or the directory of a unix socket",
            )
            .into());
        }
        let ssl = SslMode::of_client(config.get_ssl_mode());
        let connect_timeout = config.get_connect_timeout().copied().unwrap_or(CONNECT_TIMEOUT);
        Ok(Server { config, ssl, root_certificate: None, connect_timeout })
    }

    /// Sets the password.
    pub fn password(mut self, password: impl AsRef<[u8]>) -> Server {
        self.config.password(password);
        self
    }

    /// The same server and login, another database.
    pub fn with_database(mut self, database: impl Into<String>) -> Server {
        self.config.dbname(database);
        self
    }

    /// Sets how TLS is used.
    pub fn with_ssl_mode(mut self, mode: SslMode) -> Server {
        self.ssl = mode;
        self
    }

    /// Sets the file of CA certificates (PEM) that the server's certificate is checked against.
    pub fn with_root_certificate(mut self, file: impl Into<PathBuf>) -> Server {
        self.root_certificate = Some(file.into());
        self
    }

    /// Sets the limit for connecting, TLS and login included; 5 s unless told otherwise.
    pub fn with_connect_timeout(mut self, limit: Duration) -> Server {
        self.connect_timeout = limit;
        self
    }

    /// How TLS is used.
    pub fn ssl_mode(&self) -> SslMode {
        self.ssl
    }

    /// The database, which is named like the user unless told otherwise.
    pub fn database(&self) -> &str {
        self.config.get_dbname().or(self.config.get_user()).unwrap_or_default()
    }

    /// Where it is: host names and addresses, and directories of unix sockets (which begin with `/`).
    pub fn hosts(&self) -> Vec<String> {
        let hosts = self.config.get_hosts().iter().map(|host| match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(directory) => directory.display().to_string(),
        });
        hosts.chain(self.config.get_hostaddrs().iter().map(ToString::to_string)).collect()
    }

    /// The limit for connecting.
    pub fn connect_timeout(&self) -> Duration {
        self.connect_timeout
    }

    pub(crate) fn root_certificate(&self) -> Option<&Path> {
        self.root_certificate.as_deref()
    }

    /// The configuration as it is given to the client.
    pub(crate) fn client_config(&self) -> Config {
        let mut config = self.config.clone();
        config.ssl_mode(self.ssl.for_client());
        if config.get_application_name().is_none() {
            config.application_name("openloop");
        }
        config.connect_timeout(self.connect_timeout);
        config
    }

    /// Checks what can be checked without a connection.
    pub(crate) fn validate(&self) -> Result<(), Error> {
        if self.connect_timeout.is_zero() {
            return Err(ConfigError::invalid("connect_timeout", "0 s", "a limit is above zero").into());
        }
        self.ssl.validate(self.root_certificate())?;
        Ok(())
    }

    /// Opens a connection; its task runs on the current tokio runtime.
    ///
    /// # Errors
    /// [`Error::Config`] for settings that cannot be meant, [`Error::Connect`] and [`Error::ConnectTimeout`].
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn connect(&self) -> Result<Connection, Error> {
        Connection::open(self).await
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let port = self.config.get_ports().first().copied().unwrap_or(5432);
        match (self.config.get_hosts().first(), self.config.get_hostaddrs().first()) {
            (Some(Host::Tcp(host)), _) => write!(f, "{host}:{port}")?,
            (Some(Host::Unix(dir)), _) => write!(f, "{}:{port}", dir.display())?,
            (None, Some(addr)) => write!(f, "{addr}:{port}")?,
            (None, None) => write!(f, "?:{port}")?,
        }
        write!(f, "/{}", self.database())
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({self}, sslmode={})", self.ssl)
    }
}
