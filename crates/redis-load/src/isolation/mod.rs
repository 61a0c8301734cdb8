//! A part of a database that is the run's own, and is gone when the run is.
//!
//! Two things stand for a run on the server: its entry in the hash [`RUNS`] (who it is, under its prefix), and a key that
//! expires unless the run renews it. A later run that finds an entry asks whether its process lives; if it is dead, its
//! keys are removed. The hash is gone when the last run is.

mod foreign;
mod keeper;
mod owner;
mod runs;
mod space;
mod sweep;

pub(crate) use space::SpaceInfo;
pub use space::{Isolation, Space};
pub use sweep::Swept;

/// The hash of all runs in a database, by prefix.
const RUNS: &str = "openloop:runs";
/// Begins the keys by which runs show that they live.
const BEAT: &str = "openloop:beat:";
