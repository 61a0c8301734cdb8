//! The owner file: who made a run's directory, and whether they live.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::proc::{self, ProcessId};

pub(super) const FILE: &str = "owner.json";
const SCHEMA: &str = "openloop.lease/1";

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Owner {
    schema: String,
    pub(super) run_id: String,
    pub(super) process: ProcessId,
    boot_id: String,
}

impl Owner {
    fn me(run_id: &str) -> std::io::Result<Self> {
        Ok(Self {
            schema: SCHEMA.to_owned(),
            run_id: run_id.to_owned(),
            process: ProcessId::of(std::process::id())?,
            boot_id: proc::boot_id()?,
        })
    }

    /// Whether the machine still runs as it did when this was written; if not, all its processes are gone.
    pub(super) fn is_of_this_boot(&self) -> bool {
        proc::boot_id().is_ok_and(|id| id == self.boot_id)
    }
}

/// An owner file with its lock, which no other process can have as long as this value lives. The system gives the lock
/// back when the process dies, however it dies.
#[derive(Debug)]
pub(super) struct Held {
    file: File,
}

/// What became of asking for a run's lock.
pub(super) enum Taken {
    /// The owner is gone, and nobody else is clearing up.
    Ours(Held),
    /// The owner, or somebody who clears up, holds it.
    Busy,
    /// There is no such file (any more).
    Gone,
}

impl Held {
    pub(super) fn create(dir: &Path, run_id: &str) -> Result<Self, Error> {
        let path = dir.join(FILE);
        let write = || -> std::io::Result<File> {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
            flock(&file, FlockOperation::NonBlockingLockExclusive)?;
            file.write_all(serde_json::to_string(&Owner::me(run_id)?)?.as_bytes())?;
            Ok(file)
        };
        Ok(Self { file: write().map_err(Error::io(format!("writing {}", path.display())))? })
    }

    pub(super) fn take(dir: &Path) -> std::io::Result<Taken> {
        let path = dir.join(FILE);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Taken::Gone),
            Err(error) => return Err(error),
        };
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Ok(Taken::Busy),
            Err(error) => return Err(error.into()),
        }
        // Somebody may have removed it between our open and our lock; then what we hold is no longer in the directory.
        let same = path.metadata().is_ok_and(|now| file.metadata().is_ok_and(|ours| ours.ino() == now.ino()));
        Ok(if same { Taken::Ours(Self { file }) } else { Taken::Gone })
    }

    /// Who is written in the file, or why it is not understood.
    pub(super) fn owner(&mut self) -> Result<Owner, String> {
        let mut text = String::new();
        // An owner file is some 150 bytes; what is far longer is none.
        (&self.file)
            .take(4096)
            .read_to_string(&mut text)
            .map_err(|e| format!("its owner file cannot be read: {e}"))?;
        let owner: Owner =
            serde_json::from_str(&text).map_err(|_| "its owner file is not understood".to_owned())?;
        if owner.schema != SCHEMA {
            return Err("its owner file is of another version".to_owned());
        }
        Ok(owner)
    }
}
