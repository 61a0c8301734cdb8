#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod classify;
mod connection;
mod database;
mod error;
mod pgbench;
mod script;
mod server;

pub use classify::classify;
pub use connection::Connection;
pub use database::{LeftDatabase, SweptDatabases, TemporaryDatabase};
pub use deadpool_postgres;
pub use error::Error;
pub use pgbench::{Balances, Pgbench, Progress};
pub use script::{Draw, Script};
pub use server::{CONNECT_TIMEOUT, Server, SslMode};
pub use tokio_postgres;
