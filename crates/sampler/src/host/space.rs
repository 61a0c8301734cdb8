//! Free space of file systems.

use crate::{probe::Probe, probe::source, system};
use load_core::{Readings, SourceError};
use std::{path::PathBuf, time::Duration};

/// `host.space.NAME.*`: what is free where a path is.
///
/// | series | unit | what |
/// |---|---|---|
/// | `.total` | B | size of the file system |
/// | `.available` | B | what an ordinary user can still write |
/// | `.files_available` | files | files that can still be made; absent where there is no limit |
///
/// Asking a network file system whose server is gone may block the sampler's thread; name local paths.
#[derive(Debug)]
pub struct FreeSpace {
    name: String,
    path: PathBuf,
}

impl FreeSpace {
    /// Of the file system that holds `path`, under the name `name`.
    pub fn new(name: impl Into<String>, path: impl Into<PathBuf>) -> FreeSpace {
        FreeSpace { name: name.into(), path: path.into() }
    }
}

source!(FreeSpace, |this| format!("statvfs {}", this.path.display()));

impl Probe for FreeSpace {
    fn probe(&mut self, _: Duration, readings: &mut Readings) -> Result<(), SourceError> {
        let space = system::space(&self.path).map_err(|e| {
            let why = format!("{}: {e}", self.path.display());
            if e.kind() == std::io::ErrorKind::Unsupported {
                SourceError::Unavailable(why)
            } else {
                SourceError::Failed(why)
            }
        })?;
        let mut value = |what: &str, unit, number: u64| {
            readings.value(format!("host.space.{}.{what}", self.name), unit, number as f64);
        };
        value("total", "B", space.total);
        value("available", "B", space.available);
        if let Some(files) = space.files_available {
            value("files_available", "files", files);
        }
        Ok(())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::testing::{read, try_read, value};

    #[test]
    fn of_a_directory_that_is_there_and_of_one_that_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let readings = read(&mut FreeSpace::new("tmp", directory.path()), 0);
        let (total, available) =
            (value(&readings, "host.space.tmp.total"), value(&readings, "host.space.tmp.available"));
        assert!(total.unwrap() >= available.unwrap());
        let gone = directory.path().join("gone");
        let (readings, result) = try_read(&mut FreeSpace::new("gone", &gone), 0);
        assert!(readings.values().is_empty() && result.is_err());
    }
}
