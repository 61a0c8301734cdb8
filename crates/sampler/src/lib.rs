#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod counter;
mod environment;
mod files;
mod host;
mod parse;
mod probe;
mod stolen;
mod system;
#[cfg(test)]
mod testing;
mod thread_clock;

pub use environment::environment;
pub use host::{FreeSpace, HostCpu, HostDisks, HostLoad, HostMemory, HostNetwork, HostPressure};
pub use stolen::StolenClock;
pub use thread_clock::{ThreadClock, ThreadTimes};
