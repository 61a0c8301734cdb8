//! pgbench.

use super::{heading, seconds, title};
use crate::{ReportError, format::percent};
use load_core::record::StreamRecord;
use std::fmt;

/// What `pgbench` would print. Its latency runs from the scheduled start to the end: our *response* time; its schedule lag is
/// our *wait*.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Pgbench {
    /// The stream, its level and round.
    pub stream: String,
    /// `-c`: our sessions.
    pub clients: u64,
    /// `-j`: our workers.
    pub threads: u64,
    /// Length of the phase in seconds.
    pub seconds: f64,
    /// Transactions that succeeded.
    pub processed: u64,
    /// Transactions that failed.
    pub failed: u64,
    /// Transactions that were too late to be sent.
    pub skipped: u64,
    /// Transactions that were tried more than once (`--max-tries`).
    pub retried: u64,
    /// All tries of them but the first.
    pub retries: u64,
    /// Transactions that succeeded, but later than the workload's limit of latency.
    pub late: u64,
    /// Whether load came by a schedule, as with `-R`.
    pub scheduled: bool,
    /// Mean and standard deviation (of a population) in ms, as printed with `-R`, `-P` or `-L`.
    pub latency_ms: Option<(f64, f64)>,
    /// Mean and maximum of the schedule lag in ms.
    pub lag_ms: Option<(f64, f64)>,
}

impl Pgbench {
    /// Of a stream.
    ///
    /// # Errors
    /// When nothing was measured in it.
    pub fn of(s: &StreamRecord) -> Result<Pgbench, ReportError> {
        if s.elapsed_ns == 0 {
            return Err(ReportError::NoData { what: format!("{}.elapsed_ns", s.title()) });
        }
        let response = s.response.as_ref().filter(|d| d.count > 0);
        let open = s.load.kind == "open";
        let wait = s.wait.as_ref().filter(|d| d.count > 0 && open);
        let counted = |name: &str| s.counters.get(name).copied().unwrap_or(0);
        Ok(Pgbench {
            stream: title(s),
            clients: s.load.concurrency,
            threads: s.load.workers,
            seconds: seconds(s),
            processed: s.accounting.succeeded,
            failed: s.accounting.failed,
            skipped: s.accounting.skipped,
            retried: counted("retried"),
            retries: counted("retries"),
            late: counted("late"),
            scheduled: open,
            latency_ms: response.map(|d| (d.mean_ns / 1e6, d.stddev_ns / 1e6)),
            lag_ms: wait.map(|d| (d.mean_ns / 1e6, d.max_ns as f64 / 1e6)),
        })
    }

    /// Transactions per second, without the time of connecting.
    pub fn tps(&self) -> f64 {
        self.processed as f64 / self.seconds
    }

    /// The latency that pgbench prints without `-R`, `-P` and `-L`: time × clients / transactions. It is arithmetic, failures
    /// included; nothing was measured.
    pub fn latency_by_arithmetic_ms(&self) -> Option<f64> {
        let all = self.processed.saturating_add(self.failed).saturating_add(self.skipped);
        (all > 0).then(|| 1000.0 * self.seconds * self.clients as f64 / all as f64)
    }
}

impl fmt::Display for Pgbench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        heading(f, "pgbench", &self.stream)?;
        let all = self.processed.saturating_add(self.failed).saturating_add(self.skipped) as f64;
        writeln!(f, "number of clients: {}\nnumber of threads: {}", self.clients, self.threads)?;
        writeln!(f, "number of transactions actually processed: {}", self.processed)?;
        let share = |n: u64| if all > 0.0 { percent(n as f64 / all) } else { percent(0.0) };
        writeln!(f, "number of failed transactions: {} ({})", self.failed, share(self.failed))?;
        if self.retried > 0 {
            writeln!(f, "number of transactions retried: {} ({})", self.retried, share(self.retried))?;
            writeln!(f, "total number of retries: {}", self.retries)?;
        }
        if self.skipped > 0 {
            writeln!(f, "number of transactions skipped: {} ({})", self.skipped, share(self.skipped))?;
        }
        if self.late > 0 {
            let share = percent(self.late as f64 / self.processed.max(1) as f64);
            let (late, of) = (self.late, self.processed);
            writeln!(f, "number of transactions above the latency limit: {late}/{of} ({share})")?;
        }
        if let Some(ms) = self.latency_by_arithmetic_ms().filter(|_| !self.scheduled) {
            let note = if self.failed > 0 { " (including failures)" } else { "" };
            writeln!(f, "latency average = {ms:.3} ms{note} by arithmetic, as without -R, -P and -L")?;
        }
        if let Some((mean, stddev)) = self.latency_ms {
            writeln!(
                f,
                "latency average = {mean:.3} ms measured, as with -P\nlatency stddev = {stddev:.3} ms"
            )?;
        }
        if let Some((mean, max)) = self.lag_ms {
            writeln!(f, "rate limit schedule lag: avg {mean:.3} (max {max:.3}) ms")?;
        }
        writeln!(f, "tps = {:.6} (without initial connection time)", self.tps())
    }
}
