//! Files of /proc, /sys and the like: opened once and read again from their start, or read once below a root.

use crate::probe::refused;
use load_core::SourceError;
use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

/// An open file that is read from its start again and again. Opening costs several times what reading does, and an open
/// /proc/PID file stays with its process: a number that was given to another process gives an error, not its figures.
#[derive(Debug)]
pub(crate) struct Handle {
    file: File,
}

/// More than any of the files that are read holds; one that goes on is cut, so that nothing can fill the memory.
const LARGEST: usize = 16 << 20;

impl Handle {
    pub(crate) fn open(path: &Path) -> io::Result<Handle> {
        Ok(Handle { file: File::open(path)? })
    }

    /// The whole file, in `buffer`. Reads until there is no more, since one read may give less than all.
    pub(crate) fn read<'a>(&self, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        if buffer.len() < 4096 {
            buffer.resize(4096, 0);
        }
        let mut length = 0;
        loop {
            match read_at(&self.file, &mut buffer[length..], length as u64) {
                Ok(0) => return Ok(&buffer[..length]),
                Ok(n) => length += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
            if length == buffer.len() {
                if length >= LARGEST {
                    return Ok(&buffer[..length]);
                }
                buffer.resize(length * 2, 0);
            }
        }
    }

    /// The start of the file in one read: for files of one short line.
    pub(crate) fn read_line<'a>(&self, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
        let n = read_at(&self.file, buffer, 0)?;
        Ok(&buffer[..n])
    }
}

/// A file below a root that is opened when it is first read and then kept open; opened again after an error.
#[derive(Debug)]
pub(crate) struct Kept {
    root: Root,
    path: String,
    handle: Option<Handle>,
    buffer: Vec<u8>,
}

impl Kept {
    pub(crate) fn new(root: &Root, path: impl Into<String>) -> Kept {
        Kept { root: root.clone(), path: path.into(), handle: None, buffer: Vec::new() }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The directory that it is in.
    pub(crate) fn directory(&self) -> &str {
        self.path.rsplit_once('/').map_or("/", |(directory, _)| directory)
    }

    /// The whole file.
    pub(crate) fn read(&mut self) -> io::Result<&[u8]> {
        let handle = match self.handle.take() {
            Some(handle) => handle,
            None => self.root.open(&self.path)?,
        };
        // Put back only when the reading went well: after an error the file is opened anew.
        let length = handle.read(&mut self.buffer)?.len();
        self.handle = Some(handle);
        Ok(&self.buffer[..length])
    }

    /// The whole file; where it cannot be read, why.
    pub(crate) fn bytes(&mut self) -> Result<&[u8], SourceError> {
        let path = self.path.clone();
        self.read().map_err(|e| refused(&path, &e))
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(not(unix))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Where `/` is: the tests put the files of other machines there.
#[derive(Debug, Clone)]
pub(crate) struct Root(PathBuf);

impl Default for Root {
    fn default() -> Root {
        Root::system()
    }
}

impl Root {
    pub(crate) fn system() -> Root {
        Root("/".into())
    }

    #[cfg(test)]
    pub(crate) fn at(path: impl Into<PathBuf>) -> Root {
        Root(path.into())
    }

    /// Whether it is the machine itself.
    pub(crate) fn is_system(&self) -> bool {
        self.0 == Path::new("/")
    }

    /// The path below this root; `path` is written without or with a leading `/`.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.join(path.trim_start_matches('/'))
    }

    pub(crate) fn open(&self, path: &str) -> io::Result<Handle> {
        Handle::open(&self.path(path))
    }

    /// The whole file as text, whatever its bytes are; `None` when it cannot be read.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let handle = self.open(path).ok()?;
        let mut buffer = Vec::new();
        Some(String::from_utf8_lossy(handle.read(&mut buffer).ok()?).into_owned())
    }

    /// A file of one line, trimmed; `None` when it cannot be read or is empty.
    pub(crate) fn line(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        let line = text.lines().next()?.trim();
        (!line.is_empty()).then(|| line.to_string())
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }
}
