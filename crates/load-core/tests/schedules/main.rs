//! Schedules, judged without a clock.

mod even;
mod piecewise;
mod poisson;
mod process;
mod refused;
