//! Workloads from workloads.

mod arms;
mod boxed;
mod choice;
mod mix;
mod then;
mod think;
#[cfg(feature = "tower")]
mod tower;

pub use arms::{Arm, ArmSession, ArmSessions, Arms, NoArms};
pub use boxed::{BoxSession, BoxWorkload};
pub use mix::{Mix, MixSession, mix};
pub use then::{Then, ThenSession, then};
pub use think::{Think, ThinkSession, ThinkTime, think};
#[cfg(feature = "tower")]
pub use tower::{Ask, Ignore, Look, Tower, TowerSession, tower};
