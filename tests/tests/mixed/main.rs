//! The mixed load as a user meets it: stopped, killed, on given servers, beside another run, with servers that fail.

mod alone_half;
mod faults;
mod given;
mod stopped;

const MIXED_LOAD: &str = env!("CARGO_BIN_EXE_example-mixed-load");
const ALL: &[&str] = &["nginx", "postgres", "redis-server"];
