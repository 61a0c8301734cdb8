#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod environment;
mod files;
mod parse;
mod stolen;
mod system;
mod thread_clock;

pub use environment::environment;
pub use stolen::StolenClock;
pub use thread_clock::{ThreadClock, ThreadTimes};
