//! Several servers at once, ours or given.

mod builder;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use builder::StackBuilder;

use crate::process::LocalProcess;
use crate::secret::Secret;
use crate::{Memcached, Nginx, Postgres, Redis};

/// Any set of servers: each either started for this run, and stopped and removed on drop, or yours, by its URL.
///
/// Two stacks at once, in one program or in several, do not disturb each other: every server has a free port, a directory
/// and a password of its own.
///
/// ```no_run
/// use testbed::{Nginx, Redis, Stack};
/// # async fn example() -> Result<(), testbed::Error> {
/// let stack = Stack::builder()
///     .nginx(Nginx::builder().page("/", "hello"))
///     .redis(Redis::builder())
///     .postgres_at("postgresql://bench@127.0.0.1/bench")
///     .start()
///     .await?;
/// println!("{}", stack.nginx_url().unwrap());
/// # Ok(()) }
/// ```
#[derive(Debug, Default)]
pub struct Stack {
    nginx: Option<Member<Nginx>>,
    postgres: Option<Member<Postgres>>,
    redis: Option<Member<Redis>>,
    memcached: Option<Member<Memcached>>,
}

/// A server of a stack, or on the way to it.
#[derive(Debug, Clone)]
enum Member<S> {
    Ours(S),
    /// A URL, which may hold a password.
    Given(Secret),
}

impl<S> Member<S> {
    fn ours(&self) -> Option<&S> {
        match self {
            Member::Ours(server) => Some(server),
            Member::Given(_) => None,
        }
    }

    fn url(&self, of_ours: impl FnOnce(&S) -> String) -> String {
        match self {
            Member::Ours(server) => of_ours(server),
            Member::Given(url) => url.reveal().to_owned(),
        }
    }
}

impl Stack {
    /// A description without servers.
    pub fn builder() -> StackBuilder {
        StackBuilder::default()
    }

    /// The nginx that was started; `None` also when it was given.
    #[must_use]
    pub fn nginx(&self) -> Option<&Nginx> {
        self.nginx.as_ref().and_then(Member::ours)
    }

    /// The PostgreSQL that was started; `None` also when it was given.
    #[must_use]
    pub fn postgres(&self) -> Option<&Postgres> {
        self.postgres.as_ref().and_then(Member::ours)
    }

    /// The Redis that was started; `None` also when it was given.
    #[must_use]
    pub fn redis(&self) -> Option<&Redis> {
        self.redis.as_ref().and_then(Member::ours)
    }

    /// The memcached that was started; `None` also when it was given.
    #[must_use]
    pub fn memcached(&self) -> Option<&Memcached> {
        self.memcached.as_ref().and_then(Member::ours)
    }

    /// `http://127.0.0.1:PORT/`, or what was given; `None` when the stack has no nginx.
    #[must_use]
    pub fn nginx_url(&self) -> Option<String> {
        self.nginx.as_ref().map(|member| member.url(Nginx::url))
    }

    /// The superuser's URL, or what was given, for clients and not for messages; `None` when the stack has no PostgreSQL.
    #[must_use]
    pub fn postgres_url_with_password(&self) -> Option<String> {
        self.postgres.as_ref().map(|member| member.url(Postgres::url_with_password))
    }

    /// The URL of database 0, or what was given, for clients and not for messages; `None` when the stack has no Redis.
    #[must_use]
    pub fn redis_url_with_password(&self) -> Option<String> {
        self.redis.as_ref().map(|member| member.url(Redis::url_with_password))
    }

    /// `127.0.0.1:PORT`, or what was given; `None` when the stack has no memcached.
    #[must_use]
    pub fn memcached_address(&self) -> Option<String> {
        self.memcached.as_ref().map(|member| member.url(|ours| ours.addr().to_string()))
    }

    /// The processes of the servers that were started, each with its name: `nginx`, `postgres`, `redis`, `memcached`.
    pub fn processes(&self) -> impl Iterator<Item = &LocalProcess> {
        let nginx = self.nginx().map(Nginx::process);
        let postgres = self.postgres().map(Postgres::process);
        let redis = self.redis().map(Redis::process);
        let memcached = self.memcached().map(Memcached::process);
        [nginx, postgres, redis, memcached].into_iter().flatten()
    }

    /// Version and settings of the servers that were started, by name, for the record's `environment.servers`.
    #[must_use]
    pub fn describe(&self) -> BTreeMap<String, load_core::record::Server> {
        let nginx = self.nginx().map(|ours| ("nginx", ours.describe()));
        let postgres = self.postgres().map(|ours| ("postgres", ours.describe()));
        let redis = self.redis().map(|ours| ("redis", ours.describe()));
        let memcached = self.memcached().map(|ours| ("memcached", ours.describe()));
        let all = [nginx, postgres, redis, memcached].into_iter().flatten();
        all.map(|(name, server)| (name.to_owned(), server)).collect()
    }
}
