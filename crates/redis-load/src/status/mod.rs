//! The server's own figures as a source of readings.

mod figures;
mod info;
mod slow;

pub(crate) use info::Info;

use crate::{RedisError, Target, admin::Admin};
use load_core::{ConfigError, Readings, Source, SourceError};
use slow::Slow;
use std::time::{Duration, Instant};

/// Limit of one reading.
const LIMIT: Duration = Duration::from_secs(2);

/// INFO, the slow log and the latency monitor of a server, over one connection of its own.
///
/// | reading | unit | |
/// |---|---|---|
/// | `redis.commands` | 1/s | carried out |
/// | `redis.cpu` | cores | that the server's process used |
/// | `redis.clients`, `.clients.blocked` | clients | |
/// | `redis.connections.received`, `.rejected` | 1/s | |
/// | `redis.memory.used`, `.resident`, `.limit` | B | the limit only when there is one |
/// | `redis.memory.fragmentation` | 1 | resident / used |
/// | `redis.keys.evicted`, `.expired` | 1/s | |
/// | `redis.keys.evicted.total`, `.expired.total` | keys | since the server began |
/// | `redis.keyspace.hits`, `.misses` | 1/s | |
/// | `redis.keyspace.hit_ratio` | 1 | hits / (hits + misses) since the last reading |
/// | `redis.network.in`, `.out` | B/s | |
/// | `redis.persistence.changes` | changes | since the last save |
/// | `redis.persistence.last_save_age` | s | |
/// | `redis.persistence.saving`, `.rewriting` | 1 | 1 while it does |
/// | `redis.persistence.aof_size` | B | |
/// | `redis.replication.replicas` | replicas | |
/// | `redis.replication.lag` | B | of the slowest replica |
/// | `redis.replication.link_down` | s | of a replica without its master |
///
/// Rates come with the second reading. Events: `redis restarted`, `counter reset`, `redis evicts keys`, `redis slow command` (its
/// verb, never its arguments), `redis latency spike`, and changes of the role, the link to the master, the last save. Readings
/// that this version does not give are left out.
///
/// ```
/// use redis_load::{RedisStatus, Target};
/// let status = RedisStatus::new(&Target::url("redis://127.0.0.1:6379")?)?;
/// # Ok::<(), redis_load::RedisError>(())
/// ```
#[derive(Debug)]
pub struct RedisStatus {
    target: Target,
    prefix: String,
    interval: Duration,
    open: Option<Admin>,
    last: Option<(Instant, Info)>,
    slow: Slow,
}

impl RedisStatus {
    /// Of this server.
    ///
    /// # Errors
    /// [`RedisError::Config`]: settings that cannot be meant.
    pub fn new(target: &Target) -> Result<RedisStatus, RedisError> {
        target.check()?;
        let target = target.clone().timeout(LIMIT).connect_timeout(LIMIT);
        Ok(RedisStatus {
            target,
            prefix: "redis".into(),
            interval: Duration::from_secs(1),
            open: None,
            last: None,
            slow: Slow::default(),
        })
    }

    /// Another name than `redis` in front of the readings, to tell several servers apart.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> RedisStatus {
        self.prefix = name.into();
        self
    }

    /// Sets how often it is read; once a second unless told otherwise.
    ///
    /// # Errors
    /// When it is 0.
    pub fn every(mut self, interval: Duration) -> Result<RedisStatus, ConfigError> {
        if interval.is_zero() {
            return Err(ConfigError::invalid("interval", "0 s", "above zero"));
        }
        self.interval = interval;
        Ok(self)
    }

    async fn sample(&mut self, readings: &mut Readings) -> Result<(), RedisError> {
        let mut admin = match self.open.take() {
            Some(admin) => admin,
            None => Admin::open(&self.target).await?,
        };
        let info = admin.info().await?;
        let now = Instant::now();
        figures::tell_gauges(&info, &self.prefix, readings);
        if let Some((then, before)) = &self.last {
            if info.text("run_id") == before.text("run_id") {
                let seconds = now.duration_since(*then).as_secs_f64();
                figures::tell_rates(&info, before, seconds, &self.prefix, readings);
            } else {
                let up = info.number("uptime_in_seconds").unwrap_or(0.0);
                readings.event(format!("{} restarted", self.prefix), format!("it has been up for {up} s"));
                self.slow.forget();
            }
        }
        self.last = Some((now, info));
        self.slow.tell(&mut admin, &self.prefix, readings).await?;
        self.open = Some(admin);
        Ok(())
    }
}

impl Source for RedisStatus {
    fn origin(&self) -> String {
        format!("INFO of {}", self.target)
    }

    fn interval(&self) -> Duration {
        self.interval
    }

    async fn read(&mut self, readings: &mut Readings) -> Result<(), SourceError> {
        self.sample(readings).await.map_err(|error| match &error {
            // Asking again changes nothing.
            RedisError::Refused { reply, .. }
                if reply.starts_with("NOPERM") || reply.starts_with("WRONGPASS") =>
            {
                SourceError::Unavailable(error.to_string())
            }
            _ => SourceError::Failed(error.to_string()),
        })
    }
}
