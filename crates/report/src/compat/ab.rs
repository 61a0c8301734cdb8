//! ApacheBench.

use super::{Samples, heading, seconds, title};
use crate::{ReportError, format::NONE};
use load_core::{Class, record::StreamRecord};
use std::fmt;

/// What `ab` would print. Its Total runs from the start of the connection to the end of the answer: our *service* time, in
/// which a step `connect` is ab's Connect and a step `first_byte` ab's Waiting, when the workload marks them.
///
/// Its rows are computed each by itself, so they do not add up; Processing (Total less Connect, request by request) is given
/// only where nothing was connected, for then it is Total.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Ab {
    /// The stream, its level and round.
    pub stream: String,
    /// `-c`: our sessions.
    pub concurrency: u64,
    /// Length of the phase in seconds.
    pub seconds: f64,
    /// Operations that ended with an answer.
    pub complete: u64,
    /// Failures that are no answer. ab does not count an answer of another status as failed.
    pub failed: u64,
    /// Failures of class `status`.
    pub non_2xx: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Connect, Processing, Waiting and Total, as far as they are known.
    pub rows: [Option<AbRow>; 4],
    /// Total at 50, 66, 75, 80, 90, 95, 98, 99 and 100 %, in whole ms.
    pub percentages: [(u64, u64); 9],
}

/// A row of ab's "Connection Times", in ms.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct AbRow {
    /// Shortest.
    pub min: u64,
    /// Mean: cut to whole µs, then rounded to ms.
    pub mean: u64,
    /// Around the cut mean, divided by n − 1.
    pub sd: f64,
    /// ab's own median, which takes the wrong neighbours of the middle.
    pub median: u64,
    /// Longest.
    pub max: u64,
}

fn ms(us: u64) -> u64 {
    us.saturating_add(500) / 1000
}

/// ab's mean: whole µs.
pub(super) fn mean(x: &Samples) -> Option<u64> {
    x.sum().checked_div(x.len().into()).map(|mean| mean as u64)
}

/// ab's standard deviation, in µs.
pub(super) fn sd(x: &Samples) -> Option<f64> {
    let mean = mean(x)? as f64;
    Some(if x.len() < 2 { 0.0 } else { (x.squares(mean) / (x.len() - 1) as f64).sqrt() })
}

/// ab's median: for an odd number the mean of the middle one and the next above it, cut; for an even number the upper of the
/// two in the middle.
pub(super) fn median(x: &Samples) -> Option<u64> {
    let n = x.len();
    let middle = x.at(n / 2)?;
    match n % 2 == 1 && n > 1 {
        true => Some((middle.saturating_add(x.at(n / 2 + 1)?)) / 2),
        false => Some(middle),
    }
}

impl AbRow {
    /// Of samples; `None` when there is none.
    pub fn of(x: &Samples) -> Option<AbRow> {
        Some(AbRow {
            min: ms(x.min()?),
            mean: ms(mean(x)?),
            sd: sd(x)? / 1000.0,
            median: ms(median(x)?),
            max: ms(x.max()?),
        })
    }
}

impl Ab {
    /// Of a stream.
    ///
    /// # Errors
    /// When it has no sample, or a histogram cannot be read.
    pub fn of(s: &StreamRecord) -> Result<Ab, ReportError> {
        let none = || ReportError::NoData { what: format!("{}.service", s.title()) };
        let total = Samples::of_distribution(s.service.as_ref().ok_or_else(none)?)?;
        let row = AbRow::of(&total).ok_or_else(none)?;
        let step =
            |name: &str| s.steps.get(name).filter(|d| d.count > 0).map(Samples::of_distribution).transpose();
        // A request on a connection that was there has connected in no time.
        let reused = |c: &Samples| (0, total.len().saturating_sub(c.len()));
        let connect = step("connect")?.map(|c| Samples::counted(c.iter().chain([reused(&c)])));
        let connect = connect.as_ref().and_then(AbRow::of);
        let waiting = step("first_byte")?.as_ref().and_then(AbRow::of);
        let processing = connect.is_none().then_some(row);
        let failed = s.failures.iter().filter(|f| f.class != Class::Status);
        let other = s.failures.iter().filter(|f| f.class == Class::Status);
        let non_2xx = other.map(|f| f.count).fold(0, u64::saturating_add);
        let at = |p: u64| (p, ms(total.ab_percentile(p).unwrap_or(0)));
        Ok(Ab {
            stream: title(s),
            concurrency: s.load.concurrency,
            seconds: seconds(s),
            complete: s.accounting.succeeded.saturating_add(non_2xx),
            failed: failed.map(|f| f.count).fold(0, u64::saturating_add),
            non_2xx,
            bytes: s.bytes_in,
            rows: [connect, processing, waiting, Some(row)],
            percentages: [50, 66, 75, 80, 90, 95, 98, 99, 100].map(at),
        })
    }

