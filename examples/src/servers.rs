//! nginx, PostgreSQL and Redis, given by URL or started.

use crate::{Failed, Flags, check_interrupted, http_target, is_local};
use openloop::{
    pg::Server,
    redis::Target,
    testbed::{Nginx, Postgres, Redis, Stack},
};

/// Servers that are given instead of being started.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Servers {
    /// Load this page instead of starting nginx
    #[arg(long, value_name = "URL")]
    nginx: Option<String>,
    /// Load this server (a temporary database is made and dropped) instead of starting one
    #[arg(long, value_name = "URL")]
    postgres: Option<String>,
    /// Use this server (only keys of the run's own, which are removed) instead of starting one
    #[arg(long, value_name = "URL")]
    redis: Option<String>,
}

/// All three, ready.
#[derive(Debug)]
pub struct Started {
    /// The URL of nginx's page.
    pub page: String,
    /// A database to connect to: not one to load, but to make a temporary one from.
    pub admin: Server,
    /// Redis; database 15 where it is ours.
    pub cache: Target,
    /// Those that were started; they are stopped and removed on drop.
    pub stack: Stack,
}

impl Servers {
    /// Starts what was not given. What was given is looked at first, before anything is started or connected to.
    ///
    /// # Errors
    /// When a URL cannot be used, is not of this machine (and `--allow-remote` was not said), or a server does not start.
    pub async fn start(&self, flags: &Flags) -> Result<Started, Failed> {
        let stack = Stack::builder();
        let stack = match &self.nginx {
            Some(url) => stack.nginx_at(http_target("--nginx", url, flags)?),
            None => stack.nginx(Nginx::builder()),
        };
        let stack = match &self.postgres {
            Some(url) => {
                is_local("--postgres", &Server::parse(url)?.hosts(), flags)?;
                stack.postgres_at(url)
            }
            None => stack.postgres(Postgres::builder()),
        };
        let stack = match &self.redis {
            Some(url) => {
                is_local("--redis", &Target::url(url)?.hosts(), flags)?;
                stack.redis_at(url)
            }
            None => stack.redis(Redis::builder()),
        };
        let stack = stack.start().await?;
        check_interrupted()?;
        let admin = Server::parse(&stack.postgres_url_with_password().unwrap_or_default())?;
        let mut cache = Target::url(&stack.redis_url_with_password().unwrap_or_default())?;
        if stack.redis().is_some() {
            cache = cache.database(15);
        }
        Ok(Started { page: stack.nginx_url().unwrap_or_default(), admin, cache, stack })
    }
}
