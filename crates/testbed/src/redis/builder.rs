//! The description of a Redis.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Redis;
use crate::describe::{shown, version_after};
use crate::lease::{Lease, RunAs};
use crate::off_thread::off_thread;
use crate::process::ready::{self, Probe};
use crate::process::{LocalProcess, Spec};
use crate::secret::Secret;
use crate::{Error, binary, port};

const INSTALL: &str = "install it: apt install redis-server";

/// Describes a [`Redis`]. Nothing is checked before `start`.
#[derive(Clone)]
#[must_use]
pub struct RedisBuilder {
    binary: Option<PathBuf>,
    port: Option<u16>,
    save: String,
    appendonly: bool,
    config: Vec<(String, String)>,
    ready_within: Duration,
}

impl Default for RedisBuilder {
    fn default() -> Self {
        Self {
            binary: None,
            port: None,
            save: String::new(),
            appendonly: false,
            config: Vec::new(),
            ready_within: Duration::from_secs(10),
        }
    }
}

impl RedisBuilder {
    /// The server's program; by default `redis-server`, else `valkey-server`, on `PATH` or where distributions put
    /// servers.
    pub fn binary(mut self, path: impl Into<PathBuf>) -> Self {
        self.binary = Some(path.into());
        self
    }

    /// The port of 127.0.0.1; a free one by default.
    pub fn port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    /// When snapshots are written, as in Redis's own `save` setting: `"60 1000"`; empty, the default, means never, also
    /// not at the end.
    pub fn save(mut self, points: impl Into<String>) -> Self {
        self.save = points.into();
        self
    }

    /// Whether every write goes to the append-only file (with Redis's own default of one fsync a second); no by
    /// default.
    pub fn appendonly(mut self, on: bool) -> Self {
        self.appendonly = on;
        self
    }

    /// Another setting of `redis.conf`.
    pub fn config(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.config.push((name.into(), value.into()));
        self
    }

    /// How long the server may take to answer (loading its data included); 10 s by default.
    pub fn ready_within(mut self, limit: Duration) -> Self {
        self.ready_within = limit;
        self
    }

    /// Starts Redis and waits until it answers `PING`, on any async runtime.
    ///
    /// # Errors
    /// [`Error::Missing`] if Redis is not installed, [`Error::Config`] for a setting that cannot be used,
    /// [`Error::Refused`] with Redis's own words about a setting, [`Error::Exited`] or [`Error::NotReady`] with the end
    /// of its log, [`Error::State`] or [`Error::Io`] if the system refuses something.
    pub async fn start(self) -> Result<Redis, Error> {
        off_thread("start redis", move || self.start_blocking()).await
    }

    /// [`start`](Self::start), for plain threads.
    ///
    /// # Errors
    /// The same.
    pub fn start_blocking(self) -> Result<Redis, Error> {
        let name_is_plain =
            |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        for (name, value) in &self.config {
            if !name_is_plain(name) || value.contains(['\n', '\r', '\0']) {
                let why = "must be a name and a value on one line".to_owned();
                return Err(Error::Config { field: "config", value: name.clone(), why });
            }
        }
        if self.save.contains(|c: char| !c.is_ascii_digit() && c != ' ') {
            let why = "must be pairs of numbers, such as \"60 1000\"".to_owned();
            return Err(Error::Config { field: "save", value: self.save, why });
        }
        let program = match &self.binary {
            Some(path) => binary::given(path, INSTALL)?,
            None => binary::find("redis-server", &[], INSTALL)
                .or_else(|missing| binary::find("valkey-server", &[], INSTALL).map_err(|_| missing))?,
        };
        let version = binary::version(&program, "--version", |text| version_after(text, " v="))?;
        let fixed = self.port.map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        port::start_on(fixed, |addr| self.start_at(addr, program.clone(), version.clone())).map_err(refused)
    }

    fn start_at(&self, addr: SocketAddr, program: PathBuf, version: String) -> Result<Redis, Error> {
        let user = RunAs::unprivileged(&["nobody"]);
        let dir = Lease::current()?.server_dir("redis")?;
        let password = Secret::random()?;
        let path = dir.write(
            Path::new("redis.conf"),
            self.render(addr, &dir.data(), &password).as_bytes(),
            user.as_ref(),
        )?;
        let probe = probe(addr, password.clone());
        let mut secrets = vec![password.clone()];
        // What the user set may be a secret too; Redis shows a line that it does not take.
        secrets.extend(
            self.config
                .iter()
                .filter(|(name, _)| crate::describe::is_secret(name))
                .map(|(_, v)| Secret::of(v)),
        );
        let spec = Spec {
            args: vec![path.into()],
            ready_within: self.ready_within,
            // A snapshot may have to be written first.
            stop_within: Duration::from_secs(20),
            secrets,
            ..Spec::new("redis", program, user, probe)
        };
        let process = LocalProcess::launch(spec, dir)?;
        Ok(Redis { process, addr, password, version, settings: self.settings() })
    }

    fn render(&self, addr: SocketAddr, data: &Path, password: &Secret) -> String {
        let on = if self.appendonly { "yes" } else { "no" };
        let mut text = format!(
            "bind {}\nport {}\ndaemonize no\nlogfile \"\"\ndir {}\nrequirepass {}\nsave {}\nappendonly {on}\n",
            addr.ip(),
            addr.port(),
            quoted(&data.to_string_lossy()),
            password.reveal(),
            // `save ""` is Redis's way to say never.
            if self.save.is_empty() { "\"\"" } else { &self.save },
        );
        for (name, value) in &self.config {
            text += &format!("{name} {value}\n");
        }
        text
    }

    fn settings(&self) -> std::collections::BTreeMap<String, String> {
        let on = if self.appendonly { "yes" } else { "no" };
        let ours = [("save".to_owned(), self.save.clone()), ("appendonly".to_owned(), on.to_owned())];
        ours.into_iter()
            .chain(self.config.iter().map(|(name, value)| (name.clone(), shown(name, value))))
            .collect()
    }
}

impl std::fmt::Debug for RedisBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedisBuilder").field("settings", &self.settings()).finish_non_exhaustive()
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Ready when it takes our password and answers `PING`; while it loads its data it takes the password only.
fn probe(addr: SocketAddr, password: Secret) -> Probe {
    Probe::new(move |_| {
        let mut stream = ready::connect(addr)?;
        let password = password.reveal();
        stream.write_all(
            format!("*2\r\n$4\r\nAUTH\r\n${}\r\n{password}\r\n*1\r\n$4\r\nPING\r\n", password.len())
                .as_bytes(),
        )?;
        let mut answer = Vec::new();
        let mut part = [0; 256];
        // Two lines, or one that says that the password is not taken.
        while answer.iter().filter(|&&b| b == b'\n').count() < 2 && !answer.starts_with(b"-") {
            match stream.read(&mut part)? {
                0 => break,
                read => answer.extend(&part[..read]),
            }
        }
        if answer == b"+OK\r\n+PONG\r\n" { Ok(()) } else { Err(ready::unexpected(&answer)) }
    })
}

/// Redis ends when it does not take a setting; that is not an accident.
fn refused(error: Error) -> Error {
    match error {
        Error::Exited { name, log, .. } if log.contains("FATAL CONFIG FILE ERROR") => {
            Error::Refused { name, message: log }
        }
        other => other,
    }
}
