//! The wire format of Redis, RESP2 and RESP3: replies parsed in place, requests encoded once.
//!
//! [`Scanner`] walks over replies where they lie, however they are cut into reads; it keeps a few words of state and
//! never stores a reply. [`decode`] makes a tree of one, for the few commands whose answers are read.

mod encode;
mod error_text;
mod protocol_error;
mod reply;
mod scan;
mod value;

#[cfg(test)]
mod tests;

pub(crate) use encode::{command, push_bulk, push_header, push_length};
pub(crate) use error_text::ErrorText;
pub(crate) use protocol_error::ProtocolError;
pub(crate) use reply::{Kind, Reply};
pub(crate) use scan::{Scanned, Scanner, Sink};
pub(crate) use value::{Value, decode};
