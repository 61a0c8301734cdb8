#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub use load_core::{
    self as core, Accounting, Class, Classify, Clock, ConfigError, Evidence, Failure, Figure, Histogram,
    IntoRate, Load, Op, Outcome, Overload, Rate, Readings, Record, Restart, RestartError, Rule, Schedule,
    Session, SessionId, Shard, Source, SourceError, Status, Verdict, VirtualTime, Workload, record,
    with_session, workload,
};
pub use load_engine::{self as engine, Plan, Progress, RunError, Running, Stage, Stopper, StreamProgress};
pub use report;
pub use sampler;

/// HTTP workloads.
#[cfg(feature = "http")]
#[cfg_attr(docsrs, doc(cfg(feature = "http")))]
pub use http_load as http;

/// Throw-away servers.
#[cfg(feature = "testbed")]
#[cfg_attr(docsrs, doc(cfg(feature = "testbed")))]
pub use testbed;

/// What most programs use: `use openloop::prelude::*;`
pub mod prelude {
    pub use crate::{
        Class, Failure, Load, Op, Outcome, Overload, Plan, Rate, Record, Schedule, Session, SessionId,
        Status, Workload, report, with_session, workload,
    };
    #[cfg(feature = "http")]
    pub use http_load::Http;
}
