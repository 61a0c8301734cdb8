//! What the benches share: rounds that take turns, medians, the CPU time of child processes, targets.
//!
//! A bench stands beside its peer in the same run. It reports a miss when a median is more than 10 % beyond its target:
//! machines are shared, and smaller differences mean nothing.

mod child;
mod cores;
mod process;
mod server;
mod table;

pub use child::{client, client_with, is_client, say, secret};
pub use cores::{cores, on_core, on_cores};
pub use process::{Used, own_cpu, run};
pub use server::{Server, is_server, serve_until_closed};
pub use table::{Target, median, report};

/// How many rounds, and how long each measurement: `cargo bench --bench NAME -- ROUNDS SECONDS`.
pub fn size(rounds: usize, seconds: u64) -> (usize, u64) {
    let mut numbers = std::env::args().skip(1).filter_map(|a| a.parse::<u64>().ok());
    let rounds = numbers.next().map_or(rounds, |n| n as usize);
    (rounds.max(1), numbers.next().unwrap_or(seconds).max(1))
}
