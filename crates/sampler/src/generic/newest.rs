//! The age of the newest file in a directory.

use crate::probe::{Probe, source};
use load_core::{Readings, SourceError};
use std::{
    path::PathBuf,
    time::{Duration, SystemTime},
};

/// How old the newest file of a directory is, in seconds: of a backup, a log, a checkpoint. Read every minute.
///
/// ```
/// let backup = sampler::NewestFile::new("backup.age", "/var/backups/postgres").ending_in(".dump");
/// ```
#[derive(Debug)]
pub struct NewestFile {
    name: String,
    directory: PathBuf,
    ending: String,
    every: Duration,
}

impl NewestFile {
    /// The series `name`, of the files directly in `directory`.
    pub fn new(name: impl Into<String>, directory: impl Into<PathBuf>) -> NewestFile {
        NewestFile {
            name: name.into(),
            directory: directory.into(),
            ending: String::new(),
            every: Duration::from_secs(60),
        }
    }

    /// Only of files whose names end in this.
    pub fn ending_in(mut self, ending: impl Into<String>) -> NewestFile {
        self.ending = ending.into();
        self
    }

    /// How often it is read.
    pub fn every(mut self, interval: Duration) -> NewestFile {
        self.every = interval;
        self
    }
}

source!(NewestFile, |this| this.directory.display().to_string(), this.every);

impl Probe for NewestFile {
    fn probe(&mut self, _: Duration, readings: &mut Readings) -> Result<(), SourceError> {
        let failed = |why: String| SourceError::Failed(format!("{}: {why}", self.directory.display()));
        let newest = std::fs::read_dir(&self.directory)
            .map_err(|e| failed(e.to_string()))?
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().ends_with(&self.ending))
            .filter_map(|entry| entry.metadata().ok().filter(|m| m.is_file())?.modified().ok())
            .max()
            .ok_or_else(|| failed("no such file".into()))?;
        // A file from the future is one of a clock that was set back.
        let age = SystemTime::now().duration_since(newest).unwrap_or_default();
        readings.value(self.name.as_str(), "s", age.as_secs_f64());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{read, try_read, value};

    #[test]
    fn of_the_newest_that_ends_so() {
        let directory = tempfile::tempdir().unwrap();
        let mut probe = NewestFile::new("backup.age", directory.path()).ending_in(".dump");
        assert!(try_read(&mut probe, 0).1.is_err(), "none yet: a gap, not 0");
        for (name, age) in [("a.dump", 5000), ("b.dump", 1000), ("c.log", 1)] {
            let file = std::fs::File::create(directory.path().join(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        }
        let age = value(&read(&mut probe, 0), "backup.age").unwrap();
        assert!((1000.0..1100.0).contains(&age), "{age}");
    }
}
