//! Kinds of fault that load generators have had: each test is named for what went wrong.

mod alone_capacity;
mod alone_pool;
mod rates;
mod shortfall;
mod stopped;

use openloop::{prelude::*, record::StreamRecord};
use openloop_tests::check;

/// Runs a plan and has its record checked.
fn run(plan: Plan) -> Record {
    let record = plan.run().expect("it runs");
    check(&record);
    record
}

/// What a rule said of a stream: its line among the reasons.
fn fired<'a>(stream: &'a StreamRecord, rule: &str) -> Option<&'a str> {
    let start = format!("{}:", rule.replace('_', " "));
    stream.verdict.reasons.iter().map(String::as_str).find(|reason| reason.starts_with(&start))
}

fn figure(stream: &StreamRecord, name: &str) -> Option<f64> {
    stream.verdict.evidence.get(name).and_then(|figure| figure.number())
}
