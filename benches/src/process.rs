//! Programs under comparison, and the CPU time that they took.

use std::{
    io,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// What a child process used.
#[derive(Debug, Clone)]
pub struct Used {
    /// Its standard output.
    pub output: String,
    /// CPU time of it and its children, user and system.
    pub cpu: Duration,
    /// From its start to its end.
    pub wall: Duration,
}

/// Runs a program to its end. One at a time: CPU time is told by the growth of all children's.
///
/// # Errors
/// When it cannot be started or fails.
pub fn run(command: &mut Command) -> io::Result<Used> {
    let before = children_cpu()?;
    let start = Instant::now();
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    let wall = start.elapsed();
    let cpu = children_cpu()?.saturating_sub(before);
    if !output.status.success() {
        return Err(io::Error::other(format!("{command:?} ended with {}", output.status)));
    }
    Ok(Used { output: String::from_utf8_lossy(&output.stdout).into_owned(), cpu, wall })
}

/// CPU time of this process so far, all threads.
pub fn own_cpu() -> Duration {
    cpu_of("self", 11).unwrap_or_default()
}

/// CPU time of the children that were waited for.
fn children_cpu() -> io::Result<Duration> {
    cpu_of("self", 13)
}

/// Two fields of a process's `stat` (counted after the name), in ticks of 10 ms.
pub(crate) fn cpu_of(pid: &str, field: usize) -> io::Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields: Vec<&str> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<u64>().ok()).unwrap_or(0);
    Ok(Duration::from_millis(10 * (ticks(field) + ticks(field + 1))))
}
