#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod accounting;
mod calibrate;
mod clock;
mod closure;
mod compose;
mod error;
mod failure;
pub mod guide;
mod histogram;
mod load;
mod names;
mod op;
mod rate;
pub mod record;
mod restart;
mod schedule;
mod source;
mod verdict;
mod workload;

pub use accounting::Accounting;
pub use calibrate::{Calibrated, NullGuard, NullTargetError, Nulled, calibrated};
pub use clock::{Clock, Sleep, VirtualTime};
pub use closure::{FnSession, FnWorkload, StateSession, WithSession, with_session, workload};
pub use compose::{
    Arm, ArmSession, ArmSessions, Arms, BoxSession, BoxWorkload, Mix, MixSession, NoArms, Then, ThenSession,
    Think, ThinkSession, ThinkTime, mix, then, think,
};
#[cfg(feature = "tower")]
#[cfg_attr(docsrs, doc(cfg(feature = "tower")))]
pub use compose::{Ask, Ignore, Look, Tower, TowerSession, tower};
pub use error::ConfigError;
pub use failure::{Class, Classify, Failure, Outcome, classify_io, io_class};
pub use histogram::{DIGITS, HIGHEST_NS, Histogram};
pub use load::{DEFAULT_OPEN_SESSIONS, Load, MAX_SESSIONS, MAX_WAITING, Overload};
pub use names::{NameId, Names, OTHER_NAMES};
pub use op::{MAX_COUNTS, MAX_STEPS, Op, Said};
pub use rate::{IntoRate, Rate};
pub use record::Record;
pub use restart::{Restart, RestartError};
pub use schedule::{ArrivalProcess, ArrivalStream, Arrivals, RateHandle, Schedule, ScheduledArrival, Shard};
pub use source::{Readings, Source, SourceError};
pub use verdict::{Evidence, Figure, NotMeasured, RULES, Rule, Status, Verdict, Worse};
pub use workload::{Session, SessionId, Workload};

#[cfg(test)]
mod schema_test;
