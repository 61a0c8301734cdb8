//! redis-benchmark.

use super::{Samples, heading, title};
use crate::ReportError;
use load_core::record::StreamRecord;
use std::fmt;

/// What `redis-benchmark` would print. Its latency runs from just before the write to the first readable event after it: our
/// *service* time, which ends a little later, when the reply has been read. It keeps latencies in buckets of 8 µs below
/// 16.4 ms and ends them at 3 s; so do these figures.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RedisBenchmark {
    /// The stream, its level and round.
    pub stream: String,
    /// `-c`: our sessions.
    pub clients: u64,
    /// Operations that ended well.
    pub requests: u64,
    /// Length of the phase in whole ms, as it is divided by.
    pub elapsed_ms: u64,
    /// Mean, minimum, 50th, 95th and 99th percentile, and maximum, in ms.
    pub latency_ms: [f64; 6],
}

/// Lowest value, highest value and significant digits of its histogram, in µs.
const BOUNDS: (u64, u64, u8) = (10, 3_000_000, 3);

/// Its six figures in ms, of samples in µs.
pub(super) fn latency_ms(samples: &Samples) -> Option<[f64; 6]> {
    let (low, high, digits) = BOUNDS;
    let mut h = hdrhistogram::Histogram::<u64>::new_with_bounds(low, high, digits).ok()?;
    for (us, n) in samples.iter() {
        h.record_n(us.min(high), n).ok()?;
    }
    let bucketed = Samples::counted(h.iter_recorded().map(|s| (s.value_iterated_to(), s.count_at_value())));
    // Percentiles are the upper ends of buckets, the mean is taken over their middles.
    let upper = |us: u64| h.highest_equivalent(us) as f64 / 1000.0;
    let middles = bucketed.iter().map(|(us, n)| h.median_equivalent(us) as f64 * n as f64);
    let mean = middles.sum::<f64>() / bucketed.len() as f64 / 1000.0;
    Some([
        mean,
        h.lowest_equivalent(bucketed.min()?) as f64 / 1000.0,
        upper(bucketed.hdr_c_percentile(50.0)?),
        upper(bucketed.hdr_c_percentile(95.0)?),
        upper(bucketed.hdr_c_percentile(99.0)?),
        upper(bucketed.max()?),
    ])
}

impl RedisBenchmark {
    /// Of a stream.
    ///
    /// # Errors
    /// When it has no sample, or its histogram cannot be read.
    pub fn of(s: &StreamRecord) -> Result<RedisBenchmark, ReportError> {
        let none = || ReportError::NoData { what: format!("{}.service", s.title()) };
        let samples = Samples::of_distribution(s.service.as_ref().ok_or_else(none)?)?;
        Ok(RedisBenchmark {
            stream: title(s),
            clients: s.load.concurrency,
            requests: s.accounting.succeeded,
            elapsed_ms: s.elapsed_ns / 1_000_000,
            latency_ms: latency_ms(&samples).ok_or_else(none)?,
        })
    }

    /// Requests per second.
    pub fn requests_per_s(&self) -> Option<f64> {
        (self.elapsed_ms > 0).then(|| self.requests as f64 * 1000.0 / self.elapsed_ms as f64)
    }
}

impl fmt::Display for RedisBenchmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        heading(f, "redis-benchmark", &self.stream)?;
        let seconds = self.elapsed_ms as f64 / 1000.0;
        writeln!(f, "  {} requests completed in {seconds:.2} seconds", self.requests)?;
        writeln!(f, "  {} parallel clients\n\nSummary:", self.clients)?;
        if let Some(rate) = self.requests_per_s() {
            writeln!(f, "  throughput summary: {rate:.2} requests per second")?;
        }
        writeln!(f, "  latency summary (msec):")?;
        let names = ["avg", "min", "p50", "p95", "p99", "max"];
        writeln!(f, "    {}", names.map(|n| format!("{n:>9}")).join(" "))?;
        writeln!(f, "    {}", self.latency_ms.map(|x| format!("{x:>9.3}")).join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_of_eight_microseconds() {
        // Printed values below 16.4 ms are k · 8 + 7 µs: 0.135 and 0.143 ms are such.
        let [mean, min, p50, p95, p99, max] = latency_ms(&Samples::counted([(130, 60), (140, 40)])).unwrap();
        assert_eq!((min, p50, p95, p99, max), (0.128, 0.135, 0.143, 0.143, 0.143));
        assert!((mean - 0.1352).abs() < 1e-9, "{mean}: middles 132 and 140");
    }

    #[test]
    fn latencies_end_at_three_seconds() {
        let [.., max] = latency_ms(&Samples::exact([5_000_000])).unwrap();
        assert!((max - 3000.0).abs() < 2.0, "{max}");
        assert_eq!(latency_ms(&Samples::exact([])), None);
    }
}
