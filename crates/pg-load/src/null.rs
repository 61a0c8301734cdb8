//! A target that answers at once, to find out what the client itself can do.

/// How the null target names its version, by which sessions know that there is no data to look for.
pub(crate) const VERSION: &str = "null target";
