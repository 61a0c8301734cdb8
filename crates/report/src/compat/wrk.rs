//! wrk.

use super::{Samples, heading, seconds, title};
use crate::{ReportError, format::NONE};
use load_core::{Class, record::StreamRecord};
use std::fmt;

/// What `wrk --latency` would print. Its latency runs from the first write of a request to the end of the answer: our
/// *service* time.
///
/// wrk adds samples that it did not measure: for each that took at least twice the mean cycle time of a connection, one at
/// every whole cycle below it (its correction for coordinated omission). `corrected` has them, as wrk prints, `measured` has
/// not. Its row of requests per second by thread and 100 ms is left out: the record has no such windows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Wrk {
    /// The stream, its level and round.
    pub stream: String,
    /// `-t`: our workers.
    pub threads: u64,
    /// `-c`: our sessions.
    pub connections: u64,
    /// Operations that ended, good or bad with an answer.
    pub requests: u64,
    /// Length of the phase in seconds.
    pub seconds: f64,
    /// Bytes received.
    pub bytes: u64,
    /// As measured.
    pub measured: WrkLatency,
    /// With wrk's correction; `None` where it would add more than ten million times.
    pub corrected: Option<WrkLatency>,
    /// Failures by wrk's names: connect, read, write, timeout. What we do not tell from a read is a read.
    pub socket_errors: [u64; 4],
    /// Failures of class `status`.
    pub bad_status: u64,
}

/// wrk's figures of a latency, in µs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct WrkLatency {
    /// Mean.
    pub mean: f64,
    /// Divided by n − 1.
    pub stdev: f64,
    /// Longest.
    pub max: u64,
    /// Per cent of the samples within one standard deviation of the mean.
    pub within_stdev: f64,
    /// The 50th, 75th, 90th and 99th percentile.
    pub percentiles: [u64; 4],
}

impl WrkLatency {
    /// Of samples; `None` when there is none.
    pub fn of(samples: &Samples) -> Option<WrkLatency> {
        let (mean, stdev) = (samples.mean()?, samples.stddev_of_sample()?);
        let inside = samples.iter().filter(|(x, _)| (mean - stdev..=mean + stdev).contains(&(*x as f64)));
        let p = |p| samples.wrk_percentile(p);
        Some(WrkLatency {
            mean,
            stdev,
            max: samples.max()?,
            within_stdev: 100.0 * inside.map(|(_, n)| n as f64).sum::<f64>() / samples.len() as f64,
            percentiles: [p(50.0)?, p(75.0)?, p(90.0)?, p(99.0)?],
        })
    }
}

/// The most additions of the correction: wrk's own samples end at its timeout, ours may last an hour.
const MOST_ADDED: u64 = 10_000_000;

/// wrk's correction: for each value of at least twice the interval, one sample at every whole interval below it, as far as
/// that is above the interval. `None` where it would add too often.
pub(super) fn corrected(samples: &Samples, interval: u64) -> Option<Samples> {
    if interval == 0 {
        return None;
    }
    let long = |x: &(u64, u64)| x.0 / 2 >= interval;
    let steps: u64 = samples.iter().filter(long).map(|(x, _)| x / interval).fold(0, u64::saturating_add);
    if steps > MOST_ADDED {
        return None;
    }
    let added = samples.iter().filter(long).flat_map(|(x, n)| {
        let below = (1..).map(move |k| x.saturating_sub(k * interval)).take_while(|x| *x > interval);
        below.map(move |x| (x, n))
    });
    Some(Samples::counted(samples.iter().chain(added)))
}

impl Wrk {
    /// Of a stream.
    ///
    /// # Errors
    /// When it has no sample, or its histogram cannot be read.
    pub fn of(s: &StreamRecord) -> Result<Wrk, ReportError> {
        let none = || ReportError::NoData { what: format!("{}.service", s.title()) };
        let samples = Samples::of_distribution(s.service.as_ref().ok_or_else(none)?)?;
        let failed = |class: fn(&Class) -> bool| {
            s.failures.iter().filter(|f| class(&f.class)).map(|f| f.count).fold(0, u64::saturating_add)
        };
        let requests = s.accounting.succeeded.saturating_add(failed(|c| *c == Class::Status));
        let cycles = requests.checked_div(s.load.concurrency).unwrap_or(0);
        let interval = (s.elapsed_ns / 1000).checked_div(cycles);
        let corrected = match interval {
            // Fewer requests than connections: wrk corrects nothing.
            None => Some(samples.clone()),
            Some(interval) => corrected(&samples, interval),
        };
        Ok(Wrk {
            stream: title(s),
            threads: s.load.workers,
            connections: s.load.concurrency,
            requests,
            seconds: seconds(s),
            bytes: s.bytes_in,
            measured: WrkLatency::of(&samples).ok_or_else(none)?,
            corrected: corrected.as_ref().and_then(WrkLatency::of),
            socket_errors: [
                failed(|c| *c == Class::Connect),
                failed(|c| matches!(c, Class::Closed | Class::Reset | Class::Protocol)),
                0,
                failed(|c| *c == Class::Timeout),
            ],
            bad_status: failed(|c| *c == Class::Status),
        })
    }
}

