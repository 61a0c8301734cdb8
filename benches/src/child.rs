//! The product's side of a comparison runs in a process of its own, as its peer does: the bench starts itself again.

use crate::{Used, run};
use std::{io, process::Command};

const MARK: &str = "--as-client";
const SECRET: &str = "OPENLOOP_BENCH_SECRET";

/// The secret that the bench gave to this client.
pub fn secret() -> String {
    std::env::var(SECRET).unwrap_or_default()
}

/// The arguments of a bench that was started as a client; `None` in the bench itself.
pub fn is_client() -> Option<Vec<String>> {
    let mut arguments = std::env::args().skip(1);
    arguments.next().filter(|a| a == MARK)?;
    Some(arguments.collect())
}

/// Starts this bench again as a client with these arguments.
///
/// # Errors
/// When it cannot be started or fails.
pub fn client(arguments: &[String]) -> io::Result<(Used, Vec<f64>)> {
    client_with(arguments, "")
}

/// The same with a secret, which stands in the environment ([`secret`]) and not among the arguments.
///
/// # Errors
/// The same.
pub fn client_with(arguments: &[String], secret: &str) -> io::Result<(Used, Vec<f64>)> {
    let mut command = Command::new(std::env::current_exe()?);
    let used = run(command.arg(MARK).args(arguments).env(SECRET, secret))?;
    let numbers = used.output.split_whitespace().filter_map(|w| w.parse().ok()).collect();
    Ok((used, numbers))
}

/// A client's result, for the bench that started it.
pub fn say(numbers: &[f64]) {
    println!("{}", numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
}
