//! Processes with their children, and who else is busy.

pub(crate) mod files;
mod members;
mod others;
mod source;
mod threads;
mod usage;

pub use others::{OtherProcess, Others};
pub use source::ProcessTree;
