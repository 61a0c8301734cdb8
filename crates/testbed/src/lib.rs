#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod error;
mod known;
mod local;
mod proxy;
mod timer;

#[cfg(target_os = "linux")]
mod binary;
#[cfg(target_os = "linux")]
mod describe;
#[cfg(target_os = "linux")]
mod lease;
#[cfg(target_os = "linux")]
mod memcached;
#[cfg(target_os = "linux")]
mod nginx;
#[cfg(target_os = "linux")]
mod off_thread;
#[cfg(target_os = "linux")]
mod port;
#[cfg(target_os = "linux")]
mod postgres;
#[cfg(target_os = "linux")]
mod proc;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod redis;
#[cfg(target_os = "linux")]
mod restart;
#[cfg(target_os = "linux")]
mod secret;
#[cfg(target_os = "linux")]
mod stack;

#[cfg(target_os = "linux")]
pub use binary::installed;
pub use error::Error;
pub use known::{Known, KnownBuilder, KnownStats, Reply};
#[cfg(target_os = "linux")]
pub use lease::{HowStopped, Lease, Left, StoppedProcess, Swept, SweptRun};
#[cfg(target_os = "linux")]
pub use memcached::{Memcached, MemcachedBuilder};
#[cfg(target_os = "linux")]
pub use nginx::{Nginx, NginxBuilder};
#[cfg(target_os = "linux")]
pub use postgres::{Postgres, PostgresBuilder};
#[cfg(target_os = "linux")]
pub use proc::ProcessId;
#[cfg(target_os = "linux")]
pub use process::{LocalProcess, ProcessBuilder, StopSignal, ready};
pub use proxy::{FaultProxy, Side};
#[cfg(target_os = "linux")]
pub use redis::{Redis, RedisBuilder};
#[cfg(target_os = "linux")]
pub use stack::{Stack, StackBuilder};
