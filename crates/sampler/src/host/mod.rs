//! The machine as a whole.

mod cpu;
mod disk;
mod load;
mod memory;
mod network;
mod pressure;
mod space;

pub use cpu::HostCpu;
pub use disk::HostDisks;
pub use load::HostLoad;
pub use memory::HostMemory;
pub use network::HostNetwork;
pub use pressure::HostPressure;
pub(crate) use pressure::shares as pressure_shares;
pub use space::FreeSpace;
