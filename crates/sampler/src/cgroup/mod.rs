//! Groups of processes with limits: cgroup v1 and v2, and containers.

mod account;
mod container;
mod locate;
mod source;

pub use container::ContainerAccount;
pub(crate) use locate::places;
pub use source::Cgroup;
