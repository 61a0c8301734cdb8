//! How numbers and words are written: the same in every locale, with one sign for "no data".

mod number;
mod time;
mod words;

pub(crate) use number::{bytes, count, fixed, percent, short};
pub(crate) use time::{TimeUnit, duration};
pub(crate) use words::{clean, list, plural, wrap};

/// What stands where there is no data; never 0, never NaN.
pub(crate) const NONE: &str = "–";
