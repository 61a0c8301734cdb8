//! A target that answers at once, to find out what the client itself can do.

mod conversation;
#[cfg(target_os = "linux")]
mod serve;
mod statement;
mod wire;

/// How the null target names its version, by which sessions know that there is no data to look for.
pub(crate) const VERSION: &str = "null target";

#[cfg(target_os = "linux")]
pub use target::NullTarget;

#[cfg(target_os = "linux")]
mod target {
    use super::{serve::Loop, statement::Answers};
    use crate::{Postgres, Script, Server};
    use load_core::{NullTargetError, Nulled};
    use std::{
        io,
        net::{Ipv4Addr, SocketAddr, TcpListener},
        os::unix::net::UnixStream,
        thread::JoinHandle,
        time::Duration,
    };

    /// Speaks PostgreSQL's protocol on a free port of 127.0.0.1, from one thread of its own, and answers every statement of a
    /// script as if it had done its work, at once or after a delay. It stores nothing and lets everybody in. Gone when
    /// dropped.
    ///
    /// ```no_run
    /// use pg_load::{NullTarget, Postgres, Script, Server};
    /// use std::time::Duration;
    /// let script = Script::select_only(10)?;
    /// let target = NullTarget::start(&script, Duration::ZERO)?;
    /// let same_but_free = Postgres::script(&target.server(), script)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Debug)]
    pub struct NullTarget {
        address: SocketAddr,
        /// Closing it ends the thread.
        stop: Option<UnixStream>,
        thread: Option<JoinHandle<()>>,
    }

    impl NullTarget {
        /// One that answers the statements of `script`, each `delay` after it came.
        ///
        /// # Errors
        /// When there is no port or no thread for it.
        pub fn start(script: &Script, delay: Duration) -> io::Result<NullTarget> {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let address = listener.local_addr()?;
            let (stop, stopped) = UnixStream::pair()?;
            let serving = Loop::new(listener, stopped, Answers::new(script), delay)?;
            let thread = std::thread::Builder::new().name("pg-null".into()).spawn(move || serving.run())?;
            Ok(NullTarget { address, stop: Some(stop), thread: Some(thread) })
        }

        /// Where it listens.
        pub fn address(&self) -> SocketAddr {
            self.address
        }

        /// How to connect to it.
        pub fn server(&self) -> Server {
            let (host, port) = (self.address.ip(), self.address.port());
            let text = format!("host={host} port={port} user=null dbname=null sslmode=disable");
            Server::parse(&text).expect("our own text")
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

    impl Postgres {
        /// This workload against a null target whose answers take `delay` for an operation.
        pub(crate) fn nulled(&self, delay: Duration) -> Result<Nulled<Postgres>, NullTargetError> {
            let failed = |error: Box<dyn std::error::Error + Send + Sync>| {
                NullTargetError::new(load_core::Workload::describe(self), error)
            };
            let target = NullTarget::start(self.script_ref(), delay / self.round_trips())
                .map_err(|e| failed(e.into()))?;
            let workload = self.against(&target.server()).map_err(|e| failed(e.into()))?;
            Ok(Nulled::new(workload, target))
        }
    }
}
