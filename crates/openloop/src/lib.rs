#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub use load_core::{self as core, *};
pub use load_engine::{
    self as engine, AbortWhen, Plan, Progress, RunError, Running, Stage, Stopper, StreamProgress,
};
pub use report;
pub use sampler;

/// HTTP workloads.
#[cfg(feature = "http")]
#[cfg_attr(docsrs, doc(cfg(feature = "http")))]
pub use http_load as http;

/// PostgreSQL workloads.
#[cfg(feature = "pg")]
#[cfg_attr(docsrs, doc(cfg(feature = "pg")))]
pub use pg_load as pg;

/// Redis workloads.
#[cfg(feature = "redis")]
#[cfg_attr(docsrs, doc(cfg(feature = "redis")))]
pub use redis_load as redis;

/// Throw-away servers.
#[cfg(feature = "testbed")]
#[cfg_attr(docsrs, doc(cfg(feature = "testbed")))]
pub use testbed;

/// What most programs use: `use openloop::prelude::*;`
pub mod prelude {
    pub use crate::{
        AbortWhen, BoxWorkload, Class, Failure, Load, Op, Outcome, Overload, Plan, Rate, Record, Schedule,
        Session, SessionId, Status, Workload, mix, report, then, think, with_session, workload,
    };
    #[cfg(feature = "http")]
    pub use http_load::Http;
    #[cfg(feature = "pg")]
    pub use pg_load::{Pgbench, Postgres};
    #[cfg(feature = "redis")]
    pub use redis_load::Redis;
}
