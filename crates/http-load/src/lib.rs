#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod address;
mod body;
mod connection;
mod deadline;
mod error;
mod fault;
mod gate;
mod http;
mod session;
mod status;
mod target;
mod template;
mod wire;

pub use error::HttpError;
pub use http::Http;
pub use session::HttpSession;
