//! For tests: a made-up machine, and a probe read step by step.

use crate::{files::Root, probe::Probe};
use load_core::{Readings, SourceError};
use std::{fs, path::PathBuf, time::Duration};

/// A directory that stands for `/`.
#[derive(Debug)]
pub(crate) struct Machine(tempfile::TempDir);

impl Machine {
    pub(crate) fn new(files: &[(&str, &str)]) -> Machine {
        let machine = Machine(tempfile::tempdir().expect("a directory"));
        for (path, text) in files {
            machine.write(path, text);
        }
        machine
    }

    pub(crate) fn root(&self) -> Root {
        Root::at(self.0.path())
    }

    /// Writes into the file that is there, so that open handles see it.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
}

/// Files of another machine, kept in `fixtures/`.
pub(crate) fn fixture(name: &str) -> Root {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "fixtures", name].iter().collect();
    assert!(path.is_dir(), "{} is missing", path.display());
    Root::at(path)
}

/// Reads a probe at a time in milliseconds.
pub(crate) fn read(probe: &mut impl Probe, at_ms: u64) -> Readings {
    let (readings, result) = try_read(probe, at_ms);
    result.expect("a reading");
    readings
}

pub(crate) fn try_read(probe: &mut impl Probe, at_ms: u64) -> (Readings, Result<(), SourceError>) {
    let mut readings = Readings::new();
    let result = probe.probe(Duration::from_millis(at_ms), &mut readings);
    (readings, result)
}

/// The value of a series.
pub(crate) fn value(readings: &Readings, name: &str) -> Option<f64> {
    readings.values().iter().find(|(n, _, _)| n == name).map(|(_, _, value)| *value)
}

/// What happened, without the details.
pub(crate) fn events(readings: &Readings) -> Vec<&str> {
    readings.events().iter().map(|(what, _)| what.as_str()).collect()
}
