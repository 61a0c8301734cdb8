//! The description of a stack.

use std::thread::{self, ScopedJoinHandle};

use super::{Member, Stack};
use crate::memcached::MemcachedBuilder;
use crate::nginx::NginxBuilder;
use crate::off_thread::off_thread;
use crate::postgres::PostgresBuilder;
use crate::redis::RedisBuilder;
use crate::secret::Secret;
use crate::{Error, Lease};

/// Describes a [`Stack`]. Nothing is checked before `start`, and a URL not even then: it is handed on as it is.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct StackBuilder {
    nginx: Option<Member<NginxBuilder>>,
    postgres: Option<Member<PostgresBuilder>>,
    redis: Option<Member<RedisBuilder>>,
    memcached: Option<Member<MemcachedBuilder>>,
}

impl StackBuilder {
    /// Starts this nginx.
    pub fn nginx(mut self, builder: NginxBuilder) -> Self {
        self.nginx = Some(Member::Ours(builder));
        self
    }

    /// Has your nginx, at this URL.
    pub fn nginx_at(mut self, url: impl AsRef<str>) -> Self {
        self.nginx = Some(Member::Given(Secret::of(url.as_ref())));
        self
    }

    /// Starts this PostgreSQL.
    pub fn postgres(mut self, builder: PostgresBuilder) -> Self {
        self.postgres = Some(Member::Ours(builder));
        self
    }

    /// Has your PostgreSQL, at this URL.
    pub fn postgres_at(mut self, url: impl AsRef<str>) -> Self {
        self.postgres = Some(Member::Given(Secret::of(url.as_ref())));
        self
    }

    /// Starts this Redis.
    pub fn redis(mut self, builder: RedisBuilder) -> Self {
        self.redis = Some(Member::Ours(builder));
        self
    }

    /// Has your Redis, at this URL.
    pub fn redis_at(mut self, url: impl AsRef<str>) -> Self {
        self.redis = Some(Member::Given(Secret::of(url.as_ref())));
        self
    }

    /// Starts this memcached.
    pub fn memcached(mut self, builder: MemcachedBuilder) -> Self {
        self.memcached = Some(Member::Ours(builder));
        self
    }

    /// Has your memcached, at this address.
    pub fn memcached_at(mut self, address: impl AsRef<str>) -> Self {
        self.memcached = Some(Member::Given(Secret::of(address.as_ref())));
        self
    }

    /// Starts all that are to be started, at the same time, and waits until each answers, on any async runtime.
    ///
    /// # Errors
    /// The first that could not be started, as its own `start` has it; the others are stopped again.
    pub async fn start(self) -> Result<Stack, Error> {
        off_thread("start a stack", move || self.start_blocking()).await
    }

    /// [`start`](Self::start), for plain threads.
    ///
    /// # Errors
    /// The same.
    pub fn start_blocking(self) -> Result<Stack, Error> {
        // Held until the servers hold it, so that they share one.
        let _lease = Lease::current()?;
        thread::scope(|scope| {
            // Each on a thread of its own: PostgreSQL takes its time to make a cluster.
            let nginx = self.nginx.map(|m| scope.spawn(|| m.start(NginxBuilder::start_blocking)));
            let postgres = self.postgres.map(|m| scope.spawn(|| m.start(PostgresBuilder::start_blocking)));
            let redis = self.redis.map(|m| scope.spawn(|| m.start(RedisBuilder::start_blocking)));
            let memcached = self.memcached.map(|m| scope.spawn(|| m.start(MemcachedBuilder::start_blocking)));
            Ok(Stack {
                nginx: nginx.map(started).transpose()?,
                postgres: postgres.map(started).transpose()?,
                redis: redis.map(started).transpose()?,
                memcached: memcached.map(started).transpose()?,
            })
        })
    }
}

impl<B> Member<B> {
    fn start<S>(self, start: impl FnOnce(B) -> Result<S, Error>) -> Result<Member<S>, Error> {
        match self {
            Member::Ours(builder) => start(builder).map(Member::Ours),
            Member::Given(url) => Ok(Member::Given(url)),
        }
    }
}

fn started<T>(thread: ScopedJoinHandle<'_, Result<T, Error>>) -> Result<T, Error> {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
