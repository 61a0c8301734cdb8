//! Statistics over rounds. The round is the unit of replication: each round gives one figure, and what is said of several
//! rounds is said of those figures.

mod bootstrap;
mod mann_whitney;
mod spread;

pub use bootstrap::ratio_of_medians_ci;
pub use mann_whitney::{MannWhitney, mann_whitney, smallest_p};
pub use spread::{Spread, median};
