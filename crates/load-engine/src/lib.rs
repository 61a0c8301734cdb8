#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod error;
mod pacer;
mod plan;
mod run;
mod seed;
mod stream;
mod worker;

pub use error::RunError;
pub use plan::{DEFAULT_COUNT_LIMIT, Plan};
pub use run::{AbortWhen, Progress, Running, Stage, Stopper, StreamProgress};
