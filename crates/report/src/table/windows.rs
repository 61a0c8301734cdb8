//! Lines for windows and for failures.

use super::{KEYS, Out, keys, number, text};
use load_core::Record;

pub(super) fn windows(record: &Record, out: &mut Out) -> Result<(), ::csv::Error> {
    let names = [
        "verdict",
        "start_ns",
        "end_ns",
        "drain",
        "succeeded",
        "failed",
        "succeeded_per_s",
        "response_p50_ns",
        "response_p95_ns",
        "response_p99_ns",
    ];
    out.write_record(KEYS.iter().chain(&names))?;
    for s in &record.streams {
        for w in &s.windows {
            let mut line = keys(s);
            line.extend([s.verdict.status.to_string(), w.start_ns.to_string(), w.end_ns.to_string()]);
            line.extend([w.drain.to_string(), w.succeeded.to_string(), w.failed.to_string()]);
            // A window of no length has no rate.
            line.push(number((w.end_ns > w.start_ns).then_some(w.per_s)));
            // Where nothing succeeded there is no time.
            let time =
                |ns: Option<u64>| ns.filter(|_| w.succeeded > 0).map_or(String::new(), |ns| ns.to_string());
            line.extend([w.p50_ns, w.p95_ns, w.p99_ns].map(time));
            out.write_record(&line)?;
        }
    }
    Ok(())
}

pub(super) fn failures(record: &Record, out: &mut Out) -> Result<(), ::csv::Error> {
    out.write_record(KEYS.iter().chain(&["of", "class", "code", "count", "example"]))?;
    for s in &record.streams {
        for (of, failures) in [("operations", &s.failures), ("connects", &s.connects.failures)] {
            for f in failures {
                let mut line = keys(s);
                line.extend([of.into(), f.class.to_string(), text(&f.code)]);
                line.extend([f.count.to_string(), text(&f.example)]);
                out.write_record(&line)?;
            }
        }
    }
    Ok(())
}
