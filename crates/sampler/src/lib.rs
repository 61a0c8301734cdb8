#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod cgroup;
mod counter;
mod environment;
mod files;
mod generator;
mod generic;
mod host;
#[cfg(test)]
mod machines_test;
mod parse;
mod probe;
mod process;
mod runner;
mod stolen;
mod system;
#[cfg(test)]
mod testing;
mod thread_clock;

pub use cgroup::{Cgroup, ContainerAccount};
pub use environment::environment;
pub use generator::{Generator, GeneratorThreads};
pub use generic::{FromCommand, FromFile, NewestFile};
pub use host::{FreeSpace, HostCpu, HostDisks, HostLoad, HostMemory, HostNetwork, HostPressure};
pub use process::{OtherProcess, Others, ProcessTree};
pub use runner::{Sampler, SamplerError, Samples, Sampling};
pub use stolen::StolenClock;
pub use thread_clock::{ThreadClock, ThreadTimes};

/// For the fuzz target: runs every parser on the bytes.
#[doc(hidden)]
#[cfg(fuzzing)]
pub fn fuzz_parsers(bytes: &[u8]) {
    parse::every::all(bytes);
}
