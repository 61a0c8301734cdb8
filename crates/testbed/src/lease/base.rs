//! The directory above all runs of a user, and the users that servers run as.

use std::env;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::Error;

/// Names the directory to use instead of `$TMPDIR/openloop-<uid>`.
const VARIABLE: &str = "OPENLOOP_STATE_DIR";

/// Root's servers run as another user, who has to get through to their directories; nobody else's need that.
pub(super) fn passable_mode() -> u32 {
    if geteuid().is_root() { 0o711 } else { 0o700 }
}

/// The base directory, made if need be and found to be ours alone.
pub(super) fn prepare() -> Result<PathBuf, Error> {
    let path = match env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        Some(value) => std::path::absolute(&value).map_err(Error::io(format!("reading {VARIABLE}")))?,
        None => env::temp_dir().join(format!("openloop-{}", geteuid().as_raw())),
    };
    prepare_at(&path)?;
    Ok(path)
}

pub(super) fn prepare_at(path: &Path) -> Result<(), Error> {
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => fs::set_permissions(path, fs::Permissions::from_mode(passable_mode()))
            .map_err(Error::io(format!("opening {} to servers", path.display())))?,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(source) => {
            return Err(Error::Io { what: format!("making the directory {}", path.display()), source });
        }
    }
    // Others could have made it before us, or could put things into it: what we later remove would be theirs to choose.
    let meta = fs::symlink_metadata(path).map_err(Error::io(format!("looking at {}", path.display())))?;
    let why = if !meta.is_dir() {
        "is not a directory"
    } else if meta.uid() != geteuid().as_raw() {
        "belongs to another user"
    } else if meta.mode() & 0o022 != 0 {
        "can be written to by others"
    } else {
        return make_passable(path, meta.mode());
    };
    Err(Error::State { path: path.to_owned(), why: format!("{why}; name another directory in {VARIABLE}") })
}

/// The umask may have closed the directory when it was made, perhaps by a run that was killed right then. Only an empty
/// one is opened: another may be closed on purpose.
fn make_passable(path: &Path, mode: u32) -> Result<(), Error> {
    let what = || Error::io(format!("opening {} to servers", path.display()));
    let mode_wanted = passable_mode();
    if mode & mode_wanted == mode_wanted || fs::read_dir(path).map_err(what())?.next().is_some() {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode_wanted)).map_err(what())
}

/// An unprivileged user for a server, when we are root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunAs {
    pub(crate) name: String,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl RunAs {
    /// The first of `names` that this machine knows, or `None` if we are not root and servers run as ourselves.
    pub(crate) fn unprivileged(names: &[&str]) -> Option<Self> {
        if !geteuid().is_root() {
            return None;
        }
        let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let known = names.iter().find_map(|name| Self::parse(&passwd, name));
        // The ids that Linux itself uses for a user it cannot express.
        Some(known.unwrap_or_else(|| Self { name: "nobody".into(), uid: 65_534, gid: 65_534 }))
    }

    fn parse(passwd: &str, name: &str) -> Option<Self> {
        let line = passwd.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        let uid = fields.next()?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        (uid != 0).then(|| Self { name: name.to_owned(), uid, gid })
    }

    /// Makes this user the owner of `path`.
    pub(crate) fn give(&self, path: &Path) -> Result<(), Error> {
        chown(path, Some(self.uid), Some(self.gid)).map_err(Error::io(format!(
            "giving {} to {}",
            path.display(),
            self.name
        )))
    }

    /// The first directory above `path` that other users cannot pass through: the usual reason why a server cannot
    /// start as this user.
    pub(crate) fn barred_at<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        path.ancestors().skip(1).find(|dir| {
            fs::metadata(dir).is_ok_and(|meta| {
                let mode = meta.mode();
                let bit = if meta.uid() == self.uid {
                    0o100
                } else if meta.gid() == self.gid {
                    0o010
                } else {
                    0o001
                };
                mode & bit == 0
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_must_be_ours_alone() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().join("base");
        prepare_at(&base).unwrap();
        prepare_at(&base).unwrap();
        let mode = || fs::metadata(&base).unwrap().mode() & 0o777;
        assert_eq!(mode(), passable_mode());

        // Made by a run that was killed before it could open it.
        let close = || fs::set_permissions(&base, fs::Permissions::from_mode(0o700)).unwrap();
        close();
        prepare_at(&base).unwrap();
        assert_eq!(mode(), passable_mode());
        fs::write(base.join("thing"), "").unwrap();
        close();
        prepare_at(&base).unwrap();
        assert_eq!(mode(), 0o700, "closed on purpose, perhaps");

        fs::set_permissions(&base, fs::Permissions::from_mode(0o777)).unwrap();
        let text = prepare_at(&base).unwrap_err().to_string();
        assert!(text.contains("written to by others") && text.contains(VARIABLE), "{text}");

        let link = dir.path().join("link");
        std::os::unix::fs::symlink("/usr", &link).unwrap();
        assert!(prepare_at(&link).unwrap_err().to_string().contains("not a directory"));
        if geteuid().is_root() {
            let theirs = dir.path().join("theirs");
            fs::create_dir(&theirs).unwrap();
            chown(&theirs, Some(12_345), None).unwrap();
            assert!(prepare_at(&theirs).unwrap_err().to_string().contains("another user"));
        }
    }

    #[test]
    fn users_are_read_from_passwd_and_root_is_never_taken() {
        let passwd =
            "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65533::/:/bin/false\nbroken\ntoor:x:0:1::/:/\n";
        let nobody = RunAs::parse(passwd, "nobody").unwrap();
        assert_eq!((nobody.uid, nobody.gid), (65_534, 65_533));
        assert_eq!(RunAs::parse(passwd, "toor"), None);
        assert_eq!(RunAs::parse(passwd, "broken"), None);
        assert_eq!(RunAs::parse(passwd, "nob"), None);
    }

    #[test]
    fn a_closed_directory_above_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let user = RunAs { name: "x".into(), uid: 54_321, gid: 54_321 };
        let inner = dir.path().join("inner");
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(user.barred_at(&inner), Some(dir.path()));
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o711)).unwrap();
        assert_ne!(user.barred_at(&inner), Some(dir.path()));
    }
}
