#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![allow(dead_code)]

mod admin;
mod classify;
mod commands;
mod connection;
mod error;
mod fred_client;
mod isolation;
mod keys;
mod lean;
mod null;
mod plan;
mod resp;
mod session;
mod tally;
mod target;
#[cfg(feature = "tls")]
mod tls;
mod workload;

pub use classify::classify;
pub use commands::{Command, Payload};
pub use error::RedisError;
pub use fred;
pub use fred_client::{FredLoad, FredSession};
pub use isolation::{Isolation, Space, Swept};
pub use keys::Keys;
pub use null::NullTarget;
pub use session::RedisSession;
pub use target::{DEFAULT_DATABASE, Protocol, Target};
#[cfg(feature = "tls")]
pub use tls::Tls;
pub use workload::{Client, Redis, RedisBuilder};
