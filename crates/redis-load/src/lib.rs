#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![allow(dead_code)]

mod admin;
mod classify;
mod commands;
mod connection;
mod environment;
mod error;
mod fred_client;
mod hits;
mod isolation;
mod keys;
mod lean;
#[cfg(target_os = "linux")]
mod null;
mod plan;
mod prefill;
mod resp;
mod session;
mod status;
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
#[cfg(target_os = "linux")]
pub use null::NullTarget;
pub use prefill::{Prefill, Prefilled};
pub use session::RedisSession;
pub use status::RedisStatus;
pub use target::{DEFAULT_DATABASE, Protocol, Target};
#[cfg(feature = "tls")]
pub use tls::Tls;
pub use workload::{Client, Redis, RedisBuilder};
