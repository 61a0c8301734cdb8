//! PostgreSQL's own statistics as a source of readings.

mod counters;
mod slowest;

pub use slowest::{StatementTime, slowest_statements};

use crate::{Connection, Error, Server, connection::within};
use counters::{Sample, Views};
use load_core::{ConfigError, Readings, Source, SourceError};
use std::time::{Duration, Instant};

/// Limit of one reading.
const LIMIT: Duration = Duration::from_secs(2);
/// The slowest statements are looked for so often.
const SLOWEST_EVERY: Duration = Duration::from_secs(10);

/// The statistics of a server and of the database that it connects to, over one connection of its own.
///
/// | reading | unit | |
/// |---|---|---|
/// | `postgres.commits`, `.rollbacks`, `.deadlocks`, `.conflicts` | 1/s | transactions of the database |
/// | `postgres.rows.returned`, `.inserted`, `.updated`, `.deleted` | 1/s | |
/// | `postgres.blocks.read`, `.hit` | 1/s | asked of the operating system, found in shared buffers |
/// | `postgres.cache.hit_ratio` | 1 | hit / (hit + read) since the last reading |
/// | `postgres.temporary` | B/s | written to temporary files |
/// | `postgres.sessions`, `.sessions.active`, `.sessions.idle_in_transaction` | sessions | clients of the database, without this one |
/// | `postgres.waits.lock`, `.waits.lwlock`, `.waits.io` | sessions | those of them that wait for a lock of a row or table, for one within the server, for a disk |
/// | `postgres.locks.waiting` | locks | requests for locks that are not granted |
/// | `postgres.wal` | B/s | written ahead, whole server |
/// | `postgres.wal.full_pages`, `.wal.buffers_full` | 1/s | page images; buffers that ran full (from version 14 on) |
/// | `postgres.checkpoints.timed`, `.requested` | 1/s | whole server |
/// | `postgres.checkpoints.blocks` | 1/s | written by the checkpointer |
///
/// Rates come with the second reading. A server process reports what it did at most once a second, so a second's rates
/// may hold some of the second before. Events: `postgres restarted`, `counter reset`, and `slowest statement` when another is
/// now the one that takes most time (only where the extension `pg_stat_statements` is there).
///
/// ```
/// use pg_load::{PostgresStatus, Server};
/// let status = PostgresStatus::new(&Server::parse("postgres://bench@127.0.0.1/bench")?)?;
/// # Ok::<(), pg_load::Error>(())
/// ```
#[derive(Debug)]
pub struct PostgresStatus {
    server: Server,
    prefix: String,
    interval: Duration,
    open: Option<(Connection, Views)>,
    last: Option<(Instant, Sample)>,
    slowest: Option<String>,
    slowest_asked: Option<Instant>,
}

impl PostgresStatus {
    /// Of this server and database.
    ///
    /// # Errors
    /// [`Error::Config`]: settings that cannot be meant.
    pub fn new(server: &Server) -> Result<PostgresStatus, Error> {
        server.validate()?;
        Ok(PostgresStatus {
            server: server.clone(),
            prefix: "postgres".into(),
            interval: Duration::from_secs(1),
            open: None,
            last: None,
            slowest: None,
            slowest_asked: None,
        })
    }

    /// Another name than `postgres` in front of the readings, to tell several servers apart.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> PostgresStatus {
        self.prefix = name.into();
        self
    }

    /// Sets how often it is read; once a second unless told otherwise.
    ///
    /// # Errors
    /// When it is 0.
    pub fn every(mut self, interval: Duration) -> Result<PostgresStatus, ConfigError> {
        if interval.is_zero() {
            return Err(ConfigError::invalid("interval", "0 s", "above zero"));
        }
        self.interval = interval;
        Ok(self)
    }

    async fn open(&mut self) -> Result<(), Error> {
        if self.open.as_ref().is_none_or(|(connection, _)| connection.client().is_closed()) {
            self.open = None;
            let connection = self.server.connect().await?;
            let views = Views::of(connection.client()).await?;
            self.open = Some((connection, views));
        }
        Ok(())
    }

    async fn sample(&mut self) -> Result<Sample, Error> {
        self.open().await?;
        let (connection, views) = self.open.as_ref().expect("opened");
        Sample::read(connection.client(), views).await
    }

    /// An event when another statement takes most of the time now.
    async fn tell_slowest(&mut self, now: Instant, readings: &mut Readings) -> Result<(), Error> {
        let Some((connection, views)) = &self.open else { return Ok(()) };
        if !views.statements || self.slowest_asked.is_some_and(|t| now.duration_since(t) < SLOWEST_EVERY) {
            return Ok(());
        }
        self.slowest_asked = Some(now);
        let Some(first) = slowest::read(connection.client(), views.version, 1).await?.into_iter().next()
        else {
            return Ok(());
        };
        if self.slowest.as_ref() != Some(&first.query) {
            readings.event("slowest statement", first.to_string());
            self.slowest = Some(first.query);
        }
        Ok(())
    }
}

impl Source for PostgresStatus {
    fn origin(&self) -> String {
        format!("PostgreSQL statistics, {}", self.server)
    }

    fn interval(&self) -> Duration {
        self.interval
    }

    async fn read(&mut self, readings: &mut Readings) -> Result<(), SourceError> {
        let read = within("reading statistics", LIMIT, self.sample()).await;
        let sample = match read {
            Ok(sample) => sample,
            Err(error) => {
                // The connection may be in any state; the next reading makes another.
                self.open = None;
                return Err(SourceError::Failed(error.to_string()));
            }
        };
        let now = Instant::now();
        sample.tell_gauges(&self.prefix, readings);
        if let Some((then, before)) = &self.last {
            sample.tell_rates(before, now.duration_since(*then).as_secs_f64(), &self.prefix, readings);
        }
        self.last = Some((now, sample));
        if let Err(error) =
            within("looking for slow statements", LIMIT, self.tell_slowest(now, readings)).await
        {
            tracing::debug!(%error, "slowest statements");
            self.open = None;
        }
        Ok(())
    }
}
