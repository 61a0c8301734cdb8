#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod connection;
mod deadline;
mod error;
mod fault;
mod http;
mod reply;
mod request;
mod session;
mod status;

pub use bytes::Bytes;
pub use error::HttpError;
pub use http::Http;
pub use hyper::{Method, Request};
pub use reply::Reply;
pub use request::Body;
pub use session::HttpSession;
