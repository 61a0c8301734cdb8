//! JSON: valid, complete, and the same record when it is read back.

mod common;

use common::*;
use load_core::{Figure, Record, record::Series};
use report::{ReportError, json, read_json};

#[test]
fn a_record_comes_back_as_it_was() {
    let mut r = nginx();
    r.streams.push(overloaded(1));
    assert_eq!(read_json(&json(&r).unwrap()).unwrap(), r);
}

#[test]
fn it_fits_the_schema() {
    let schema = include_str!("../../load-core/schema/openloop.record.1.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let mut r = nginx();
    r.streams.push(overloaded(1));
    r.streams.push(Default::default());
    let value: serde_json::Value = serde_json::from_str(&json(&r).unwrap()).unwrap();
    let errors: Vec<String> = schema.iter_errors(&value).map(|e| e.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
}

#[test]
fn what_is_not_a_number_is_a_gap_or_not_measured() {
    let mut r = nginx();
    let mut series = Series::new("host.cpu.busy", "1", "test");
    series.points = vec![(1, 0.5), (2, f64::NAN), (3, f64::INFINITY)];
    r.series = vec![series];
    r.streams[0].verdict.evidence.insert("ceiling".into(), Figure::Measured(f64::NAN));
    let back = read_json(&json(&r).unwrap()).unwrap();
    assert_eq!(back.series[0].points, [(1, 0.5)]);
    assert_eq!(back.series[0].gaps, [(2, "not a number: NaN".into()), (3, "not a number: inf".into())]);
    assert_eq!(back.streams[0].verdict.evidence["ceiling"], Figure::NONE);
}

#[test]
fn a_figure_that_is_not_a_number_is_named() {
    let mut r = nginx();
    r.streams[2].response.as_mut().unwrap().mean_ns = f64::NAN;
    assert_eq!(
        json(&r).unwrap_err().to_string(),
        "streams[2].response.mean_ns: NaN is not a number that JSON can hold"
    );
    r.streams[1].offered_per_s = f64::INFINITY;
    assert!(json(&r).unwrap_err().to_string().starts_with("streams[1].offered_per_s: inf "));
}

#[test]
fn no_sample_is_null() {
    let value: serde_json::Value =
        serde_json::from_str(&json(&record("none", vec![Default::default()])).unwrap()).unwrap();
    assert!(value["streams"][0]["response"].is_null());
}

#[test]
fn other_text_is_refused() {
    assert!(matches!(read_json("{}"), Err(ReportError::Record(_))));
    assert!(read_json(r#"{"schema":"openloop.record/2"}"#).unwrap_err().to_string().contains("record/2"));
    let mut r = Record::new("x", "");
    r.schema = "openloop.record/0".into();
    assert!(read_json(&json(&r).unwrap()).is_err());
}

#[test]
fn the_text_shows_what_the_record_holds() {
    // One source of truth: P50, P95 and P99 of the table are those of the JSON.
    let mut r = record("truth", vec![closed("a", 1, 1, 100)]);
    let times = (0..100).map(|i| {
        if i < 80 {
            10 * MS
        } else if i < 96 {
            20 * MS
        } else {
            30 * MS
        }
    });
    r.streams[0].response = distribution(times);
    let value: serde_json::Value = serde_json::from_str(&json(&r).unwrap()).unwrap();
    let ms = |name: &str| (value["streams"][0]["response"][name].as_u64().unwrap() as f64 / 1e6).round();
    assert_eq!((ms("p50_ns"), ms("p95_ns"), ms("p99_ns")), (10.0, 20.0, 30.0));
    let text = report::text(&r);
    let row = text.lines().find(|l| l.starts_with("a@1")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[5..8], ["10.00", "20.00", "30.00"], "P50, P95, P99");
}
