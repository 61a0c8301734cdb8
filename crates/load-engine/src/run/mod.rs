//! A run: the coordinator's thread, and the handle to it.

mod assemble;
mod cell;
mod coordinator;
mod evidence;
mod handle;
mod progress;
mod watch;
mod windows;

pub use handle::{Running, Stopper};
pub use progress::{Progress, Stage, StreamProgress};

pub(crate) use handle::start;
