#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod error;

#[cfg(target_os = "linux")]
mod binary;
#[cfg(target_os = "linux")]
mod lease;
#[cfg(target_os = "linux")]
mod off_thread;
#[cfg(target_os = "linux")]
mod port;
#[cfg(target_os = "linux")]
mod proc;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod secret;

#[cfg(target_os = "linux")]
pub use binary::installed;
pub use error::Error;
#[cfg(target_os = "linux")]
pub use lease::{HowStopped, Lease, Left, StoppedProcess, Swept, SweptRun};
#[cfg(target_os = "linux")]
pub use proc::ProcessId;
#[cfg(target_os = "linux")]
pub use process::{LocalProcess, ProcessBuilder, StopSignal, ready};
