//! memcached.

mod builder;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::net::SocketAddr;

pub use builder::MemcachedBuilder;

use crate::process::LocalProcess;

/// A running memcached of this run; stopped and removed on drop. It has no password: everybody on this machine can
/// reach it while it runs.
///
/// ```no_run
/// # async fn example() -> Result<(), testbed::Error> {
/// let memcached = testbed::Memcached::builder().memory_megabytes(256).start().await?;
/// println!("{}", memcached.addr());
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Memcached {
    process: LocalProcess,
    addr: SocketAddr,
    version: String,
    settings: BTreeMap<String, String>,
}

impl Memcached {
    /// A description with memcached's own defaults: 64 MB, 4 threads, 1,024 connections; TCP only.
    pub fn builder() -> MemcachedBuilder {
        MemcachedBuilder::default()
    }

    /// Where it listens: a port of 127.0.0.1.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Its version, such as `1.6.18`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The settings that were made, for the record's `environment.servers`.
    #[must_use]
    pub fn settings(&self) -> BTreeMap<String, String> {
        self.settings.clone()
    }

    /// Version and settings as the record wants them.
    #[must_use]
    pub fn describe(&self) -> load_core::record::Server {
        crate::describe::server(self.version(), self.settings())
    }

    /// The process: pause, kill, restart it (it then is empty), or read its log.
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
