#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![allow(dead_code)]

mod classify;
mod commands;
mod connection;
mod error;
mod keys;
mod resp;
mod target;

pub use commands::{Command, Payload};
pub use error::Error;
pub use keys::Keys;
pub use target::{DEFAULT_DATABASE, Protocol, Target};
