//! The description of a memcached.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use super::Memcached;
use crate::describe::version_after;
use crate::lease::{Lease, RunAs};
use crate::off_thread::off_thread;
use crate::process::ready::{self, Probe};
use crate::process::{LocalProcess, Spec};
use crate::{Error, binary, port};

const INSTALL: &str = "install it: apt install memcached";

/// Describes a [`Memcached`]. Nothing is checked before `start`.
#[derive(Debug, Clone)]
#[must_use]
pub struct MemcachedBuilder {
    binary: Option<PathBuf>,
    port: Option<u16>,
    memory_megabytes: u32,
    threads: u32,
    connections: u32,
    ready_within: Duration,
}

impl Default for MemcachedBuilder {
    fn default() -> Self {
        Self {
            binary: None,
            port: None,
            memory_megabytes: 64,
            threads: 4,
            connections: 1024,
            ready_within: Duration::from_secs(10),
        }
    }
}

impl MemcachedBuilder {
    /// The memcached program; by default the first on `PATH` or where distributions put servers.
    pub fn binary(mut self, path: impl Into<PathBuf>) -> Self {
        self.binary = Some(path.into());
        self
    }

    /// The port of 127.0.0.1; a free one by default.
    pub fn port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    /// Memory for items, in megabytes; 64 by default.
    pub fn memory_megabytes(mut self, megabytes: u32) -> Self {
        self.memory_megabytes = megabytes;
        self
    }

    /// Threads that answer; 4 by default.
    pub fn threads(mut self, count: u32) -> Self {
        self.threads = count;
        self
    }

    /// Connections at once; 1,024 by default. Further ones wait until one is closed.
    pub fn connections(mut self, count: u32) -> Self {
        self.connections = count;
        self
    }

    /// How long memcached may take to answer; 10 s by default.
    pub fn ready_within(mut self, limit: Duration) -> Self {
        self.ready_within = limit;
        self
    }

    /// Starts memcached and waits until it answers `stats`, on any async runtime.
    ///
    /// # Errors
    /// [`Error::Missing`] if memcached is not installed, [`Error::Config`] for a zero, [`Error::Exited`] or
    /// [`Error::NotReady`] with the end of its log, [`Error::State`] or [`Error::Io`] if the system refuses something.
    pub async fn start(self) -> Result<Memcached, Error> {
        off_thread("start memcached", move || self.start_blocking()).await
    }

    /// [`start`](Self::start), for plain threads.
    ///
    /// # Errors
    /// The same.
    pub fn start_blocking(self) -> Result<Memcached, Error> {
        for (field, value) in [
            ("memory_megabytes", self.memory_megabytes),
            ("threads", self.threads),
            ("connections", self.connections),
        ] {
            if value == 0 {
                return Err(Error::Config {
                    field,
                    value: "0".to_owned(),
                    why: "must be at least 1".to_owned(),
                });
            }
        }
        let program = match &self.binary {
            Some(path) => binary::given(path, INSTALL)?,
            None => binary::find("memcached", &[], INSTALL)?,
        };
        let version = binary::version(&program, "--version", |text| version_after(text, "memcached "))?;
        let fixed = self.port.map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        port::start_on(fixed, |addr| self.start_at(addr, program.clone(), version.clone()))
    }

    fn start_at(&self, addr: SocketAddr, program: PathBuf, version: String) -> Result<Memcached, Error> {
        let user = RunAs::unprivileged(&["nobody"]);
        let dir = Lease::current()?.server_dir("memcached")?;
        let args = [
            ("-l", addr.ip().to_string()),
            ("-p", addr.port().to_string()),
            ("-U", "0".to_owned()),
            ("-m", self.memory_megabytes.to_string()),
            ("-t", self.threads.to_string()),
            ("-c", self.connections.to_string()),
        ];
        let spec = Spec {
            args: args.into_iter().flat_map(|(name, value)| [name.into(), value.into()]).collect(),
            ready_within: self.ready_within,
            ..Spec::new("memcached", program, user, probe(addr))
        };
        let process = LocalProcess::launch(spec, dir)?;
        let settings = [
            ("memory_megabytes", self.memory_megabytes),
            ("threads", self.threads),
            ("connections", self.connections),
        ];
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_string())).into();
        Ok(Memcached { process, addr, version, settings })
    }
}

/// Ready when the process that answers is ours.
fn probe(addr: SocketAddr) -> Probe {
    Probe::new(move |pid| {
        let mut stream = ready::connect(addr)?;
        stream.write_all(b"stats\r\n")?;
        let mut answer = Vec::new();
        let mut part = [0; 4096];
        while !answer.ends_with(b"END\r\n") {
            match stream.read(&mut part)? {
                0 => break,
                read => answer.extend(&part[..read]),
            }
        }
        let ours = format!("STAT pid {pid}\r\n");
        if String::from_utf8_lossy(&answer).contains(&ours) {
            Ok(())
        } else {
            Err(ready::unexpected(&answer))
        }
    })
}