    /// Time per request in ms as ab has it: concurrency × time / requests. It is arithmetic; nothing was measured.
    pub fn time_per_request_ms(&self) -> Option<f64> {
        (self.complete > 0).then(|| self.concurrency as f64 * self.seconds * 1000.0 / self.complete as f64)
    }
}

impl fmt::Display for Ab {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        heading(f, "ab", &self.stream)?;
        writeln!(f, "Concurrency Level:      {}", self.concurrency)?;
        writeln!(f, "Time taken for tests:   {:.3} seconds", self.seconds)?;
        writeln!(f, "Complete requests:      {}", self.complete)?;
        writeln!(f, "Failed requests:        {}", self.failed)?;
        if self.non_2xx > 0 {
            writeln!(f, "Non-2xx responses:      {}", self.non_2xx)?;
        }
        writeln!(f, "Total transferred:      {} bytes", self.bytes)?;
        if let Some(each) = self.time_per_request_ms().filter(|_| self.seconds > 0.0) {
            writeln!(f, "Requests per second:    {:.2} [#/sec] (mean)", self.complete as f64 / self.seconds)?;
            writeln!(f, "Time per request:       {each:.3} [ms] (mean)")?;
            let across = self.seconds * 1000.0 / self.complete as f64;
            writeln!(f, "Time per request:       {across:.3} [ms] (mean, across all concurrent requests)")?;
            let rate = self.bytes as f64 / 1024.0 / self.seconds;
            writeln!(f, "Transfer rate:          {rate:.2} [Kbytes/sec] received")?;
        }
        writeln!(f, "\nConnection Times (ms)\n              min  mean[+/-sd] median   max")?;
        for (name, row) in ["Connect:", "Processing:", "Waiting:", "Total:"].into_iter().zip(&self.rows) {
            match row {
                Some(r) => {
                    let AbRow { min, mean, sd, median, max } = r;
                    writeln!(f, "{name:<12}{min:>5} {mean:>4} {sd:>5.1} {median:>6} {max:>7}")?;
                }
                None => writeln!(f, "{name:<12}{NONE:>5}")?,
            }
        }
        writeln!(f, "\nPercentage of the requests served within a certain time (ms)")?;
        for (p, ms) in self.percentages {
            let longest = if p == 100 { " (longest request)" } else { "" };
            writeln!(f, "{:>4}%  {ms:>5}{longest}", p)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_one_to_a_hundred() {
        let x = Samples::exact(1..=100);
        assert_eq!(mean(&x), Some(50), "cut, not rounded");
        assert!((sd(&x).unwrap() - 29.0158).abs() < 1e-4);
        assert_eq!([50, 90, 99, 100].map(|p| x.ab_percentile(p).unwrap()), [51, 91, 100, 100]);
        assert_eq!([0, 50, 90, 99, 100].map(|p| x.ab_csv_percentile(p).unwrap()), [1, 51, 91, 100, 100]);
    }

    #[test]
    fn its_median() {
        assert_eq!(median(&Samples::exact(1..=5)), Some(3), "(3 + 4) / 2, cut");
        assert_eq!(median(&Samples::exact(1..=4)), Some(3));
        assert_eq!(median(&Samples::exact([7])), Some(7));
        assert_eq!(median(&Samples::exact([])), None);
        assert_eq!(AbRow::of(&Samples::exact([])), None);
    }

    #[test]
    fn whole_milliseconds() {
        assert_eq!([499, 500, 1499, 1500].map(ms), [0, 1, 1, 2]);
        let row = AbRow::of(&Samples::exact([1_000_000, 1_148_000])).unwrap();
        assert_eq!((row.min, row.mean, row.median, row.max), (1000, 1074, 1148, 1148));
    }
}
