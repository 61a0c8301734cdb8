//! The numbers that other tools would print of the same operations: every tool has its own percentile, its own standard
//! deviation and its own mean, so a number of ours stands beside one of theirs only when it is computed in their way.
//!
//! All of them are **computed from our histogram**, not measured by the tool: buckets of three digits take the place of exact
//! values (0.05 % off at most), and what the tool measures at other instants is named at each block.
//!
//! ```
//! use report::compat::Samples;
//! let x = Samples::exact(1..=100);
//! assert_eq!(x.wrk_percentile(50.0), Some(51));
//! assert_eq!(x.hdr_c_percentile(50.0), Some(50));
//! assert_eq!(x.linear_percentile(50.0), Some(50.5));      // k6, NumPy
//! ```

mod ab;
mod pgbench;
mod redis_benchmark;
mod samples;
mod wrk;

pub use ab::{Ab, AbRow};
pub use pgbench::Pgbench;
pub use redis_benchmark::RedisBenchmark;
pub use samples::Samples;
pub use wrk::{Wrk, WrkLatency};

use load_core::record::StreamRecord;

/// The line above each block.
fn heading(f: &mut std::fmt::Formatter<'_>, tool: &str, stream: &str) -> std::fmt::Result {
    writeln!(f, "as {tool} would print it, computed from the histogram of {}", crate::format::clean(stream))
}

/// What each block says of itself.
fn title(s: &StreamRecord) -> String {
    s.title()
}

fn seconds(s: &StreamRecord) -> f64 {
    s.elapsed_ns as f64 / 1e9
}
