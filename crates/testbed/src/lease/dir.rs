//! A server's directory within a lease.
//!
//! The directory is ours; only `data` within it belongs to the server's user. As root we therefore never write where
//! that user could have put a link in our way.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use super::{Lease, RunAs, base};
use crate::Error;

/// The part of the directory that is the server's own, and where it is started.
const DATA: &str = "data";

/// Removed on drop.
#[derive(Debug)]
pub(crate) struct ServerDir {
    path: PathBuf,
    lease: Lease,
}

impl ServerDir {
    pub(super) fn create(lease: Lease, path: PathBuf) -> Result<Self, Error> {
        make(&path)?;
        let dir = Self { path, lease };
        make(&dir.data())?;
        Ok(dir)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The server's own part: closed to others, and not to be written to by us once it is [given](Self::give_data).
    pub(crate) fn data(&self) -> PathBuf {
        self.path.join(DATA)
    }

    pub(crate) fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Writes a file that only we and the server's user can read. `path` is relative and has been found to be
    /// [inside](is_inside); its directories are made.
    pub(crate) fn write(&self, path: &Path, content: &[u8], user: Option<&RunAs>) -> Result<PathBuf, Error> {
        let give = |path: &Path| user.map_or(Ok(()), |user| user.give(path));
        let mut above = self.path.clone();
        for part in path.parent().into_iter().flat_map(Path::components) {
            above.push(part);
            match fs::create_dir(&above) {
                Ok(()) if path.starts_with(DATA) => give(&above)?,
                Ok(()) => fs::set_permissions(&above, fs::Permissions::from_mode(base::passable_mode()))
                    .map_err(Error::io(format!("opening {} to the server", above.display())))?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(Error::Io { what: format!("making {}", above.display()), source }),
            }
        }
        let path = self.path.join(path);
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&path)
            .and_then(|mut file| file.write_all(content))
            .map_err(Error::io(format!("writing {}", path.display())))?;
        give(&path)?;
        Ok(path)
    }

    /// Writes a file into the server's own part, before it is given away.
    pub(crate) fn write_data(
        &self,
        path: &Path,
        content: &[u8],
        user: Option<&RunAs>,
    ) -> Result<PathBuf, Error> {
        self.write(&Path::new(DATA).join(path), content, user)
    }

    /// Makes `user` the owner of the server's own part.
    pub(crate) fn give_data(&self, user: Option<&RunAs>) -> Result<(), Error> {
        let data = self.data();
        fs::set_permissions(&data, fs::Permissions::from_mode(0o700))
            .map_err(Error::io(format!("closing {} to others", data.display())))?;
        user.map_or(Ok(()), |user| user.give(&data))
    }
}

impl Drop for ServerDir {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            tracing::warn!(dir = %self.path.display(), %error, "a server's directory could not be removed");
        }
    }
}

/// Whether `path` stays within the directory it is relative to.
pub(crate) fn is_inside(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_))) && path.components().next().is_some()
}

/// A directory that servers of another user may pass through (if we are root), but not list or write to.
pub(super) fn make(path: &Path) -> Result<(), Error> {
    fs::DirBuilder::new()
        .mode(0o700)
        .create(path)
        .and_then(|()| {
            // Set afterwards, because the umask takes bits away from what is asked when it is made.
            fs::set_permissions(path, fs::Permissions::from_mode(base::passable_mode()))
        })
        .map_err(Error::io(format!("making the directory {}", path.display())))
}
