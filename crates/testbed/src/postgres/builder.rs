//! The description of a PostgreSQL.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{Postgres, USER, programs, startup};
use crate::describe::{is_secret, shown, version_after};
use crate::lease::{Lease, RunAs, ServerDir};
use crate::off_thread::off_thread;
use crate::process::ready::Probe;
use crate::process::{LocalProcess, Spec, StopSignal, run_once};
use crate::secret::Secret;
use crate::{Error, binary, port};

/// Settings that we make; another value would make the server another one than we look for.
const OURS: [&str; 6] =
    ["port", "listen_addresses", "data_directory", "config_file", "hba_file", "external_pid_file"];

/// Describes a [`Postgres`]. Nothing is checked before `start`.
#[derive(Clone)]
#[must_use]
pub struct PostgresBuilder {
    programs: Option<PathBuf>,
    port: Option<u16>,
    settings: Vec<(String, String)>,
    ready_within: Duration,
}

impl Default for PostgresBuilder {
    fn default() -> Self {
        Self { programs: None, port: None, settings: Vec::new(), ready_within: Duration::from_secs(60) }
    }
}

impl PostgresBuilder {
    /// The directory with `initdb` and `postgres`; by default that of the newest version installed.
    pub fn programs(mut self, dir: impl Into<PathBuf>) -> Self {
        self.programs = Some(dir.into());
        self
    }

    /// The port of 127.0.0.1; a free one by default.
    pub fn port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    /// A setting of `postgresql.conf`, such as `("shared_buffers", "1GB")`. Of two of the same name the last counts.
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    /// How long `initdb` and then the server may take; 60 s each by default.
    pub fn ready_within(mut self, limit: Duration) -> Self {
        self.ready_within = limit;
        self
    }

    /// Makes a cluster, starts PostgreSQL and waits until it takes connections, on any async runtime. Takes some
    /// seconds, most of them `initdb`'s.
    ///
    /// # Errors
    /// [`Error::Missing`] if PostgreSQL is not installed, [`Error::Config`] for a setting that cannot be used,
    /// [`Error::Exited`] with PostgreSQL's own words about a setting or another failure, [`Error::NotReady`],
    /// [`Error::State`] or [`Error::Io`] if the system refuses something.
    pub async fn start(self) -> Result<Postgres, Error> {
        off_thread("start postgres", move || self.start_blocking()).await
    }

    /// [`start`](Self::start), for plain threads.
    ///
    /// # Errors
    /// The same.
    pub fn start_blocking(self) -> Result<Postgres, Error> {
        let is_name = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_.".contains(&b))
        };
        for (name, value) in &self.settings {
            let why = if !is_name(name) {
                "must be made of lower-case letters, digits, '_' and '.'"
            } else if OURS.contains(&name.as_str()) {
                "is set by us"
            } else if value.contains(['\n', '\r', '\0']) {
                "must have a value on one line"
            } else {
                continue;
            };
            return Err(Error::Config { field: "setting", value: name.clone(), why: why.to_owned() });
        }
        let programs = programs::find(self.programs.as_deref())?;
        let version = binary::version(&programs.join("postgres"), "--version", |text| {
            version_after(text, "(PostgreSQL) ")
        })?;
        let fixed = self.port.map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        port::start_on(fixed, |addr| self.start_at(addr, programs.clone(), version.clone()))
    }

    fn start_at(&self, addr: SocketAddr, programs: PathBuf, version: String) -> Result<Postgres, Error> {
        let user = RunAs::unprivileged(&["postgres", "nobody"]);
        let dir = Lease::current()?.server_dir("postgres")?;
        let password = Secret::random()?;
        let cluster = dir.data().join("cluster");
        self.init(&dir, &programs, user.as_ref(), &password, &cluster)?;
        let config =
            dir.write(Path::new("postgresql.conf"), self.render(addr, &cluster).as_bytes(), user.as_ref())?;
        let mut secrets = vec![password.clone()];
        secrets.extend(
            self.settings.iter().filter(|(name, _)| is_secret(name)).map(|(_, value)| Secret::of(value)),
        );
        let mut config_file = std::ffi::OsString::from("config_file=");
        config_file.push(&config);
        let spec = Spec {
            args: vec!["-D".into(), cluster.clone().into(), "-c".into(), config_file],
            ready_within: self.ready_within,
            stop: StopSignal::Int,
            // A checkpoint has to be written first.
            stop_within: Duration::from_secs(30),
            secrets,
            ..Spec::new("postgres", programs.join("postgres"), user, startup::probe(addr, cluster))
        };
        let process = Arc::new(LocalProcess::launch(spec, dir)?);
        Ok(Postgres { process, addr, password, version, programs, settings: self.shown() })
    }

    fn init(
        &self,
        dir: &ServerDir,
        programs: &Path,
        user: Option<&RunAs>,
        password: &Secret,
        cluster: &Path,
    ) -> Result<(), Error> {
        dir.give_data(user)?;
        let password_file = dir.write(Path::new("password"), password.reveal().as_bytes(), user)?;
        let mut args: Vec<std::ffi::OsString> = vec!["-D".into(), cluster.into(), "-U".into(), USER.into()];
        // Not forced to the disk: a crash of the machine ends the run anyway.
        args.extend(["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"].map(Into::into));
        args.extend(["--pwfile".into(), password_file.clone().into()]);
        let spec = Spec {
            args,
            ready_within: self.ready_within,
            secrets: vec![password.clone()],
            ..Spec::new("initdb", programs.join("initdb"), user.cloned(), Probe::new(|_| Ok(())))
        };
        run_once(&spec, dir)?;
        std::fs::remove_file(password_file).map_err(Error::io("removing the password file"))
    }

    /// Everything of `initdb`'s own file, and what differs after it.
    fn render(&self, addr: SocketAddr, cluster: &Path) -> String {
        let mut text = format!(
            "include {}\nlisten_addresses = '{}'\nport = {}\nunix_socket_directories = ''\n",
            quoted(&cluster.join("postgresql.conf").to_string_lossy()),
            addr.ip(),
            addr.port(),
        );
        for (name, value) in self.all() {
            text += &format!("{name} = {}\n", quoted(&value));
        }
        text
    }

    fn all(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let ours = ("dynamic_shared_memory_type".to_owned(), "mmap".to_owned());
        std::iter::once(ours).chain(self.settings.iter().cloned())
    }

    fn shown(&self) -> std::collections::BTreeMap<String, String> {
        self.all().map(|(name, value)| (name.clone(), shown(&name, &value))).collect()
    }
}

impl std::fmt::Debug for PostgresBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresBuilder").field("settings", &self.shown()).finish_non_exhaustive()
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}
