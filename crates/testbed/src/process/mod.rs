//! A server as a child process: started, awaited, disturbed and stopped.

mod builder;
mod gate;
mod inner;
mod log;
mod once;
pub mod ready;
mod shm;
mod signal;
#[cfg(test)]
mod tests;
mod tree;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use builder::ProcessBuilder;
pub(crate) use builder::Spec;
pub(crate) use once::run_once;
pub use signal::StopSignal;
pub(crate) use tree::Tree;

use inner::Inner;

use crate::Error;
use crate::lease::ServerDir;
use crate::off_thread::off_thread;
use crate::proc::ProcessId;

/// A server process of this run.
///
/// It leads a process group of its own, has a directory of its own in the [lease](crate::Lease) and writes its log
/// there, is not root, and is stopped and waited for on drop, also by a panic. All methods may be called from several
/// threads; those that start or stop wait for each other.
#[derive(Debug)]
pub struct LocalProcess {
    inner: Arc<Inner>,
}

impl LocalProcess {
    /// Describes a server called `name` (it names the directory and appears in messages), run from `program`.
    pub fn builder(name: impl Into<String>, program: impl Into<PathBuf>) -> ProcessBuilder {
        ProcessBuilder::new(name.into(), program.into())
    }

    pub(crate) fn launch(spec: Spec, dir: ServerDir) -> Result<Self, Error> {
        dir.give_data(spec.user.as_ref())?;
        let process = Self { inner: Arc::new(Inner::new(spec, dir)) };
        process.inner.start()?;
        Ok(process)
    }

