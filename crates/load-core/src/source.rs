//! Series of readings taken beside the load.

use std::time::Duration;

/// Something that can be read again and again: the host's CPU, a server's counters, a file.
///
/// Sources run on a thread of their own, never on a worker. Names are dotted and stable (`"host.cpu.busy"`). Units are SI,
/// `"1"` for a share of a whole, `"1/s"` for how often something happens, and for a number of things what they are:
/// `"tasks"`, `"connections"`, `"cores"`.
pub trait Source: Send + 'static {
    /// Where the readings come from, for the record: `"/proc/stat"`, `"nginx stub_status"`.
    fn origin(&self) -> String;

    /// How often it is to be read; one second unless told otherwise.
    fn interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// Reads once. A reading that needs an earlier one (a rate) gives nothing the first time.
    ///
    /// # Errors
    /// Says why nothing could be read; the record then has a gap with that reason, never a zero.
    fn read(&mut self, readings: &mut Readings) -> impl Future<Output = Result<(), SourceError>>;
}

/// Why a source could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// It does not exist on this machine or server; it will not be asked again.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// It could not be read this time.
    #[error("{0}")]
    Failed(String),
}

/// What one reading gave.
#[derive(Debug, Default)]
pub struct Readings {
    values: Vec<(String, &'static str, f64)>,
    events: Vec<(String, String)>,
}

impl Readings {
    /// An empty one.
    pub fn new() -> Readings {
        Readings::default()
    }

    /// A value of a series, with its unit. A value that is not finite is left out: no data is no data.
    pub fn value(&mut self, name: impl Into<String>, unit: &'static str, value: f64) {
        if value.is_finite() {
            self.values.push((name.into(), unit, value));
        }
    }

    /// Something that happened: a counter was reset, a process was restarted.
    pub fn event(&mut self, what: impl Into<String>, detail: impl Into<String>) {
        self.events.push((what.into(), detail.into()));
    }

    /// The values: name, unit, value.
    pub fn values(&self) -> &[(String, &'static str, f64)] {
        &self.values
    }

    /// The events: what, detail.
    pub fn events(&self) -> &[(String, String)] {
        &self.events
    }

    /// Empties it for the next reading.
    pub fn clear(&mut self) {
        self.values.clear();
        self.events.clear();
    }
}
