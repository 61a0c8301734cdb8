//! Removing a run's directory so that being killed midway leaves something the next sweep understands.

use std::fs;
use std::io;
use std::path::Path;

use super::owner;

/// How the name of a run's directory begins.
pub(super) const RUN: &str = "run-";
/// How the name begins until the directory has an owner.
pub(super) const UNFINISHED: &str = ".new-";

/// The run id in a directory's name of the given beginning.
pub(super) fn run_id<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    let id = name.strip_prefix(prefix)?;
    (id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit())).then_some(id)
}

/// Removes the directory: all else first, the owner file last.
pub(super) fn run(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_name() == owner::FILE {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    unfinished(dir)
}

/// Removes a directory that holds an owner file at most; anything else in it makes this fail.
pub(super) fn unfinished(dir: &Path) -> io::Result<()> {
    match fs::remove_file(dir.join(owner::FILE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    match fs::remove_dir(dir) {
        // A sweep may have found it empty a moment before us.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
