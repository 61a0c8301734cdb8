//! The description of an nginx.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::build::Build;
use super::config::{self, Config};
use super::pages::{self, Page};
use super::{INSTALL, Inner, Nginx, workers_of};
use crate::lease::{Lease, RunAs, is_inside};
use crate::off_thread::off_thread;
use crate::process::ready::{self, Probe};
use crate::process::{LocalProcess, Spec};
use crate::secret::Secret;
use crate::{Error, binary, port};

/// The kernel's limit for a unix socket's path, without the final NUL.
const UNIX_PATH: usize = 107;

/// Describes an [`Nginx`]. Nothing is checked before `start`.
#[derive(Debug, Clone)]
#[must_use]
pub struct NginxBuilder {
    binary: Option<PathBuf>,
    port: Option<u16>,
    unix_socket: bool,
    worker_processes: u32,
    worker_connections: Option<u32>,
    pages: Vec<(String, Page)>,
    files: Vec<(PathBuf, Vec<u8>)>,
    extra_main: String,
    extra_http: String,
    extra_server: String,
    ready_within: Duration,
}

impl Default for NginxBuilder {
    fn default() -> Self {
        Self {
            binary: None,
            port: None,
            unix_socket: false,
            worker_processes: 1,
            worker_connections: None,
            pages: vec![("/".to_owned(), Page::File(pages::welcome()))],
            files: Vec::new(),
            extra_main: String::new(),
            extra_http: String::new(),
            extra_server: String::new(),
            ready_within: Duration::from_secs(10),
        }
    }
}

impl NginxBuilder {
    /// The nginx program; by default the first on `PATH` or where distributions put servers.
    pub fn binary(mut self, path: impl Into<PathBuf>) -> Self {
        self.binary = Some(path.into());
        self
    }

    /// The port of 127.0.0.1; a free one by default.
    pub fn port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    /// Listens on a unix socket in its directory too, see [`Nginx::unix_socket`].
    pub fn unix_socket(mut self) -> Self {
        self.unix_socket = true;
        self
    }

    /// The number of workers, 1 by default.
    pub fn worker_processes(mut self, count: u32) -> Self {
        self.worker_processes = count;
        self
    }

    /// The connections each worker may have, those to upstreams included; by default 16,384 or what the limit of open
    /// files allows.
    pub fn worker_connections(mut self, count: u32) -> Self {
        self.worker_connections = Some(count);
        self
    }

    /// Serves `content` as a file at `path` (letters, digits, `.`, `_`, `~`, `-`); replaces what was there. A path
    /// that ends with `/` is served from `index.html` in that directory.
    pub fn page(self, path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.put(path.into(), Page::File(content.into()))
    }

    /// Serves a file of exactly `size` bytes of readable text at `path`.
    pub fn page_of_size(self, path: impl Into<String>, size: usize) -> Self {
        self.put(path.into(), Page::File(pages::filler(size)))
    }

    /// Answers `text` at `path` from the configuration (`return 200`), without a file. The text cannot contain `$`.
    pub fn inline(self, path: impl Into<String>, text: impl Into<String>) -> Self {
        self.put(path.into(), Page::Inline(text.into()))
    }

    fn put(mut self, path: String, page: Page) -> Self {
        self.pages.retain(|(other, _)| *other != path);
        self.pages.push((path, page));
        self
    }

    /// Puts a file (a certificate, say) beside the configuration, which can then name it by this relative path.
    pub fn file(mut self, name: impl Into<PathBuf>, content: impl Into<Vec<u8>>) -> Self {
        self.files.push((name.into(), content.into()));
        self
    }

    /// Adds directives to the `server` block, as they are.
    pub fn extra_server_config(mut self, text: impl AsRef<str>) -> Self {
        add(&mut self.extra_server, text.as_ref());
        self
    }

    /// Adds directives to the `http` block, as they are: other servers, upstreams, caches.
    pub fn extra_http_config(mut self, text: impl AsRef<str>) -> Self {
        add(&mut self.extra_http, text.as_ref());
        self
    }

    /// Adds directives outside all blocks, as they are: modules to load, say.
    pub fn extra_main_config(mut self, text: impl AsRef<str>) -> Self {
        add(&mut self.extra_main, text.as_ref());
        self
    }

    /// How long nginx may take to answer; 10 s by default.
    pub fn ready_within(mut self, limit: Duration) -> Self {
        self.ready_within = limit;
        self
    }

    /// Starts nginx and waits until it answers, on any async runtime.
    ///
    /// # Errors
    /// [`Error::Missing`] if nginx is not installed, [`Error::Config`] for a setting that cannot be used,
    /// [`Error::Refused`] with nginx's own words about the configuration, [`Error::Exited`] or [`Error::NotReady`] with
    /// the end of its log, [`Error::State`] or [`Error::Io`] if the system refuses something.
    pub async fn start(self) -> Result<Nginx, Error> {
        off_thread("start nginx", move || self.start_blocking()).await
    }

