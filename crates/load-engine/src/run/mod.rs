//! A run: the coordinator's thread, and the handle to it.

mod abort;
mod assemble;
mod calibrate;
mod cell;
mod coordinator;
mod evidence;
mod gaps;
mod handle;
mod progress;
mod scaling;
mod until;
mod watch;
mod windows;

pub use abort::AbortWhen;
pub use handle::{Running, Stopper};
pub use progress::{Progress, Stage, StreamProgress};

pub(crate) use handle::start;
