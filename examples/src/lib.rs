//! What the examples share: their flags, Ctrl-C, progress, files and exit status.
//!
//! Exit status: 0 valid or suspect, 1 could not run, 2 rejected or a check failed, 130 interrupted (what was measured
//! until then is printed and written, marked).

pub mod blocking;
mod flags;
mod interrupt;
mod progress;
mod published;
mod run;
mod servers;
mod target;

pub use flags::{Flags, arguments};
pub use interrupt::{check_interrupted, unless_interrupted};
pub use published::{changed_servers, published_mix};
pub use run::{Failed, cleaned, finish, finish_with, measure, measure_async};
pub use servers::{Servers, Started};
pub use target::{http_target, is_local};
