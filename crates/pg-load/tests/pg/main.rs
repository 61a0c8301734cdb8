//! Tests against a real PostgreSQL, which each starts for itself.

mod calibration;
mod connect;
mod contention;
mod data;
mod engine;
mod fixture;
mod limits;
mod lost;
mod parity;
mod pooler;
mod pools;
mod retries;
mod run;
mod secrets;
mod temporary;
#[cfg(feature = "tls")]
mod tls;
mod transactions;
mod watch;