    /// What it was called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.spec.name
    }

    /// The id of the process that was started, or 0 while none runs.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.inner.id().filter(ProcessId::is_alive).map_or(0, |id| id.pid)
    }

    /// The process that was started, its children and theirs, for a sampler. Empty while none runs.
    #[must_use]
    pub fn pids(&self) -> Vec<u32> {
        let members = self.inner.tree().and_then(|tree| tree.members().ok());
        members.unwrap_or_default().iter().map(|id| id.pid).collect()
    }

    /// Says the id of the process that runs, also after a restart, for a sampler on another thread. It does not keep the
    /// process alive.
    pub fn follow(&self) -> impl Fn() -> Option<u32> + Send + Sync + 'static {
        let inner = Arc::downgrade(&self.inner);
        move || inner.upgrade()?.id().filter(ProcessId::is_alive).map(|id| id.pid)
    }

    /// Whether it runs; a paused process does.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.inner.id().is_some_and(|id| id.is_alive())
    }

    /// Whether it answers at this moment; asks it once.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.ask().is_ok()
    }

    /// Its directory: the log is in it, and `data` is the part that the server itself can write to.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.inner.dir.path()
    }

    /// The last lines of its log, of this start only; passwords are masked.
    #[must_use]
    pub fn log_tail(&self) -> String {
        self.inner.log_tail(self.inner.lock().running.as_ref().map_or(0, |running| running.log_from))
    }

    /// Stops it as its kind of server is stopped, waits for the end, and kills it if that takes too long. Nothing
    /// happens if it does not run. It can be started again.
    ///
    /// # Errors
    /// [`Error::Io`] if even killing does not end it.
    pub async fn stop(&self) -> Result<(), Error> {
        let inner = Arc::clone(&self.inner);
        off_thread("stop", move || inner.stop(inner.spec.stop)).await
    }

    /// [`stop`](Self::stop), for plain threads.
    ///
    /// # Errors
    /// The same.
    pub fn stop_blocking(&self) -> Result<(), Error> {
        self.inner.stop(self.inner.spec.stop)
    }

    /// Starts it again after a stop, a kill or an end of its own, with its data as they are. Returns the time from
    /// the start to the first answer.
    ///
    /// # Errors
    /// [`Error::NotStartable`] if it runs, else those of a first start.
    pub async fn start(&self) -> Result<Duration, Error> {
        let inner = Arc::clone(&self.inner);
        off_thread("start", move || inner.start()).await
    }

    /// [`start`](Self::start), for plain threads.
    ///
    /// # Errors
    /// The same.
    pub fn start_blocking(&self) -> Result<Duration, Error> {
        self.inner.start()
    }

    /// Stops and starts it. Returns the time from the request to stop to the first answer afterwards.
    ///
    /// # Errors
    /// Those of [`stop`](Self::stop) and [`start`](Self::start).
    pub async fn restart(&self) -> Result<Duration, Error> {
        let inner = Arc::clone(&self.inner);
        off_thread("restart", move || inner.restart(inner.spec.stop, true)).await
    }

    /// [`restart`](Self::restart), for plain threads.
    ///
    /// # Errors
    /// The same.
    pub fn restart_blocking(&self) -> Result<Duration, Error> {
        self.inner.restart(self.inner.spec.stop, true)
    }

    /// A restart with another signal than the usual one.
    pub(crate) fn restart_blocking_by(&self, signal: StopSignal) -> Result<Duration, Error> {
        self.inner.restart(signal, true)
    }

    /// Stops it and starts it, and does not wait for an answer: how long that takes is somebody else's measurement.
    ///
    /// # Errors
    /// Those of [`stop`](Self::stop), and [`Error::Io`] if the system does not start it.
    pub async fn restart_unawaited(&self) -> Result<(), Error> {
        let inner = Arc::clone(&self.inner);
        off_thread("restart", move || inner.restart(inner.spec.stop, false)).await.map(drop)
    }

    /// A fault: stops the process and its children where they are (`SIGSTOP`). Connections stay open and nobody
    /// answers.
    ///
    /// # Errors
    /// [`Error::NotRunning`], or [`Error::Io`] if the system refuses.
    pub fn pause(&self) -> Result<(), Error> {
        self.inner.disturb("pausing", Tree::pause)
    }

    /// Lets a paused process and its children go on (`SIGCONT`).
    ///
    /// # Errors
    /// [`Error::NotRunning`], or [`Error::Io`] if the system refuses.
    pub fn resume(&self) -> Result<(), Error> {
        self.inner.disturb("resuming", Tree::resume)
    }

    /// A fault: kills the process and its children at once (`SIGKILL`), as a crash does. It can be started again.
    ///
    /// # Errors
    /// [`Error::NotRunning`], or [`Error::Io`] if the system refuses.
    pub fn kill(&self) -> Result<(), Error> {
        self.inner.disturb("killing", Tree::kill)
    }

    /// What it logs from now on can be read with [`log_since`](Self::log_since).
    pub(crate) fn log_mark(&self) -> u64 {
        self.inner.log_length()
    }

    pub(crate) fn log_since(&self, mark: u64) -> String {
        self.inner.log_tail(mark)
    }

    /// Asks it as at the start.
    pub(crate) fn ask(&self) -> std::io::Result<()> {
        match self.pid() {
            0 => Err(std::io::Error::other("it is not running")),
            pid => self.inner.spec.ready.ask(pid),
        }
    }

    pub(crate) fn server_dir(&self) -> &ServerDir {
        &self.inner.dir
    }

    /// Sends a signal to the process alone.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) -> Result<(), Error> {
        match self.inner.id().map(|id| id.signal(signal)) {
            Some(Ok(true)) => Ok(()),
            Some(Err(error)) => Err(Error::io(format!("sending a signal to {}", self.name()))(error)),
            Some(Ok(false)) | None => Err(Error::NotRunning { name: self.name().to_owned() }),
        }
    }
}

impl Drop for LocalProcess {
    fn drop(&mut self) {
        // First, so that a start which is under way on another thread gives up.
        self.inner.lock().closed = true;
        if let Err(error) = self.inner.stop(self.inner.spec.stop) {
            tracing::warn!(name = self.name(), %error, "a server could not be stopped; the next run will try again");
        }
    }
}
