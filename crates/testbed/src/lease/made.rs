//! The list of what a run made outside its directory.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::proc::ProcessId;
use crate::process::StopSignal;

const FILE: &str = "made.jsonl";

/// One thing that a sweep has to undo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "made", rename_all = "kebab-case")]
pub(crate) enum Made {
    /// A child process, which leads a process group.
    Process {
        /// What it is, such as `nginx`.
        name: String,
        /// Which process.
        id: ProcessId,
        /// How it is asked to end.
        stop: StopSignal,
    },
}

/// Appends one JSON line for each thing.
#[derive(Debug)]
pub(super) struct Log {
    file: Mutex<File>,
}

impl Log {
    pub(super) fn create(dir: &Path) -> Result<Self, Error> {
        let path = dir.join(FILE);
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path);
        Ok(Self { file: Mutex::new(file.map_err(Error::io(format!("making {}", path.display())))?) })
    }

    pub(super) fn append(&self, made: &Made) -> Result<(), Error> {
        let what = || "writing down a child process".to_owned();
        let line = serde_json::to_string(made).map_err(|e| Error::Io { what: what(), source: e.into() })?;
        // One write: what is in the file is then in the page cache, and outlives us.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(format!("{line}\n").as_bytes()).map_err(Error::io(what()))
    }
}

/// What the run of `dir` made, or why that is not known.
pub(super) fn read(dir: &Path) -> Result<Vec<Made>, String> {
    let text = match fs::read_to_string(dir.join(FILE)) {
        Ok(text) => text,
        // The run died before it made anything.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(format!("its list of processes cannot be read: {error}")),
    };
    // A line without its end was being written when the run died; the process it names never got past its gate.
    let complete = text.rfind('\n').map_or("", |end| &text[..end]);
    let parse =
        |line| serde_json::from_str(line).map_err(|_| "its list of processes is not understood".to_owned());
    complete.lines().map(parse).collect()
}
