//! Shared pieces of the tests.

pub mod example;
mod judge;
mod program;

pub use judge::{check, recompute};
pub use program::{Ended, Program};

/// Says aloud that a test cannot run here; `./tests/run` counts it as skipped.
pub fn skip(test: &str, reason: &str) {
    eprintln!("SKIPPED: {test}: {reason}");
}

/// Whether the stated sizes are to be run (`./tests/run --full`).
pub fn full() -> bool {
    std::env::var_os("OPENLOOP_FULL").is_some()
}

/// The code in the workspace's README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
