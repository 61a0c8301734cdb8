//! The description of a server process.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::ready::Probe;
use super::{LocalProcess, StopSignal};
use crate::lease::{Lease, RunAs, is_inside};
use crate::off_thread::off_thread;
use crate::secret::Secret;
use crate::{Error, binary};

/// Everything that is needed to start a server, again and again.
#[derive(Debug, Clone)]
pub(crate) struct Spec {
    pub(crate) name: String,
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<OsString>,
    pub(crate) envs: Vec<(OsString, OsString)>,
    pub(crate) user: Option<RunAs>,
    pub(crate) stop: StopSignal,
    pub(crate) stop_within: Duration,
    pub(crate) ready: Probe,
    pub(crate) ready_within: Duration,
    pub(crate) secrets: Vec<Secret>,
    /// Files that a killed server leaves and that would keep it from starting again, such as sockets.
    pub(crate) stale: Vec<PathBuf>,
}

impl Spec {
    /// With the usual limits: 10 s to be ready, 5 s to stop.
    pub(crate) fn new(name: &str, program: PathBuf, user: Option<RunAs>, ready: Probe) -> Self {
        Self {
            name: name.to_owned(),
            program,
            args: Vec::new(),
            envs: Vec::new(),
            user,
            stop: StopSignal::default(),
            stop_within: Duration::from_secs(5),
            ready,
            ready_within: Duration::from_secs(10),
            secrets: Vec::new(),
            stale: Vec::new(),
        }
    }
}

/// Describes a [`LocalProcess`]: your own server's program, for instance.
///
/// ```no_run
/// use testbed::{LocalProcess, ready};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let port: u16 = 8123;
/// let addr = ([127, 0, 0, 1], port).into();
/// let server = LocalProcess::builder("files", "python3")
///     .args(["-m", "http.server", "--bind", "127.0.0.1", "--directory", "{dir}"])
///     .arg(port.to_string())
///     .file("hello.txt", "hello")
///     .ready_when(move || ready::http_get(addr, "/hello.txt").map(drop))
///     .start_blocking()?;
/// assert_eq!(ready::http_get(addr, "/hello.txt")?, (200, b"hello".to_vec()));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct ProcessBuilder {
    name: String,
    program: PathBuf,
    args: Vec<OsString>,
    envs: Vec<(OsString, OsString)>,
    files: Vec<(PathBuf, Vec<u8>)>,
    stop: StopSignal,
    stop_within: Duration,
    ready: Option<Probe>,
    ready_within: Duration,
}

impl ProcessBuilder {
    pub(super) fn new(name: String, program: PathBuf) -> Self {
        Self {
            name,
            program,
            args: Vec::new(),
            envs: Vec::new(),
            files: Vec::new(),
            stop: StopSignal::default(),
            stop_within: Duration::from_secs(5),
            ready: None,
            ready_within: Duration::from_secs(10),
        }
    }

    /// Adds an argument; `{dir}` in it stands for the server's directory, which is also where it is started.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds several arguments.
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable. Nothing of our own environment is handed on.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.envs.push((name.into(), value.into()));
        self
    }

    /// Puts a file into the server's directory before it starts; `name` is a path relative to it, whose directories
    /// are made.
    pub fn file(mut self, name: impl Into<PathBuf>, content: impl Into<Vec<u8>>) -> Self {
        self.files.push((name.into(), content.into()));
        self
    }

    /// How the server is asked to end; `SIGTERM` by default.
    pub fn stop_signal(mut self, signal: StopSignal) -> Self {
        self.stop = signal;
        self
    }

    /// How long the server may take to end before it is killed; 5 s by default.
    pub fn stop_within(mut self, limit: Duration) -> Self {
        self.stop_within = limit;
        self
    }

    /// How to find out whether the server answers. It is asked again and again and should itself wait at most some
    /// seconds; [`ready`](crate::ready) has the usual questions. There is no default: that a process exists, or that a
    /// port is open, does not mean that it answers.
    pub fn ready_when(mut self, ask: impl Fn() -> io::Result<()> + Send + Sync + 'static) -> Self {
        self.ready = Some(Probe::new(move |_| ask()));
        self
    }

    /// How long the server may take to answer; 10 s by default.
    pub fn ready_within(mut self, limit: Duration) -> Self {
        self.ready_within = limit;
        self
    }

    /// Starts the server and waits until it answers, on any async runtime.
    ///
    /// # Errors
    /// [`Error::Config`] or [`Error::Missing`] before anything is started; [`Error::Exited`], [`Error::NotReady`] with
    /// the end of the server's log; [`Error::State`], [`Error::Io`] if the system refuses something.
    pub async fn start(self) -> Result<LocalProcess, Error> {
        off_thread("start", move || self.start_blocking()).await
    }

    /// [`start`](Self::start), for plain threads.
    ///
    /// # Errors
    /// The same.
    pub fn start_blocking(self) -> Result<LocalProcess, Error> {
        let invalid =
            |field, value: &str, why: &str| Error::Config { field, value: value.into(), why: why.into() };
        if self.name.is_empty()
            || !self.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        {
            return Err(invalid("name", &self.name, "must be made of letters, digits, '-' and '_'"));
        }
        let Some(ready) = self.ready else { return Err(invalid("ready_when", "", "must be given")) };
        for (path, _) in &self.files {
            if !is_inside(path) {
                return Err(invalid("file", &path.to_string_lossy(), "must be a relative path without '..'"));
            }
        }
        let program = match self.program.to_str() {
            Some(name) if !name.contains('/') => binary::find(name, &[], "install it or give its path")?,
            _ => binary::given(&self.program, "install it or give its path")?,
        };
        let user = RunAs::unprivileged(&["nobody"]);
        let dir = Lease::current()?.server_dir(&self.name)?;
        for (path, content) in &self.files {
            dir.write_data(path, content, user.as_ref())?;
        }
        let here = dir.data().to_string_lossy().into_owned();
        let fill = |arg: OsString| match arg.to_str() {
            Some(text) if text.contains("{dir}") => text.replace("{dir}", &here).into(),
            _ => arg,
        };
        let spec = Spec {
            args: self.args.into_iter().map(fill).collect(),
            envs: self.envs,
            stop: self.stop,
            stop_within: self.stop_within,
            ready_within: self.ready_within,
            ..Spec::new(&self.name, program, user, ready)
        };
        LocalProcess::launch(spec, dir)
    }
}
