//! PostgreSQL with a cluster of its own.

mod builder;
mod programs;
mod startup;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use builder::PostgresBuilder;

use crate::Error;
use crate::off_thread::off_thread;
use crate::process::{LocalProcess, StopSignal};
use crate::secret::Secret;

/// The superuser, and a database of that name that `initdb` makes.
const USER: &str = "postgres";

/// A running PostgreSQL of this run, with a fresh cluster; stopped and removed on drop.
///
/// ```no_run
/// # async fn example() -> Result<(), testbed::Error> {
/// let postgres = testbed::Postgres::builder().setting("max_connections", "200").start().await?;
/// // connect to postgres.addr() as postgres.user() with postgres.password()
/// postgres.restart_immediate().await?; // as after a crash
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Postgres {
    process: Arc<LocalProcess>,
    addr: SocketAddr,
    password: Secret,
    version: String,
    programs: PathBuf,
    settings: BTreeMap<String, String>,
}

impl Postgres {
    /// A description with PostgreSQL's own defaults, but for these: TCP on 127.0.0.1 only, passwords by SCRAM-SHA-256,
    /// encoding UTF8 with locale C, and dynamic shared memory in files (`mmap`), so that a killed server leaves none.
    pub fn builder() -> PostgresBuilder {
        PostgresBuilder::default()
    }

    /// Whether a PostgreSQL server is found on this machine; its programs are seldom on `PATH`.
    #[must_use]
    pub fn is_installed() -> bool {
        programs::find(None).is_ok()
    }

    /// Where it listens: a port of 127.0.0.1.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The superuser's name, `postgres`.
    #[must_use]
    pub fn user(&self) -> &str {
        USER
    }

    /// The superuser's password: 32 hexadecimal digits, of this cluster only.
    #[must_use]
    pub fn password(&self) -> &str {
        self.password.reveal()
    }

    /// A database that exists, `postgres`.
    #[must_use]
    pub fn database(&self) -> &str {
        USER
    }

    /// `postgresql://postgres:PASSWORD@127.0.0.1:PORT/postgres`, for clients; not for messages.
    #[must_use]
    pub fn url_with_password(&self) -> String {
        format!("postgresql://{USER}:{}@{}/{USER}", self.password(), self.addr)
    }

    /// Its version, such as `17.2`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The directory with the programs of this version: `pgbench`, `psql`, `pg_dump`, as far as they are installed.
    #[must_use]
    pub fn programs(&self) -> &Path {
        &self.programs
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

    /// The process: pause, kill, restart it (in the fast way: clients are cut off, a checkpoint is written), or read
    /// its log.
    #[must_use]
    pub fn process(&self) -> &LocalProcess {
        &self.process
    }

    /// The postmaster's process id, 0 while it does not run.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Restarts it without a checkpoint (`SIGQUIT`), so that it recovers from its log as after a crash. Returns the
    /// time from the request to stop to the first answer afterwards.
    ///
    /// # Errors
    /// As [`LocalProcess::restart`].
    pub async fn restart_immediate(&self) -> Result<Duration, Error> {
        let process = Arc::clone(&self.process);
        off_thread("restart", move || process.restart_blocking_by(StopSignal::Quit)).await
    }

    /// [`restart_immediate`](Self::restart_immediate), for plain threads.
    ///
    /// # Errors
    /// The same.
    pub fn restart_immediate_blocking(&self) -> Result<Duration, Error> {
        self.process.restart_blocking_by(StopSignal::Quit)
    }
}
