//! A file that holds a number, or a text with numbers in it.

use super::values::{Values, values};
use crate::probe::{Probe, source};
use load_core::{Readings, SourceError};
use std::{
    fs::File,
    io::{ErrorKind, Read},
    path::PathBuf,
    time::Duration,
};

/// More of a file is not read.
const LARGEST: u64 = 1 << 20;

/// Numbers from a file, such as a sensor's in `/sys`. Read once a second unless told otherwise; opened anew each time,
/// so that it may be replaced by another.
///
/// ```
/// let temperature = sampler::FromFile::new("/sys/class/thermal/thermal_zone0/temp")
///     .value("host.temperature", "degC", |text| Some(text.trim().parse::<f64>().ok()? / 1000.0));
/// ```
#[derive(Debug)]
pub struct FromFile {
    path: PathBuf,
    values: Values,
    every: Duration,
}

values!(FromFile);

impl FromFile {
    /// The file at `path`. It gives nothing until a series is added.
    pub fn new(path: impl Into<PathBuf>) -> FromFile {
        FromFile { path: path.into(), values: Values::default(), every: Duration::from_secs(1) }
    }

    fn text(&self) -> Result<String, SourceError> {
        let failed = |e: std::io::Error| {
            let why = format!("{}: {e}", self.path.display());
            // One that is not there may come; one that may not be read stays so.
            if e.kind() == ErrorKind::PermissionDenied {
                SourceError::Unavailable(why)
            } else {
                SourceError::Failed(why)
            }
        };
        // Opening a pipe would wait for its other end.
        if !std::fs::metadata(&self.path).map_err(failed)?.is_file() {
            return Err(SourceError::Unavailable(format!("{}: not a file", self.path.display())));
        }
        let mut bytes = Vec::new();
        File::open(&self.path).and_then(|f| f.take(LARGEST).read_to_end(&mut bytes)).map_err(failed)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

source!(FromFile, |this| this.path.display().to_string(), this.every);

impl Probe for FromFile {
    fn probe(&mut self, at: Duration, readings: &mut Readings) -> Result<(), SourceError> {
        let text = self.text()?;
        self.values.take(at, &text, &self.path.display().to_string(), readings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{read, try_read, value};

    #[test]
    fn values_and_counters() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("stats");
        std::fs::write(&path, "temp=41500 errors=7\n").unwrap();
        let find = |key: &'static str| {
            move |text: &str| text.split_whitespace().find_map(|w| w.strip_prefix(key)?.parse::<f64>().ok())
        };
        let mut probe = FromFile::new(&path).value("temperature", "mdegC", find("temp=")).counter(
            "errors",
            "1/s",
            find("errors="),
        );
        let first = read(&mut probe, 0);
        assert_eq!((value(&first, "temperature"), value(&first, "errors")), (Some(41_500.0), None));
        std::fs::write(&path, "temp=nan errors=27\n").unwrap();
        let second = read(&mut probe, 10_000);
        assert_eq!((value(&second, "temperature"), value(&second, "errors")), (None, Some(2.0)));
    }

    #[test]
    fn no_number_says_where_but_not_what() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        let mut probe = FromFile::new(&path).number("x", "1");
        assert!(matches!(try_read(&mut probe, 0).1, Err(SourceError::Failed(_))), "it may come");
        std::fs::write(&path, "password=secret").unwrap();
        let (_, result) = try_read(&mut probe, 1000);
        let text = format!("{result:?}");
        assert!(text.contains("token") && !text.contains("secret"), "{text}");
        let mut probe = FromFile::new(directory.path()).number("x", "1");
        assert!(matches!(try_read(&mut probe, 0).1, Err(SourceError::Unavailable(_))), "a directory");
    }
}