    /// [`start`](Self::start), for plain threads.
    ///
    /// # Errors
    /// The same.
    pub fn start_blocking(self) -> Result<Nginx, Error> {
        let zero =
            |field| Error::Config { field, value: "0".to_owned(), why: "must be at least 1".to_owned() };
        if self.worker_processes == 0 {
            return Err(zero("worker_processes"));
        }
        if self.worker_connections == Some(0) {
            return Err(zero("worker_connections"));
        }
        for (path, _) in &self.files {
            if !is_inside(path) || path.starts_with("data") || path.as_os_str() == "nginx.conf" {
                let why =
                    "must be a relative path without '..', outside 'data', and not nginx.conf".to_owned();
                return Err(Error::Config { field: "file", value: path.display().to_string(), why });
            }
        }
        let program = match &self.binary {
            Some(path) => binary::given(path, INSTALL)?,
            None => binary::find("nginx", &[], INSTALL)?,
        };
        let build = Build::of(&program)?;
        let fixed = self.port.map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        port::start_on(fixed, |addr| self.start_at(addr, program.clone(), build.clone())).map_err(refused)
    }

    fn start_at(&self, addr: SocketAddr, program: PathBuf, build: Build) -> Result<Nginx, Error> {
        let user = RunAs::unprivileged(&["nobody"]);
        let dir = Lease::current()?.server_dir("nginx")?;
        let open_files =
            rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum.unwrap_or(u64::MAX);
        let open_files = open_files.min(65_536);
        let most = u32::try_from(open_files.saturating_sub(64)).unwrap_or(u32::MAX).clamp(1, 16_384);
        let config = Config {
            build,
            addr,
            dir: dir.path().to_owned(),
            data: dir.data(),
            user,
            nonce: Secret::random()?.reveal().to_owned(),
            with_unix_socket: self.unix_socket,
            worker_processes: self.worker_processes,
            worker_connections: self.worker_connections.unwrap_or(most),
            open_files,
            backlog: 4096,
            pages: self.pages.clone(),
            extra_main: self.extra_main.clone(),
            extra_http: self.extra_http.clone(),
            extra_server: self.extra_server.clone(),
        };
        if let Some(socket) = config.unix_socket()
            && socket.as_os_str().len() > UNIX_PATH
        {
            let why = format!(
                "is longer than the {UNIX_PATH} bytes a socket's path may have; set OPENLOOP_STATE_DIR"
            );
            return Err(Error::Config { field: "unix_socket", value: socket.display().to_string(), why });
        }
        for (path, content) in &self.files {
            dir.write(path, content, config.user.as_ref())?;
        }
        config.write_pages(&dir)?;
        config.write(&dir, 0)?;

        let generation = Arc::new(AtomicU64::new(0));
        let spec = Spec {
            args: arguments(&config),
            ready_within: self.ready_within,
            stale: config.unix_socket().into_iter().collect(),
            ..Spec::new("nginx", program, config.user.clone(), probe(&config, &generation))
        };
        let process = LocalProcess::launch(spec, dir)?;
        Ok(Nginx { inner: Arc::new(Inner { process, config, generation, reloading: Mutex::new(()) }) })
    }
}

fn add(to: &mut String, text: &str) {
    to.push_str(text);
    to.push('\n');
}

fn arguments(config: &Config) -> Vec<std::ffi::OsString> {
    let mut args = vec!["-p".into(), config.data.clone().into(), "-c".into(), config.path().into()];
    // Before its configuration is read, nginx would write to a log file in /var.
    if config.build.is_at_least([1, 19, 5]) {
        args.extend(["-e".into(), "stderr".into()]);
    }
    args
}

/// Ready when all workers run, and this very nginx, not another one on its port, answers with the configuration of this
/// generation.
fn probe(config: &Config, generation: &Arc<AtomicU64>) -> Probe {
    let (addr, nonce, generation) = (config.addr, config.nonce.clone(), Arc::clone(generation));
    let workers = config.worker_processes as usize;
    Probe::new(move |pid| {
        let expected = Config::ready_answer(&nonce, generation.load(Ordering::Acquire));
        match ready::http_get(addr, config::READY)? {
            // The first worker may answer before the last one exists.
            (200, body) if body == expected.as_bytes() => match workers_of(pid).len() {
                count if count >= workers => Ok(()),
                count => Err(io::Error::other(format!("{count} of {workers} workers have started"))),
            },
            (200, body) if body.starts_with(nonce.as_bytes()) => {
                Err(io::Error::other("an earlier configuration still answers"))
            }
            (status, _) => {
                Err(io::Error::other(format!("another server answers on {addr}, with status {status}")))
            }
        }
    })
}

/// nginx ends when it does not take its configuration; that is not an accident.
fn refused(error: Error) -> Error {
    if port::was_taken(&error) {
        return error;
    }
    match error {
        Error::Exited { name, log, .. } if log.contains("[emerg]") => Error::Refused { name, message: log },
        other => other,
    }
}
