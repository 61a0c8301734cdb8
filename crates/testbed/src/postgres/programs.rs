//! Finding the newest PostgreSQL of this machine.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Error, binary};

const INSTALL: &str = "install it: apt install postgresql";
/// Where Debian and others keep each major version in a directory of its own, as parent, prefix of the version, rest.
const PLACES: [(&str, &str, &str); 2] = [("/usr/lib/postgresql", "", "bin"), ("/usr", "pgsql-", "bin")];

/// A directory with `initdb` and `postgres`: `given`, else that of the newest version, else where `PATH` leads.
pub(super) fn find(given: Option<&Path>) -> Result<PathBuf, Error> {
    if let Some(dir) = given {
        for program in ["initdb", "postgres"] {
            binary::given(&dir.join(program), INSTALL)?;
        }
        return Ok(dir.to_owned());
    }
    let versions = newest_first(&PLACES);
    let usable = |dir: &PathBuf| find(Some(dir)).is_ok();
    if let Some(dir) = versions.iter().find(|dir| usable(dir)) {
        return Ok(dir.clone());
    }
    let initdb = binary::find("initdb", &versions, INSTALL)?;
    // A link in `PATH` leads to the directory where the others are.
    let initdb = initdb.canonicalize().unwrap_or(initdb);
    find(initdb.parent())
}

fn newest_first(places: &[(&str, &str, &str)]) -> Vec<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = Vec::new();
    for (parent, prefix, rest) in places {
        for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let version =
                name.to_str().and_then(|name| name.strip_prefix(prefix)).and_then(|n| n.parse().ok());
            found.extend(version.map(|version| (version, entry.path().join(rest))));
        }
    }
    found.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    found.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_comes_first_by_number() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["9", "15", "17", "common", "x18"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        let found = newest_first(&[(dir.path().to_str().unwrap(), "", "bin")]);
        let names: Vec<_> =
            found.iter().map(|path| path.strip_prefix(dir.path()).unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["17/bin", "15/bin", "9/bin"]);
    }

    #[test]
    fn a_directory_without_the_programs_is_an_error_that_says_what_to_install() {
        let dir = tempfile::tempdir().unwrap();
        let error = find(Some(dir.path())).unwrap_err();
        assert!(error.is_missing() && error.to_string().contains("apt install postgresql"), "{error}");
    }
}
