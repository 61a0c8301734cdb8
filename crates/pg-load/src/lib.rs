#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod cancel;
mod classify;
mod connection;
mod custom;
mod database;
mod deadline;
mod environment;
mod error;
mod execute;
mod null;
mod pgbench;
mod pool;
mod script;
mod server;
mod session;
mod settings;
mod source;
mod tries;
mod workload;

pub use classify::classify;
pub use connection::Connection;
pub use custom::{Custom, CustomPooled, CustomPooledSession, CustomSession, commit, custom, custom_pooled};
pub use database::{LeftDatabase, SweptDatabases, TemporaryDatabase};
pub use deadpool_postgres;
pub use error::Error;
pub use execute::Protocol;
#[cfg(target_os = "linux")]
pub use null::NullTarget;
pub use pgbench::{Balances, Pgbench, Progress};
pub use pool::{Pool, PoolStatus, Recycling};
pub use script::{Draw, Script};
pub use server::{CONNECT_TIMEOUT, Server, SslMode};
pub use session::PgSession;
pub use settings::STATEMENT_TIMEOUT;
pub use source::{PostgresStatus, StatementTime, slowest_statements};
pub use tokio_postgres;
pub use workload::Postgres;
