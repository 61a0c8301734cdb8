//! An independent judge: what must hold in every record, and the verdict computed anew from its evidence, with a table of
//! its own.

use openloop::{Record, Status, record::StreamRecord};

/// Checks a record in every way that needs no knowledge of the run: the schema, the books, the parts against their totals,
/// the order of percentiles, the verdict.
///
/// # Panics
/// When something does not hold.
pub fn check(record: &Record) {
    let json = openloop::report::json(record).expect("a record can be written");
    let value: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    let schema = include_str!("../../crates/load-core/schema/openloop.record.1.json");
    let schema: serde_json::Value = serde_json::from_str(schema).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    let errors: Vec<_> =
        validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "not of the schema: {errors:?}");
    assert_eq!(record.plan_hash.len(), 64);
    for stream in &record.streams {
        check_stream(stream);
    }
    let worst = record.streams.iter().map(|s| s.verdict.status).max().unwrap_or(Status::Valid);
    assert_eq!(record.verdict.status, worst, "the record's verdict is the worst of its streams'");
    let contradictions = openloop::report::contradictions(record);
    assert!(contradictions.is_empty(), "{contradictions:?}");
}

fn check_stream(s: &StreamRecord) {
    let a = &s.accounting;
    let title = s.title();
    assert_eq!(a.scheduled, a.succeeded + a.failed + a.dropped + a.skipped + a.unfinished, "{title}: {a:?}");
    assert!(
        a.started >= a.succeeded + a.failed && a.started <= a.scheduled && a.unknown <= a.failed,
        "{title}: {a:?}"
    );
    let w = &s.warmup.accounting;
    assert_eq!(w.scheduled, w.succeeded + w.failed + w.dropped + w.skipped + w.unfinished, "{title}: {w:?}");
    assert_eq!(s.failures.iter().map(|f| f.count).sum::<u64>(), a.failed, "{title}: failures add up");
    assert_eq!(s.connects.failures.iter().map(|f| f.count).sum::<u64>(), s.connects.failed, "{title}");
    let count = |d: &Option<openloop::record::Distribution>| d.as_ref().map_or(0, |d| d.count);
    for (name, d) in [("response", &s.response), ("service", &s.service), ("wait", &s.wait)] {
        assert_eq!(count(d), a.succeeded, "{title}: {name} holds the successes");
    }
    assert_eq!(count(&s.failed_service), a.failed, "{title}");
    assert_eq!(count(&s.censored), a.unfinished, "{title}");
    let windows: (u64, u64) = s.windows.iter().fold((0, 0), |(g, b), w| (g + w.succeeded, b + w.failed));
    assert_eq!(windows, (a.succeeded, a.failed), "{title}: windows add up");
    for d in
        [&s.response, &s.service, &s.wait, &s.lateness, &s.failed_service, &s.censored].into_iter().flatten()
    {
        let order =
            [d.min_ns, d.p50_ns, d.p75_ns, d.p90_ns, d.p95_ns, d.p99_ns, d.p999_ns, d.p9999_ns, d.max_ns];
        assert!(order.is_sorted(), "{title}: {order:?}");
        assert!(d.mean_ns >= d.min_ns as f64 && d.mean_ns <= d.max_ns as f64);
        let h = d.histogram().expect("it can be read");
        assert_eq!(
            (h.count(), h.quantile(0.95)),
            (d.count, Some(d.p95_ns)),
            "{title}: the histogram is the figures'"
        );
    }
    for x in [s.offered_per_s, s.succeeded_per_s, s.completed_per_s] {
        assert!(x.is_finite() && x >= 0.0, "{title}: {x}");
    }
    assert_eq!(recompute(s), s.verdict.status, "{title}: {:?}", s.verdict);
}

/// The verdict of a stream from its evidence alone. Written from the published table, not from the product's.
pub fn recompute(stream: &StreamRecord) -> Status {
    let figure = |name: &str| stream.verdict.evidence.get(name).and_then(|f| f.number());
    let above = |name: &str, suspect: f64, rejected: f64| match figure(name) {
        Some(x) if x > rejected => Status::Rejected,
        Some(x) if x > suspect => Status::Suspect,
        _ => Status::Valid,
    };
    let below = |name: &str, suspect: f64, rejected: f64| match figure(name) {
        Some(x) if x < rejected => Status::Rejected,
        Some(x) if x < suspect => Status::Suspect,
        _ => Status::Valid,
    };
    let lateness = match figure("lateness_p99_us") {
        Some(us) if us > 200.0 => above("lateness", 0.10, 0.50),
        _ => Status::Valid,
    };
    let loop_lag = match figure("loop_lag_p50_us") {
        Some(us) if us > 10.0 => above("loop_lag", 0.25, 0.50),
        _ => Status::Valid,
    };
    let samples = match figure("samples") {
        Some(0.0) => Status::Rejected,
        Some(n) if n < 30.0 => Status::Suspect,
        _ => Status::Valid,
    };
    [
        below("in_flight", 0.9, 0.8),
        above("ceiling", 0.75, 0.9),
        above("generator_cpu", 0.80, 0.95),
        above("run_queue", 0.10, 0.30),
        above("stolen", 0.02, 0.10),
        lateness,
        loop_lag,
        below("concurrency_kept", 0.9, 0.8),
        above("local_limits", 0.0, 0.01),
        below("connections", 1.0, 0.8),
        above("little", 0.10, 0.30),
        below("scaling", 0.9, f64::NEG_INFINITY),
        samples,
        above("books", 0.0, 0.0),
    ]
    .into_iter()
    .max()
    .unwrap_or(Status::Valid)
}
