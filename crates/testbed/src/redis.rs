//! Redis (or Valkey) with a generated configuration.

mod builder;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::net::SocketAddr;

pub use builder::RedisBuilder;

use crate::process::LocalProcess;
use crate::secret::Secret;

/// A running Redis of this run; stopped and removed on drop.
///
/// ```no_run
/// # async fn example() -> Result<(), testbed::Error> {
/// let redis = testbed::Redis::builder().appendonly(true).start().await?;
/// // connect to redis.addr() with redis.password()
/// redis.process().restart().await?; // with its data
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Redis {
    process: LocalProcess,
    addr: SocketAddr,
    password: Secret,
    version: String,
    settings: BTreeMap<String, String>,
}

impl Redis {
    /// A description with the defaults: nothing is written to disk (no snapshots, no append-only file), a random
    /// password.
    pub fn builder() -> RedisBuilder {
        RedisBuilder::default()
    }

    /// Where it listens: a port of 127.0.0.1.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The password of its default user: 32 hexadecimal digits, of this start only.
    #[must_use]
    pub fn password(&self) -> &str {
        self.password.reveal()
    }

    /// `redis://:PASSWORD@127.0.0.1:PORT/0`, for clients; not for messages.
    #[must_use]
    pub fn url_with_password(&self) -> String {
        format!("redis://:{}@{}/0", self.password(), self.addr)
    }

    /// Its version, such as `8.0.2`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The settings that were made, for the record's `environment.servers`; none that may be a secret.
    #[must_use]
    pub fn settings(&self) -> BTreeMap<String, String> {
        self.settings.clone()
    }

    /// Version and settings as the record wants them.
    #[must_use]
    pub fn describe(&self) -> load_core::record::Server {
        crate::describe::server(self.version(), self.settings())
    }

    /// The process: pause, kill, restart it (with its data, as far as they are on disk), or read its log.
    #[must_use]
    pub fn process(&self) -> &LocalProcess {
        &self.process
    }

    /// Its process id, 0 while it does not run.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }
}
