//! nginx with a generated configuration.

mod build;
mod builder;
mod config;
mod pages;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use builder::NginxBuilder;

use crate::off_thread::off_thread;
use crate::process::LocalProcess;
use crate::{Error, proc};
use config::Config;

/// What the README says to install.
const INSTALL: &str = "install it: apt install nginx-light";
/// How long a reload may take until its configuration answers.
const RELOAD_WITHIN: Duration = Duration::from_secs(10);

/// A running nginx of this run; stopped and removed on drop.
///
/// ```no_run
/// # async fn example() -> Result<(), testbed::Error> {
/// let nginx = testbed::Nginx::builder().worker_processes(2).page("/", "hello").start().await?;
/// println!("{}", nginx.url());
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Nginx {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    process: LocalProcess,
    config: Config,
    /// Which edition of the configuration has to answer; the readiness probe reads it.
    generation: Arc<AtomicU64>,
    reloading: Mutex<()>,
}

impl Nginx {
    /// A description with the defaults: one worker, one page of 612 bytes at `/` (the size of nginx's own welcome
    /// page), no access log, connections kept alive without limit.
    pub fn builder() -> NginxBuilder {
        NginxBuilder::default()
    }

    /// Where it listens: a port of 127.0.0.1.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.inner.config.addr
    }

    /// `http://127.0.0.1:PORT/`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.addr())
    }

    /// The URL of nginx's status page (`stub_status`), or `None` if this nginx was built without it.
    #[must_use]
    pub fn status_url(&self) -> Option<String> {
        let has_it = self.inner.config.build.stub_status;
        has_it.then(|| format!("http://{}{}", self.addr(), config::STATUS))
    }

    /// The unix socket on which it listens too, if that was asked for.
    #[must_use]
    pub fn unix_socket(&self) -> Option<PathBuf> {
        self.inner.config.unix_socket()
    }

    /// nginx's version, such as `1.26.3`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.inner.config.build.version
    }

    /// The settings that matter for speed, for the record's `environment.servers`.
    #[must_use]
    pub fn settings(&self) -> BTreeMap<String, String> {
        self.inner.config.settings()
    }

    /// Version and settings as the record wants them.
    #[must_use]
    pub fn describe(&self) -> load_core::record::Server {
        crate::describe::server(self.version(), self.settings())
    }

    /// The process: pause, kill, restart it, or read its log.
    #[must_use]
    pub fn process(&self) -> &LocalProcess {
        &self.inner.process
    }

    /// The master's process id, 0 while it does not run.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.inner.process.pid()
    }

    /// The process ids of the workers that take requests; not of those that are ending after a reload.
    #[must_use]
    pub fn worker_pids(&self) -> Vec<u32> {
        self.inner.worker_pids()
    }

    /// Has the configuration read again (`SIGHUP`), and waits until the new one answers and no worker with the old
    /// one takes requests any more. Returns the time from the signal to then. Requests that are being answered
    /// meanwhile are not disturbed.
    ///
    /// # Errors
    /// [`Error::Refused`] if nginx does not take the configuration, [`Error::NotReady`] if it does not answer within
    /// 10 s, [`Error::NotRunning`].
    pub async fn reload(&self) -> Result<Duration, Error> {
        let inner = Arc::clone(&self.inner);
        off_thread("reload", move || inner.reload()).await
    }

    /// [`reload`](Self::reload), for plain threads.
    ///
    /// # Errors
    /// The same.
    pub fn reload_blocking(&self) -> Result<Duration, Error> {
        self.inner.reload()
    }
}

impl Inner {
    fn worker_pids(&self) -> Vec<u32> {
        workers_of(self.process.pid())
    }

    fn reload(&self) -> Result<Duration, Error> {
        let _one_at_a_time = self.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.generation.load(Ordering::Acquire);
        let mark = self.process.log_mark();
        let old_workers = self.worker_pids();
        self.config.write(self.process.server_dir(), before + 1)?;
        let began = Instant::now();
        self.process.signal(rustix::process::Signal::HUP)?;
        self.generation.store(before + 1, Ordering::Release);
        let mut pause = Duration::from_millis(1);
        let error = loop {
            let last = match self.process.ask() {
                // The master starts new workers first and asks the old ones to end 0.1 s later.
                Ok(()) if self.worker_pids().iter().any(|pid| old_workers.contains(pid)) => {
                    "old workers go on".to_owned()
                }
                Ok(()) => return Ok(began.elapsed()),
                Err(last) => last.to_string(),
            };
            let log = self.process.log_since(mark);
            if log.contains("[emerg]") {
                break Error::Refused { name: "nginx".to_owned(), message: log };
            }
            if !self.process.is_running() {
                break Error::NotRunning { name: "nginx".to_owned() };
            }
            let after = began.elapsed();
            if after >= RELOAD_WITHIN {
                break Error::NotReady { name: "nginx".to_owned(), after, last, log };
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        };
        // The old configuration goes on answering, and a restart has to find it.
        self.generation.store(before, Ordering::Release);
        self.config.write(self.process.server_dir(), before)?;
        Err(error)
    }
}

/// The workers of `master` that take requests.
fn workers_of(master: u32) -> Vec<u32> {
    let all = proc::all().unwrap_or_default();
    // nginx names its processes by their command line.
    let is_worker = |pid: u32| {
        let title = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let title = String::from_utf8_lossy(&title);
        title.starts_with("nginx: worker process") && !title.contains("shutting down")
    };
    all.iter().filter(|stat| stat.parent == master && is_worker(stat.pid)).map(|stat| stat.pid).collect()
}
