//! Tests against a real PostgreSQL, which each starts for itself.

mod calibration;
mod connect;
mod data;
mod fixture;
mod lost;
mod run;
mod temporary;
#[cfg(feature = "tls")]
mod tls;
mod transactions;
mod watch;
