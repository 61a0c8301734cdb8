//! Shared pieces of the tests.

mod judge;
mod program;

pub use judge::{check, recompute};
pub use program::{Ended, Program};

use std::io::Write;

/// Says aloud that a test cannot run here, and has it counted.
pub fn skip(test: &str, reason: &str) {
    let line = format!("SKIPPED: {test}: {reason}");
    eprintln!("{line}");
    if let Some(path) = std::env::var_os("OPENLOOP_SKIP_LOG")
        && let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path)
    {
        let _ = writeln!(file, "{line}");
    }
}

/// Whether the stated sizes are to be run (`./tests/run --full`).
pub fn full() -> bool {
    std::env::var_os("OPENLOOP_FULL").is_some()
}

/// The code in the workspace's README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
