//! A peer that does nothing but answer: what is measured against it is the client.

mod answers;
mod peer;
mod serve;

use crate::{Redis, RedisError};
use answers::Answers;
use serve::Server;
use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    os::unix::net::UnixStream,
    thread::{self, JoinHandle},
    time::Duration,
};

/// Speaks the protocol of Redis on a free port of the loopback, from one thread of its own, and answers every request with
/// what the command would give, at once or after a delay. It stores nothing.
///
/// ```no_run
/// # fn of(get: &redis_load::Redis) -> Result<(), redis_load::RedisError> {
/// use redis_load::NullTarget;
/// use std::time::Duration;
///
/// let null = NullTarget::start(get, Duration::ZERO)?;
/// let client_alone = get.pointed_at(null.address());     // the same workload, with nothing behind it
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct NullTarget {
    address: SocketAddr,
    /// Closing it ends the thread.
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl NullTarget {
    /// Starts one that answers as `load` expects, each pipeline `delay` after it came.
    ///
    /// # Errors
    /// [`RedisError::Server`] when there is no port or no thread for it.
    pub fn start(load: &Redis, delay: Duration) -> Result<NullTarget, RedisError> {
        let failed = |error: std::io::Error| RedisError::Server {
            target: "null target".into(),
            what: format!("could not be started: {error}"),
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (stop, stopped) = UnixStream::pair().map_err(failed)?;
        let server = Server::new(listener, stopped, Answers::new(load.plan()), delay)
            .map_err(|errno| failed(errno.into()))?;
        let thread =
            thread::Builder::new().name("redis-null".into()).spawn(move || server.run()).map_err(failed)?;
        Ok(NullTarget { address, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
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
