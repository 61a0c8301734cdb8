//! Where the server is and how to speak to it.

mod secret;
mod url;

pub(crate) use secret::Secret;

use crate::RedisError;
use std::{fmt, net::SocketAddr, path::PathBuf, time::Duration};

/// The database that is used unless another is named: the last of those that a server has by default, which is rarely
/// in use.
pub const DEFAULT_DATABASE: u32 = 15;

/// A version of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Protocol {
    /// RESP2, which redis-benchmark speaks unless told otherwise.
    #[default]
    Resp2,
    /// RESP3, by `HELLO 3`; from Redis 6 on.
    Resp3,
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Protocol::Resp2 => "RESP2",
            Protocol::Resp3 => "RESP3",
        })
    }
}

/// How the server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Tcp { host: String, port: u16 },
    Unix(PathBuf),
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Endpoint::Tcp { host, port } => write!(f, "{host}:{port}"),
            Endpoint::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

/// A Redis server, and how to speak to it. Cheap to clone; nothing is connected until something is asked of it.
///
/// ```
/// use redis_load::{Protocol, Target};
/// use std::time::Duration;
///
/// let redis = Target::url("redis://127.0.0.1:6379")?       // database 15 unless the URL names one
///     .password("from the environment, not from the source")
///     .protocol(Protocol::Resp3)
///     .timeout(Duration::from_secs(1));
/// assert_eq!(redis.database_number(), 15);
/// # Ok::<(), redis_load::RedisError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Target {
    pub(crate) endpoint: Endpoint,
    pub(crate) user: Option<Secret>,
    pub(crate) password: Option<Secret>,
    pub(crate) database: u32,
    pub(crate) protocol: Protocol,
    pub(crate) connect_timeout: Duration,
    pub(crate) timeout: Duration,
    pub(crate) tls: bool,
    #[cfg(feature = "tls")]
    pub(crate) tls_config: Option<crate::Tls>,
}

impl Target {
    fn at(endpoint: Endpoint) -> Target {
        Target {
            endpoint,
            user: None,
            password: None,
            database: DEFAULT_DATABASE,
            protocol: Protocol::default(),
            connect_timeout: Duration::from_secs(5),
            timeout: Duration::from_secs(5),
            tls: false,
            #[cfg(feature = "tls")]
            tls_config: None,
        }
    }

    /// A server by address, without a password, database 15.
    pub fn address(address: SocketAddr) -> Target {
        Target::at(Endpoint::Tcp { host: address.ip().to_string(), port: address.port() })
    }

    /// A server by its unix socket, without a password, database 15.
    pub fn unix(path: impl Into<PathBuf>) -> Target {
        Target::at(Endpoint::Unix(path.into()))
    }

    /// A server by URL: `redis://[user:password@]host[:port][/database]`, `rediss://` for TLS (feature `tls`), or
    /// `unix:///path/to/socket[?db=N]` (its password by [`password`](Target::password)). `?protocol=3` speaks RESP3.
    ///
    /// # Errors
    /// [`RedisError::Config`] when it is none of these. The error does not show the URL, which may hold a password.
    pub fn url(url: &str) -> Result<Target, RedisError> {
        url::parse(url)
    }

    /// The password, of the default user unless [`user`](Target::user) names another.
    pub fn password(mut self, password: impl Into<String>) -> Target {
        self.password = Some(Secret::new(password));
        self
    }

    /// The user of the server's access control list.
    pub fn user(mut self, user: impl Into<String>) -> Target {
        self.user = Some(Secret::new(user));
        self
    }

    /// The number of the database, 15 by default.
    pub fn database(mut self, number: u32) -> Target {
        self.database = number;
        self
    }

    /// The version of the protocol, RESP2 by default.
    pub fn protocol(mut self, protocol: Protocol) -> Target {
        self.protocol = protocol;
        self
    }

    /// How long connecting may take in all, handshakes included; 5 s by default.
    pub fn connect_timeout(mut self, limit: Duration) -> Target {
        self.connect_timeout = limit;
        self
    }

    /// How long an operation may take; 5 s by default. When it takes longer it has failed with an unknown outcome, and the
    /// connection is given up, so that the answer can never be taken for another's.
    pub fn timeout(mut self, limit: Duration) -> Target {
        self.timeout = limit;
        self
    }

    /// Where it connects to: the name of a host or its address, or the path of a socket. To be checked before load is sent to
    /// a machine that is somebody else's.
    pub fn hosts(&self) -> Vec<String> {
        match &self.endpoint {
            Endpoint::Tcp { host, .. } => vec![host.clone()],
            Endpoint::Unix(path) => vec![path.display().to_string()],
        }
    }

    /// The number of the database.
    pub fn database_number(&self) -> u32 {
        self.database
    }

    /// What is spoken and over what, without addresses.
    pub(crate) fn spoken(&self) -> String {
        match &self.endpoint {
            Endpoint::Unix(_) => format!("{}, unix socket", self.protocol),
            Endpoint::Tcp { .. } if self.tls => format!("{}, TLS", self.protocol),
            Endpoint::Tcp { .. } => self.protocol.to_string(),
        }
    }

    /// Says which setting cannot be meant, before anything connects.
    pub(crate) fn check(&self) -> Result<(), RedisError> {
        for (field, limit) in [("timeout", self.timeout), ("connect_timeout", self.connect_timeout)] {
            if limit.is_zero() {
                return Err(RedisError::config(field, "0 s", "give a time above 0"));
            }
        }
        if self.user.is_some() && self.password.is_none() {
            return Err(RedisError::config("password", "none", "a user needs one"));
        }
        if self.tls && cfg!(not(feature = "tls")) {
            return Err(RedisError::config("url", "rediss://", "needs the feature `tls` of redis-load"));
        }
        Ok(())
    }
}

impl fmt::Display for Target {
    /// Address and database, never user or password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} database {}", self.endpoint, self.database)
    }
}
