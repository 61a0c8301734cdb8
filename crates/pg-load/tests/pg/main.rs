//! Tests against a real PostgreSQL, which each starts for itself.

mod connect;
mod fixture;
mod run;
