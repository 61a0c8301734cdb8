//! No record makes the report panic: records with fields that are missing, zero, huge or of another kind of sense.

mod common;

use common::*;
use load_core::Record;
use proptest::prelude::*;
use report::{
    Compare, Csv, Threshold,
    compat::{Ab, Pgbench, RedisBenchmark, Wrk},
};
use serde_json::{Value, json};
use std::sync::LazyLock;

const ESC: char = '\u{1b}';
const TURN: char = '\u{202e}';

/// Paths to every value within `value`.
fn paths(value: &Value, here: String, all: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(k, v)| {
            let escaped = k.replace('~', "~0").replace('/', "~1");
            paths(v, format!("{here}/{escaped}"), all);
        }),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, v)| paths(v, format!("{here}/{i}"), all));
        }
        _ => {}
    }
    all.push(here);
}

/// Something else in the place of a value, of the same type where it can be.
fn other(value: &Value, choice: usize) -> Value {
    let numbers = [
        json!(0),
        json!(1),
        json!(u64::MAX),
        json!(i64::MAX as u64 + 1),
        json!(1e308),
        json!(-1.0),
        json!(1e-308),
        json!(0.5),
    ];
    let texts = ["", "open", "closed", "\u{1b}[31m\u{202e}", "a\nb", "rejected", "名前", "-1"];
    match value {
        Value::Number(_) => numbers[choice % numbers.len()].clone(),
        Value::String(_) => json!(texts[choice % texts.len()]),
        Value::Bool(b) => json!(!b),
        Value::Array(items) if choice < 32 => Value::Array(items.iter().chain(items).cloned().collect()),
        Value::Array(_) => json!([]),
        Value::Object(_) => json!({}),
        Value::Null => json!(choice),
    }
}

static WHOLE: LazyLock<Value> = LazyLock::new(whole);
static NGINX: LazyLock<Record> = LazyLock::new(nginx);

fn whole() -> Value {
    let mut r = nginx();
    r.streams.push(overloaded(1));
    r.streams.push(overloaded(2));
    let s = &mut r.streams[0];
    books(s, 5, 3);
    s.steps.insert("connect".into(), ladder(9, 5, 1).unwrap());
    s.operations.insert("hit".into(), Default::default());
    s.windows = vec![Default::default(), Default::default()];
    s.verdict = evidence(&[("in_flight", 0.5), ("lateness", 0.5), ("lateness_p99_us", 300.0)]);
    r.events.push(load_core::record::Event::new(1, "reload", "x"));
    let mut value: Value = serde_json::from_str(&report::json(&r).unwrap()).unwrap();
    // Histograms make the text long and are not read by the report; one stream keeps them for those who do.
    let mut all = Vec::new();
    paths(&value, String::new(), &mut all);
    let read = |p: &String| p.starts_with("/streams/10/");
    for path in all.iter().filter(|p| p.ends_with("/histogram") && !read(p)) {
        *value.pointer_mut(path).unwrap() = json!("");
    }
    value
}

/// Everything else that is made of a record.
fn others(record: &Record) {
    let _ = report::markdown(record);
    for table in [Csv::Streams, Csv::Windows, Csv::Failures, Csv::Series] {
        report::csv(record, table).unwrap();
    }
    for threshold in [
        "*.response.p95 < 1ms",
        "median(api.sent_share) == 1",
        "nginx@10.verdict != valid",
        "verdict == valid",
    ] {
        let _ = threshold.parse::<Threshold>().unwrap().judge(record).to_string();
    }
    for s in &record.streams {
        let _ = Wrk::of(s).map(|w| w.to_string());
        let _ = Ab::of(s).map(|a| a.to_string());
        let _ = Pgbench::of(s).map(|p| p.to_string());
        let _ = RedisBenchmark::of(s).map(|r| r.to_string());
    }
    let _ = report::merge(&[record.clone(), NGINX.clone()]);
    let _ = report::merge(&[record.clone(), record.clone()]);
    if let Ok(comparison) = Compare::new().anyway(true).records(&NGINX, record) {
        comparison.text();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), 0usize..64), 1..12),
                      width in 0usize..200, colour in any::<bool>(), others in prop::bool::weighted(0.15)) {
        let mut value = WHOLE.clone();
        for (at, remove, choice) in changes {
            let mut all = Vec::new();
            paths(&value, String::new(), &mut all);
            let path = at.get(&all).clone();
            let before = value.clone();
            if remove && let Some((parent, key)) = path.rsplit_once('/') {
                match value.pointer_mut(parent) {
                    Some(Value::Object(map)) => drop(map.remove(&key.replace("~1", "/").replace("~0", "~"))),
                    Some(Value::Array(items)) => drop(items.remove(key.parse().unwrap())),
                    _ => {}
                }
            } else if let Some(v) = value.pointer_mut(&path) {
                *v = other(v, choice);
            }
            // A change that leaves no record is taken back, so that the others still count.
            if serde_json::from_value::<Record>(value.clone()).is_err() {
                value = before;
            }
        }
        let record: Record = serde_json::from_value(value).unwrap();
        let text = report::Text::new().width(width).colour(colour).render(&record);
        prop_assert!(!text.contains("NaN") && !text.contains("inf "), "{}", text);
        prop_assert!(colour || !text.contains(ESC), "an escape sequence");
        prop_assert!(!text.contains(TURN), "a mark that turns the writing");
        let _ = report::json(&record);
        let _ = report::contradictions(&record);
        if others {
            self::others(&record);
        }
    }

    #[test]
    fn floats_of_any_kind_do_not_panic(x in prop::num::f64::ANY, y in prop::num::f64::ANY) {
        let mut r = NGINX.clone();
        for s in &mut r.streams {
            (s.offered_per_s, s.succeeded_per_s, s.completed_per_s) = (x, y, x);
            s.response.as_mut().unwrap().mean_ns = y;
            s.verdict.evidence.insert("ceiling".into(), load_core::Figure::Measured(x));
        }
        r.streams[0].verdict = load_core::Verdict::judge(r.streams[0].verdict.evidence.clone());
        r.series[0].points.push((7, x));
        if x > 0.0 && y < 1e300 {
            others(&r);
        }
        let text = report::text(&r);
        prop_assert!(!text.contains("NaN") && !text.contains("inf "), "{}", text);
        let _ = report::json(&r);
    }
}
