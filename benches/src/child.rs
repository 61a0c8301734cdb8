//! The product's side of a comparison runs in a process of its own, as its peer does: the bench starts itself again.

use crate::{Used, run};
use std::{io, process::Command};

const MARK: &str = "--as-client";

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
    let used = run(Command::new(std::env::current_exe()?).arg(MARK).args(arguments))?;
    let numbers = used.output.split_whitespace().filter_map(|w| w.parse().ok()).collect();
    Ok((used, numbers))
}

/// A client's result, for the bench that started it.
pub fn say(numbers: &[f64]) {
    println!("{}", numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
}
