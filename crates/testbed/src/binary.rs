//! Finding the servers' programs.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{Access, access};

use crate::Error;

/// Where distributions put servers that are not on an ordinary user's `PATH`.
const ALSO: [&str; 4] = ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/usr/bin"];

fn directories(more: &[PathBuf]) -> Vec<PathBuf> {
    let mut all = more.to_vec();
    all.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    all.extend(ALSO.map(PathBuf::from));
    let mut seen = std::collections::HashSet::new();
    all.retain(|dir| dir.is_absolute() && seen.insert(dir.clone()));
    all
}

fn is_program(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

/// The first `program` in `more`, in `PATH`, or where distributions put servers.
pub(crate) fn find(program: &str, more: &[PathBuf], hint: &str) -> Result<PathBuf, Error> {
    let directories = directories(more);
    directories.iter().map(|dir| dir.join(program)).find(|path| is_program(path)).ok_or_else(|| {
        Error::Missing {
            program: program.to_owned(),
            looked_in: directories.iter().map(|d| d.display().to_string()).collect::<Vec<_>>().join(":"),
            hint: hint.to_owned(),
        }
    })
}

/// The program at `path`, which the user named.
pub(crate) fn given(path: &Path, hint: &str) -> Result<PathBuf, Error> {
    if is_program(path) {
        return Ok(path.to_owned());
    }
    Err(Error::Missing {
        program: path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
        looked_in: path.display().to_string(),
        hint: hint.to_owned(),
    })
}

/// What `program` says its version is.
pub(crate) fn version(
    program: &Path,
    flag: &str,
    parse: impl Fn(&str) -> Option<String>,
) -> Result<String, Error> {
    let what = || format!("asking {} for its version", program.display());
    let output = Command::new(program).arg(flag).env_clear().output().map_err(Error::io(what()))?;
    // Some say it as a result, some as a message.
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    parse(&text).ok_or_else(|| Error::io(what())(std::io::Error::other("the answer is not understood")))
}

/// Whether `program` (such as `nginx`) is found on this machine, so that a test that needs it can say that it is
/// skipped. Searches `PATH` and the usual directories of servers.
#[must_use]
pub fn installed(program: &str) -> bool {
    find(program, &[], "").is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_named_with_what_to_install() {
        let error = find("no-such-server", &[], "install it").unwrap_err();
        assert!(error.is_missing());
        let text = error.to_string();
        assert!(
            text.contains("no-such-server") && text.contains("/usr/sbin") && text.contains("install it"),
            "{text}"
        );
        assert!(installed("sh"));
    }

    #[test]
    fn a_file_that_may_not_be_executed_is_no_program() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("thing"), "").unwrap();
        assert!(find("thing", &[dir.path().to_owned()], "").is_err());
        assert!(given(&dir.path().join("thing"), "").is_err());
    }
}
