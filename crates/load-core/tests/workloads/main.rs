//! Workloads made of others, driven by hand.

mod allocations;
mod by_hand;
mod compose;
#[cfg(feature = "tower")]
mod tower;
