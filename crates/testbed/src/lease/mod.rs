//! One directory for everything a run makes outside its process, and proof of who owns it.

mod base;
mod dir;
mod made;
mod owner;
mod remove;
mod sweep;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) use base::RunAs;
pub(crate) use dir::{ServerDir, is_inside};
pub(crate) use made::Made;
pub use sweep::{HowStopped, Left, StoppedProcess, Swept, SweptRun};

use crate::Error;

/// This process's run: an id, and the directory in which its servers live.
///
/// There is one at a time in a process; its servers hold it, and when the last of them is dropped, so is the directory.
/// A clone is another handle to the same lease.
#[derive(Debug, Clone)]
pub struct Lease(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    run_id: String,
    dir: PathBuf,
    made: made::Log,
    servers: AtomicU32,
    /// Locked for as long as it is open; dropped after `dir` has been removed.
    _owner: owner::Held,
}

struct Current {
    lease: Weak<Inner>,
    swept: bool,
}

static CURRENT: Mutex<Current> = Mutex::new(Current { lease: Weak::new(), swept: false });

impl Lease {
    /// The lease of this process, made now if there is none. The first call sweeps, see [`Lease::sweep`].
    ///
    /// # Errors
    /// [`Error::State`] if the base directory belongs to somebody else or others can write to it, [`Error::Io`] if
    /// it cannot be made.
    pub fn current() -> Result<Self, Error> {
        let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(inner) = current.lease.upgrade() {
            return Ok(Self(inner));
        }
        let base = base::prepare()?;
        if !current.swept {
            // What another run left must not keep this one from working.
            if let Err(error) = sweep::sweep(&base) {
                tracing::warn!(%error, "what earlier runs left could not be looked through");
            }
            current.swept = true;
        }
        let lease = Self::create_in(&base)?;
        current.lease = Arc::downgrade(&lease.0);
        Ok(lease)
    }

    /// Removes what dead runs of this user left: first their processes, then their directories. Says what it removed
    /// in its result and by `tracing::warn`.
    ///
    /// Waits at most some seconds for each process. Never touches what a living run owns or what is not understood.
    ///
    /// # Errors
    /// As [`Lease::current`]. What could not be removed is no error; it is listed in [`Swept::left`].
    pub fn sweep() -> Result<Swept, Error> {
        sweep::sweep(&base::prepare()?)
    }

    fn create_in(base: &Path) -> Result<Self, Error> {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let run_id = format!("{seconds:08x}{:08x}", crate::secret::random_u32()?);
        // The directory gets its final name only when it has an owner, so that nobody meets it without one.
        let unfinished = base.join(format!("{}{run_id}", remove::UNFINISHED));
        let dir = base.join(format!("{}{run_id}", remove::RUN));
        dir::make(&unfinished)?;
        let owner = owner::Held::create(&unfinished, &run_id)?;
        fs::rename(&unfinished, &dir).map_err(Error::io(format!("naming {}", dir.display())))?;
        let made = made::Log::create(&dir)?;
        Ok(Self(Arc::new(Inner { run_id, dir, made, servers: AtomicU32::new(0), _owner: owner })))
    }

    /// The run's id: 16 hexadecimal digits, the first 8 the time of its start in seconds since 1970. Fit to be part
    /// of the name of a database or a key.
    #[must_use]
    pub fn run_id(&self) -> &str {
        &self.0.run_id
    }

    /// The run's directory. It is removed with the last handle.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.0.dir
    }

    /// Writes down what is about to matter.
    pub(crate) fn record(&self, made: &Made) -> Result<(), Error> {
        self.0.made.append(made)
    }

    /// A new directory for a server of this name.
    pub(crate) fn server_dir(&self, name: &str) -> Result<ServerDir, Error> {
        let number = self.0.servers.fetch_add(1, Ordering::Relaxed);
        ServerDir::create(self.clone(), self.0.dir.join(format!("{name}-{number}")))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Err(error) = remove::run(&self.dir) {
            tracing::warn!(dir = %self.dir.display(), %error, "the run's directory could not be removed; the next run will");
        }
    }
}
