#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod compare;
pub mod compat;
mod contradictions;
mod doc;
mod error;
mod format;
mod interference;
mod json;
mod limiter;
mod markdown;
mod merge;
mod metric;
mod rounds;
mod sections;
pub mod stats;
mod table;
mod text;
mod threshold;

pub use compare::{Change, Compare, Compared, Comparison, Difference, compare};
pub use contradictions::contradictions;
pub use error::ReportError;
pub use interference::{Interfered, Interference, RejectedRatio, interference};
pub use json::{json, read_json};
pub use limiter::{FULL, GENERATOR_FULL, Limiter, Used, limiter, mean_within};
pub use markdown::{markdown, markdown_with};
pub use merge::merge;
pub use rounds::Rounds;
pub use table::{Csv, csv};
pub use text::{Text, text};
pub use threshold::{Found, Judged, Threshold};
