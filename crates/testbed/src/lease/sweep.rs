//! Removing what dead runs left.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::geteuid;

use super::owner::{Held, Taken};
use super::{Made, made, remove};
use crate::Error;
use crate::proc::ProcessId;
use crate::process::Tree;

/// How long a process of a dead run may take to end after it was asked to.
const GRACE: Duration = if cfg!(test) { Duration::from_millis(300) } else { Duration::from_secs(5) };
/// A directory without its final name that is younger than this may be about to get it.
const UNFINISHED_AGE: Duration = Duration::from_secs(60);

/// What a sweep removed and what it left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Swept {
    /// The dead runs whose things were removed.
    pub removed: Vec<SweptRun>,
    /// What looks like a run's but was not touched.
    pub left: Vec<Left>,
}

/// A dead run, removed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SweptRun {
    /// The run's id.
    pub run_id: String,
    /// Its directory, now gone.
    pub dir: PathBuf,
    /// The process that owned it.
    pub owner: ProcessId,
    /// The processes that still ran.
    pub stopped: Vec<StoppedProcess>,
}

/// A process of a dead run, stopped together with its children.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoppedProcess {
    /// What it was, such as `nginx`.
    pub name: String,
    /// Which process it was.
    pub id: ProcessId,
    /// What it took.
    pub how: HowStopped,
}

/// How a process came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HowStopped {
    /// It ended when it was asked to.
    Asked,
    /// It had to be killed.
    Killed,
}

/// A directory that was not touched.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Left {
    /// The directory.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

impl Swept {
    /// Whether there was nothing to remove and nothing that could not be.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.left.is_empty()
    }
}

impl fmt::Display for Swept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for run in &self.removed {
            writeln!(
                f,
                "removed what run {} of process {} left: {}",
                run.run_id,
                run.owner.pid,
                run.dir.display()
            )?;
            for process in &run.stopped {
                let how = match process.how {
                    HowStopped::Asked => "stopped",
                    HowStopped::Killed => "killed",
                };
                writeln!(f, "  {how} {} (process {})", process.name, process.id.pid)?;
            }
        }
        for left in &self.left {
            writeln!(f, "not touched: {}: {}", left.path.display(), left.why)?;
        }
        Ok(())
    }
}

pub(super) fn sweep(base: &Path) -> Result<Swept, Error> {
    let reading = || Error::io(format!("reading {}", base.display()));
    let mut swept = Swept::default();
    for entry in fs::read_dir(base).map_err(reading())? {
        let entry = entry.map_err(reading())?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = entry.path();
        let outcome = if let Some(run_id) = remove::run_id(&name, remove::RUN) {
            sweep_run(&path, run_id)
        } else if remove::run_id(&name, remove::UNFINISHED).is_some() {
            sweep_unfinished(&path).map(|()| None)
        } else {
            continue;
        };
        match outcome {
            Ok(None) => {}
            Ok(Some(run)) => swept.removed.push(run),
            Err(why) => swept.left.push(Left { path, why }),
        }
    }
    if !swept.is_empty() {
        tracing::warn!("{}", swept.to_string().trim_end());
    }
    Ok(swept)
}

/// `None`: alive, or gone by itself. The error is why it is left.
fn sweep_run(dir: &Path, run_id: &str) -> Result<Option<SweptRun>, String> {
    match is_our_directory(dir) {
        Ok(true) => {}
        Ok(false) => return Err("is not a directory of this user".to_owned()),
        // Its owner, or another sweep, was faster.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot be looked at: {error}")),
    }
    let mut held = match Held::take(dir) {
        Ok(Taken::Ours(held)) => held,
        Ok(Taken::Busy) => return Ok(None),
        // Empty: a removal that was cut short before its last step. Not empty: not made by us.
        Ok(Taken::Gone) => {
            return match fs::remove_dir(dir) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err("has no owner file".to_owned())
                }
                _ => Ok(None),
            };
        }
        Err(error) => return Err(format!("its owner file cannot be opened: {error}")),
    };
    let owner = held.owner()?;
    if owner.run_id != run_id {
        return Err("its owner file is of another run".to_owned());
    }
    let mut stopped = Vec::new();
    if owner.is_of_this_boot() {
        if owner.process.is_alive() {
            return Err(format!("its owner, process {}, is alive", owner.process.pid));
        }
        for Made::Process { name, id, stop } in made::read(dir)? {
            let how = Tree::new(id, dir)
                .stop(stop, GRACE)
                .map_err(|error| format!("{name} (process {}) cannot be stopped: {error}", id.pid))?;
            stopped.extend(how.map(|how| StoppedProcess { name, id, how }));
        }
    }
    remove::run(dir).map_err(|error| format!("cannot be removed: {error}"))?;
    Ok(Some(SweptRun { run_id: run_id.to_owned(), dir: dir.to_owned(), owner: owner.process, stopped }))
}

/// A run that died before it made anything; there is nothing to say about it.
fn sweep_unfinished(dir: &Path) -> Result<(), String> {
    let young = fs::symlink_metadata(dir)
        .and_then(|meta| meta.modified())
        .is_ok_and(|time| time.elapsed().is_ok_and(|age| age < UNFINISHED_AGE));
    if young || !is_our_directory(dir).unwrap_or(false) || matches!(Held::take(dir), Ok(Taken::Busy)) {
        return Ok(());
    }
    remove::unfinished(dir).map_err(|error| format!("cannot be removed: {error}"))
}

fn is_our_directory(path: &Path) -> std::io::Result<bool> {
    let meta = fs::symlink_metadata(path)?;
    Ok(meta.is_dir() && meta.uid() == geteuid().as_raw())
}
