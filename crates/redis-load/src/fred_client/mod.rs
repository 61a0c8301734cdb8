//! The general client, [fred], with every setting made for measuring.
//!
//! Its defaults are made for applications: it has no time limits, sends commands again when a connection is lost, queues them
//! without bound during an outage, and leaves Nagle's algorithm on. Under load each of them hides what happened. Here a lost
//! connection is a failed operation and a new session.

mod closure;
mod connect;
mod frames;
mod requests;
mod session;
mod settings;

pub use closure::{FredLoad, FredSession};
pub(crate) use connect::Connected;
pub(crate) use session::FredCommands;
