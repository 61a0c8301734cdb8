//! The figures that the verdict is judged by.

use super::{
    calibrate::Calibration,
    cell::{CellDone, StreamDone},
    gaps::Gap,
    watch::Shares,
};
use load_core::{Evidence, Figure, Histogram, Status, Verdict};

/// Fewer samples of the sessions say nothing of their mean.
const LEAST_PROBES: u64 = 20;
/// Little's law is judged when the sampling error of what is in flight is below this.
const LITTLE_ERROR: f64 = 0.03;

/// Sessions without a connection for more than this share of the time are a finding.
const RECONNECTING: f64 = 0.1;

/// The figures of one stream in one cell.
pub(super) fn of(
    cell: &CellDone,
    stream: &StreamDone,
    calibration: Calibration,
    elapsed_ns: u64,
) -> Evidence {
    let mut evidence = Evidence::new();
    let mut set = |name: &str, figure: Option<f64>| {
        evidence.insert(name.into(), Figure::from(figure));
    };
    let part = &stream.part;
    let books = part.measured();
    let sessions = stream.load.session_count() as f64;
    let open = stream.load.is_open();
    let Shares { busiest_cpu, run_queue, stolen, host_busy } = cell.shares;

    let enough = stream.probes.count >= LEAST_PROBES;
    let mean = |sum: u64| enough.then(|| sum as f64 / stream.probes.count as f64);
    let in_flight = mean(stream.probes.calling);
    set("in_flight_mean", in_flight);
    if !open {
        set("in_flight", mean(stream.probes.engaged).map(|n| n / sessions));
        set("concurrency_kept", calibration.kept);
        set("scaling", None);
    }
    let rate = (elapsed_ns > 0).then(|| part.all_ended as f64 * 1e9 / elapsed_ns as f64);
    set("ceiling", calibration.ceiling.and_then(|ceiling| Some(rate? / ceiling)));
    if calibration.ceiling.is_some() {
        set("ceiling_per_s", calibration.ceiling);
    }
    set("host_cpu_busy", host_busy);
    set("generator_cpu", busiest_cpu);
    set("run_queue", run_queue);
    set("stolen", stolen);
    if open {
        let late = p99(&part.lateness).map(|l| l + p99(&part.dispatch).unwrap_or(0.0));
        set("lateness_p99_us", late.map(|ns| ns / 1e3));
        set("lateness", late.and_then(|l| Some(l / p99(&part.response)?)));
    }
    if sessions > stream.workers as f64 {
        let service = if open { &part.service } else { &part.response };
        let lag = part.loop_lag.quantile(0.5).map(|ns| ns as f64);
        set("loop_lag_p50_us", lag.map(|ns| ns / 1e3));
        set("loop_lag", lag.and_then(|lag| Some(lag / service.quantile(0.5).filter(|s| *s > 0)? as f64)));
    }
    set("local_limits", (books.scheduled > 0).then(|| part.local_limits as f64 / books.scheduled as f64));
    set("connections", Some(stream.open_at_start.max(stream.open_most) as f64 / sessions));
    set("little", little(stream, in_flight, elapsed_ns));
    set("samples", Some(books.completed() as f64));
    let accounted = books.succeeded + books.failed + books.dropped + books.skipped + books.unfinished;
    set("books", Some(books.scheduled.abs_diff(accounted) as f64));
    evidence
}

/// |in flight − rate × service| / in flight. Rate × mean is the sum of service times over the phase; what of an operation
/// lies before or after the phase is cut off. `None` when the sampling error of what is in flight would drown it.
fn little(stream: &StreamDone, in_flight: Option<f64>, elapsed_ns: u64) -> Option<f64> {
    let in_flight = in_flight.filter(|n| *n > 0.0)?;
    let busy = (in_flight / stream.sessions.max(1) as f64).min(1.0);
    // Samples of independent sessions, each busy a share of the time.
    let error = ((1.0 - busy) / (in_flight * stream.probes.count as f64)).sqrt();
    if error > LITTLE_ERROR || elapsed_ns == 0 {
        return None;
    }
    let by_law = stream.part.in_flight_ns as f64 / elapsed_ns as f64;
    Some((in_flight - by_law).abs() / in_flight)
}

