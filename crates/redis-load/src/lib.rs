#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![allow(dead_code)]

mod admin;
mod classify;
mod commands;
mod connection;
mod error;
mod isolation;
mod keys;
mod lean;
mod plan;
mod resp;
mod session;
mod tally;
mod target;
mod workload;

pub use classify::classify;
pub use commands::{Command, Payload};
pub use error::RedisError;
pub use isolation::{Isolation, Space, Swept};
pub use keys::Keys;
pub use session::RedisSession;
pub use target::{DEFAULT_DATABASE, Protocol, Target};
pub use workload::{Client, Redis, RedisBuilder};
