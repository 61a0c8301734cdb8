//! A peer that does nothing but answer: what is measured against it is the client.

mod answers;
mod peer;
mod serve;
mod stream;
#[cfg(feature = "tls")]
mod tls;

use crate::{Redis, RedisError, Target, target::Endpoint};
use answers::Answers;
use serve::Server;
use std::{
    os::unix::net::UnixStream,
    thread::{self, JoinHandle},
    time::Duration,
};
use stream::Listener;

/// Speaks the protocol of Redis from one thread of its own, and answers every request with what the command would give, at
/// once or after a delay. It stores nothing. It listens as the workload's server does, so that the client does the same
/// work: on a free port of the loopback, with TLS (its certificate is nobody's) or without, or on a unix socket (an abstract
/// one, in no directory).
///
/// ```no_run
/// # fn of(get: &redis_load::Redis) -> Result<(), redis_load::RedisError> {
/// use redis_load::NullTarget;
/// use std::time::Duration;
///
/// let null = NullTarget::start(get, Duration::ZERO)?;
/// let client_alone = get.pointed_at(&null);     // the same workload, with nothing behind it
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct NullTarget {
    endpoint: Endpoint,
    tls: bool,
    /// Closing it ends the thread.
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl NullTarget {
    /// Starts one that answers as `load` expects, each pipeline `delay` after it came.
    ///
    /// # Errors
    /// [`RedisError::Server`] when there is no socket or no thread for it.
    pub fn start(load: &Redis, delay: Duration) -> Result<NullTarget, RedisError> {
        let failed = |error: std::io::Error| RedisError::Server {
            target: "null target".into(),
            what: format!("could not be started: {error}"),
        };
        let target = &load.plan().target;
        let (listener, endpoint) = Listener::like(target).map_err(failed)?;
        let (stop, stopped) = UnixStream::pair().map_err(failed)?;
        let server = Server::new(listener, stopped, Answers::new(load.plan()), delay)
            .map_err(|errno| failed(errno.into()))?;
        let thread =
            thread::Builder::new().name("redis-null".into()).spawn(move || server.run()).map_err(failed)?;
        Ok(NullTarget { endpoint, tls: target.tls, stop: Some(stop), thread: Some(thread) })
    }

    /// The same settings for this target as for that one. Any certificate is taken.
    pub(crate) fn instead_of(&self, target: &Target) -> Target {
        Target {
            endpoint: self.endpoint.clone(),
            tls: self.tls,
            #[cfg(feature = "tls")]
            tls_config: crate::Tls::unverified().ok(),
            ..target.clone()
        }
    }
}

impl Drop for NullTarget {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
