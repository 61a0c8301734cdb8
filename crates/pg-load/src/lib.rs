#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod classify;
mod connection;
mod error;
mod server;

pub use classify::classify;
pub use connection::Connection;
pub use deadpool_postgres;
pub use error::Error;
pub use server::{CONNECT_TIMEOUT, Server, SslMode};
pub use tokio_postgres;
