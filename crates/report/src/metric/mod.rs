//! Figures of a stream by the names that the record uses.

mod figure;

pub(crate) use figure::{Metric, Unit};
