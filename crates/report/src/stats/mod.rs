//! Statistics over rounds. The round is the unit of replication: each round gives one figure, and what is said of several
//! rounds is said of those figures.

mod spread;

pub use spread::{Spread, median};
