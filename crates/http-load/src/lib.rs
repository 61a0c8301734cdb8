#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod connection;
mod deadline;
mod error;
mod fault;
mod http;
mod nginx;
mod null;
mod reply;
mod request;
mod session;
mod status;
#[cfg(feature = "tls")]
mod tls;

pub use bytes::Bytes;
pub use error::HttpError;
pub use http::Http;
pub use hyper::{Method, Request};
pub use nginx::NginxStatus;
pub use null::NullTarget;
pub use reply::Reply;
pub use request::Body;
pub use session::HttpSession;
#[cfg(feature = "tls")]
#[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
pub use tls::Tls;
