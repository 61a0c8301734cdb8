//! What streams do to each other.

mod common;

use common::*;
use load_core::{Record, record::StreamRecord};
use report::interference;

/// A stream of `n` successes in 1 s, all of them `ms` long; each stream at a level of its own.
fn stream(name: &str, phase: &str, round: u32, n: u64, ms: u64) -> StreamRecord {
    let mut s = closed(name, if name == "nginx" { 50 } else { 20 }, round, n);
    s.phase = phase.into();
    s.response = distribution((0..n).map(|_| ms * MS));
    s
}

fn mixed() -> Record {
    let mut streams = Vec::new();
    for (round, half, p95) in [(1, 500, 20), (2, 400, 30), (3, 600, 40)] {
        streams.push(stream("nginx", "nginx alone", round, 1000, 10));
        streams.push(stream("postgres", "postgres alone", round, 100, 5));
        streams.push(stream("nginx", "together", round, half, p95));
        streams.push(stream("postgres", "together", round, 100, 5));
    }
    record("mixed", streams)
}

#[test]
fn each_is_held_against_itself_alone_in_the_same_round() {
    let matrix = interference(&mixed());
    assert_eq!(matrix.rows.len(), 2);
    let nginx = &matrix.rows[0];
    assert_eq!((nginx.stream.as_str(), nginx.alone.as_str()), ("nginx", "nginx alone"));
    let rate = nginx.rate.unwrap();
    assert_eq!((rate.n, rate.min, rate.median, rate.max), (3, 0.4, 0.5, 0.6));
    let p95 = nginx.p95.unwrap();
    assert_eq!((p95.n, p95.min.round(), p95.median.round(), p95.max.round()), (3, 2.0, 3.0, 4.0));
    let postgres = &matrix.rows[1];
    assert_eq!(postgres.rate.unwrap().median, 1.0);
    assert_eq!(postgres.p95.unwrap().median, 1.0);
    let text = matrix.to_string();
    assert!(text.contains("median of 3") && text.contains("nginx@50") && text.contains("0.5"), "{text}");
}

#[test]
fn rejected_rounds_are_shown_and_in_no_median() {
    let mut r = mixed();
    r.streams[2].verdict = evidence(&[("in_flight", 0.1)]);
    let matrix = interference(&r);
    let nginx = &matrix.rows[0];
    assert_eq!(nginx.rate.unwrap().n, 2);
    assert_eq!((nginx.rejected[0].round, nginx.rejected[0].rate), (1, Some(0.5)));
    let text = matrix.to_string();
    assert!(text.contains("round 1 REJECTED") && text.contains("in no median"), "{text}");
    r.streams.iter_mut().for_each(|s| s.verdict = evidence(&[("in_flight", 0.1)]));
    let none = interference(&r);
    assert!(none.rows.iter().all(|row| row.rate.is_none() && row.rejected.len() == 3));
}

#[test]
fn what_never_ran_alone_or_beside_others_has_no_row() {
    assert!(interference(&nginx()).rows.is_empty());
    let mut r = mixed();
    r.streams.retain(|s| s.phase != "nginx alone");
    let matrix = interference(&r);
    assert_eq!(matrix.rows.len(), 1);
    assert_eq!(matrix.rows[0].stream, "postgres");
    assert!(interference(&nginx()).to_string().contains("no stream ran both"));
}

#[test]
fn a_stream_that_did_nothing_alone_has_no_ratio() {
    let mut r = mixed();
    for s in r.streams.iter_mut().filter(|s| s.phase == "nginx alone") {
        (s.succeeded_per_s, s.response) = (0.0, None);
    }
    let matrix = interference(&r);
    assert_eq!((matrix.rows[0].rate, matrix.rows[0].p95), (None, None));
    assert!(matrix.to_string().contains('–'));
}

#[test]
fn one_round_has_no_spread() {
    let mut r = mixed();
    r.streams.retain(|s| s.round == 1);
    let text = interference(&r).to_string();
    assert!(text.contains("one") && text.contains('–'), "{text}");
}