impl fmt::Display for Wrk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        heading(f, "wrk", &self.stream)?;
        writeln!(f, "  {} threads and {} connections", self.threads, self.connections)?;
        writeln!(f, "  Thread Stats   Avg      Stdev     Max   +/- Stdev")?;
        let rows = [("Latency", self.corrected.as_ref()), ("measured", Some(&self.measured))];
        for (name, latency) in rows {
            match latency {
                Some(l) => {
                    let (mean, stdev) = (cell(l.mean, 8), cell(l.stdev, 10));
                    let (max, within) = (cell(l.max as f64, 9), l.within_stdev);
                    writeln!(f, "    {name:<10}{mean}{stdev}{max}{within:>8.2}%")?;
                }
                None => writeln!(f, "    {name:<10}{NONE:>8}")?,
            }
        }
        writeln!(f, "  Latency Distribution (measured in the second column)")?;
        for (i, p) in [50, 75, 90, 99].into_iter().enumerate() {
            let of = |l: Option<&WrkLatency>| {
                l.map_or(format!("{NONE:>10}"), |l| cell(l.percentiles[i] as f64, 10))
            };
            writeln!(f, "{p:>7}%{} {}", of(self.corrected.as_ref()), of(Some(&self.measured)))?;
        }
        let (bytes, took) = (binary(self.bytes as f64), time(self.seconds * 1e6));
        writeln!(f, "  {} requests in {took}, {bytes}B read", self.requests)?;
        if self.socket_errors.iter().any(|n| *n > 0) {
            let [connect, read, write, timeout] = self.socket_errors;
            writeln!(f, "  Socket errors: connect {connect}, read {read}, write {write}, timeout {timeout}")?;
        }
        if self.bad_status > 0 {
            writeln!(f, "  Non-2xx or 3xx responses: {}", self.bad_status)?;
        }
        if self.seconds > 0.0 {
            writeln!(f, "Requests/sec: {:>9.2}", self.requests as f64 / self.seconds)?;
            writeln!(f, "Transfer/sec: {:>10}B", binary(self.bytes as f64 / self.seconds))?;
        }
        Ok(())
    }
}

/// A number in the largest unit of which it is at least 0.85.
fn scaled(mut x: f64, base: &str, scale: f64, units: &[&str]) -> String {
    let mut unit = base;
    for next in units {
        if x < 0.85 * scale {
            break;
        }
        x /= scale;
        unit = next;
    }
    format!("{x:.2}{unit}")
}

/// A time of so many columns; units of one letter leave one free, so that numbers stand under each other.
fn cell(us: f64, width: usize) -> String {
    let text = time(us);
    let free = 2 - text.chars().rev().take(2).filter(char::is_ascii_alphabetic).count();
    format!("{text:>0$}{1:free$}", width - free, "")
}

fn time(us: f64) -> String {
    // wrk's loop stops one unit before the last, so hours and seconds of µs are never reached by it.
    if us >= 1e6 { scaled(us / 1e6, "s", 60.0, &["m"]) } else { scaled(us, "us", 1000.0, &["ms"]) }
}

fn binary(bytes: f64) -> String {
    scaled(bytes, "", 1024.0, &["K", "M", "G", "T"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_one_to_a_hundred() {
        let l = WrkLatency::of(&Samples::exact(1..=100)).unwrap();
        assert_eq!((l.mean, l.max, l.percentiles), (50.5, 100, [51, 76, 91, 100]));
        assert!((l.stdev - 29.0115).abs() < 1e-4);
        // 22 to 79 lie within 50.5 ± 29.01.
        assert_eq!(l.within_stdev, 58.0);
    }

    #[test]
    fn the_correction_fills_in_whole_cycles() {
        let c = corrected(&Samples::exact([5, 10, 19, 20, 45]), 10).unwrap();
        // 20: nothing above 10 below it. 45: 35, 25 and 15.
        assert_eq!(c.iter().collect::<Vec<_>>(), [5, 10, 15, 19, 20, 25, 35, 45].map(|x| (x, 1)));
        let c = corrected(&Samples::counted([(31, 4)]), 10).unwrap();
        assert_eq!(c.iter().collect::<Vec<_>>(), [(11, 4), (21, 4), (31, 4)]);
        assert_eq!(corrected(&Samples::exact([u64::MAX]), 1), None, "it ends");
        assert_eq!(corrected(&Samples::exact([7]), 0), None);
    }

    #[test]
    fn units_as_wrk_writes_them() {
        for (us, text) in [
            (849.0, "849.00us"),
            (850.0, "0.85ms"),
            (196_910.0, "196.91ms"),
            (999_999.0, "1000.00ms"),
            (15e6, "15.00s"),
            (51e6, "0.85m"),
        ] {
            assert_eq!(time(us), text);
        }
        assert_eq!(binary(5470.0 * 500.0), "2.61M");
        assert_eq!(binary(1e18), "909494.70T", "wrk knows no larger unit");
    }
}
