//! The rule over levels: the rate must not fall as concurrency rises while nothing is full.

use load_core::{Evidence, Figure, Record, Verdict, record::StreamRecord};

/// Above this share the machine's processors count as full, and a falling rate has its reason.
const FULL: f64 = 0.95;

/// Sets the figure `scaling` of every stream that has a lower level in the same round and phase, and judges it anew.
pub(super) fn judge(record: &mut Record) {
    let figures: Vec<Option<f64>> = record.streams.iter().map(|s| figure(s, &record.streams)).collect();
    for (stream, figure) in record.streams.iter_mut().zip(figures) {
        let Some(figure) = figure else { continue };
        let mut evidence: Evidence = std::mem::take(&mut stream.verdict.evidence);
        evidence.insert("scaling".into(), Figure::Measured(figure));
        let findings = std::mem::take(&mut stream.verdict.findings);
        stream.verdict = Verdict::judge(evidence);
        stream.verdict.findings = findings;
    }
}

/// Rate over the best rate at a lower concurrency.
fn figure(stream: &StreamRecord, all: &[StreamRecord]) -> Option<f64> {
    if stream.load.kind != "closed" {
        return None;
    }
    let busy = stream.verdict.evidence.get("host_cpu_busy").and_then(|f| f.number());
    if busy.is_some_and(|busy| busy > FULL) {
        return None;
    }
    let lower = all.iter().filter(|s| {
        s.name == stream.name
            && s.round == stream.round
            && s.phase == stream.phase
            && s.load.concurrency < stream.load.concurrency
    });
    let best = lower.map(|s| s.succeeded_per_s).fold(0.0, f64::max);
    (best > 0.0).then(|| stream.succeeded_per_s / best)
}