fn p99(h: &Histogram) -> Option<f64> {
    h.quantile(0.99).map(|ns| ns as f64)
}

/// Judges, and adds what was found about the server.
pub(super) fn judge(cell: &CellDone, stream: &StreamDone, evidence: Evidence, elapsed_ns: u64) -> Verdict {
    let mut verdict = Verdict::judge(evidence);
    let books = stream.part.measured();
    let lost = books.scheduled.saturating_sub(books.started);
    if stream.load.is_open() && lost > 0 && elapsed_ns > 0 {
        let per_s = |n: u64| n as f64 * 1e9 / elapsed_ns as f64;
        let why = limit(stream, &verdict);
        verdict.findings.push(format!(
            "rate not reached: {:.4} /s were scheduled and {:.4} /s sent: {} of {} operations ({} dropped, {} skipped, {} never \
             started); {why}",
            per_s(books.scheduled),
            per_s(books.started),
            books.started,
            books.scheduled,
            books.dropped,
            books.skipped,
            lost - (books.dropped + books.skipped).min(lost),
        ));
    }
    if let Some(abort) = cell.aborted.as_ref().filter(|abort| abort.stream == stream.stream.name()) {
        verdict.findings.push(abort.why.clone());
    }
    if books.completed() > 0 && books.succeeded == 0 {
        verdict.findings.push("no operation succeeded".into());
    }
    if let Some(share) = reconnecting(stream).filter(|share| *share > RECONNECTING) {
        let percent = 100.0 * share;
        verdict.findings.push(format!(
            "sessions had no connection for {percent:.0} % of the time: how often they try again, not the server, sets the rate"
        ));
    }
    let in_phase = |gap: &Gap| !gap.asleep && gap.end > cell.times.start;
    // What was overdue is known of the whole phase: it is told once.
    let last = cell.gaps.iter().rposition(in_phase);
    for (i, gap) in cell.gaps.iter().enumerate() {
        let connecting = gap.end <= cell.times.start;
        let mut text = stood_still(gap, connecting);
        if stream.load.is_open() && last == Some(i) {
            // Arrivals are noticed within milliseconds, unless nothing runs that could notice them.
            let overdue = stream.part.lateness.hdr().count_between(100_000_000, u64::MAX);
            text +=
                &format!(": {overdue} arrivals were overdue for that reason, not because sessions were busy");
        }
        verdict.findings.push(text);
    }
    verdict
}

/// The share of the sessions' time in which they were not connected and tried to be.
fn reconnecting(stream: &StreamDone) -> Option<f64> {
    let probes = stream.probes;
    let waiting = probes.reconnecting as f64;
    (probes.count >= LEAST_PROBES).then(|| waiting / (probes.count as f64 * stream.sessions.max(1) as f64))
}

/// What kept the arrivals from being sent.
fn limit(stream: &StreamDone, verdict: &Verdict) -> String {
    let sessions = stream.sessions;
    let number = |name: &str| verdict.evidence.get(name).and_then(|f| f.number());
    let generator = ["lateness", "generator_cpu", "loop_lag"]
        .iter()
        .filter_map(|name| load_core::Rule::named(name))
        .any(|rule| rule.judge(&verdict.evidence) == Status::Rejected);
    if generator {
        return "the load generator was the limit".into();
    }
    match number("in_flight_mean") {
        Some(mean) if mean >= 0.8 * sessions as f64 => {
            format!(
                "server saturated: its {sessions} sessions were the limit, busy {:.0} % of the time",
                100.0 * mean / sessions as f64
            )
        }
        _ => format!("the {sessions} sessions were the limit, not the rate"),
    }
}

/// The load generator itself stood still: whatever was overdue then was not so because sessions were busy.
fn stood_still(gap: &Gap, connecting: bool) -> String {
    let what = if gap.asleep { "the machine slept" } else { "the load generator itself was stopped" };
    let when = if connecting { ", while sessions were connecting" } else { "" };
    format!(
        "{what} for {:.2} s, {:.2} s after the start of the run's clock{when}",
        gap.seconds(),
        gap.start as f64 / 1e9
    )
}
