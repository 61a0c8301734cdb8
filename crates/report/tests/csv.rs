//! CSV: every figure under its own name, nothing where there is none.

mod common;

use common::*;
use load_core::{
    Class, Record,
    record::{FailureCount, Series, Window},
};
use report::Csv;
use std::collections::HashMap;

fn lines(record: &Record, table: Csv) -> Vec<HashMap<String, String>> {
    let text = report::csv(record, table).unwrap();
    csv::Reader::from_reader(text.as_bytes()).deserialize().map(Result::unwrap).collect()
}

#[test]
fn streams_hold_what_the_record_holds() {
    let mut r = nginx();
    r.streams.push(overloaded(1));
    r.streams[1].verdict = evidence(&[("in_flight", 0.5)]);
    let lines = lines(&r, Csv::Streams);
    assert_eq!(lines.len(), 10);
    for (line, s) in lines.iter().zip(&r.streams) {
        let d = s.response.as_ref().unwrap();
        let x = |name: &str| line[name].parse::<f64>().unwrap();
        assert_eq!((line["name"].as_str(), line["level"].as_str()), (s.name.as_str(), s.level.as_str()));
        assert_eq!(x("response_p50_ns"), d.p50_ns as f64);
        assert_eq!(x("response_p95_ns"), d.p95_ns as f64);
        assert_eq!(x("response_p99_ns"), d.p99_ns as f64);
        assert_eq!(x("response_mean_ns"), d.mean_ns);
        assert_eq!(x("succeeded_per_s"), s.succeeded_per_s);
        assert_eq!(x("scheduled"), s.accounting.scheduled as f64);
        assert_eq!(line["verdict"], s.verdict.status.to_string());
    }
    assert_eq!(lines[0]["lateness_p99_ns"], "", "a closed loop has none: empty, not 0");
    assert_eq!(lines[9]["lateness_p99_ns"], r.streams[9].lateness.as_ref().unwrap().p99_ns.to_string());
}

#[test]
fn windows_are_their_own_and_empty_ones_have_no_times() {
    // Second k has 100 samples of k ms; second 3 has none.
    let mut r = record("windows", vec![closed("a", 1, 1, 100)]);
    r.streams[0].windows = (0..5)
        .map(|k| {
            let mut w = Window::default();
            (w.start_ns, w.end_ns) = (k * S, (k + 1) * S);
            if k != 3 {
                (w.succeeded, w.per_s) = (100, 100.0);
                (w.p50_ns, w.p95_ns, w.p99_ns) = (Some(k * MS), Some(k * MS), Some(k * MS));
            }
            w
        })
        .collect();
    // A writer that puts zeros where nothing ended.
    r.streams[0].windows[3].p50_ns = Some(0);
    let lines = lines(&r, Csv::Windows);
    for (k, line) in lines.iter().enumerate() {
        let (p50, rate) = if k == 3 { (String::new(), "0") } else { ((k as u64 * MS).to_string(), "100") };
        assert_eq!(line["response_p50_ns"], p50);
        assert_eq!(line["succeeded_per_s"], rate);
        assert_eq!(line["start_ns"], (k as u64 * S).to_string());
    }
}

#[test]
fn odd_names_stay_what_they_are_and_formulas_are_none() {
    let name = "User's \"α/β\" </script><b>1, and;\nmore";
    let mut r = record("odd", vec![closed(name, 1, 1, 100)]);
    r.streams[0].failures =
        vec![FailureCount::new(Class::Status, "500", 3, "=HYPERLINK(\"http://evil\",\"x\")")];
    let lines = lines(&r, Csv::Failures);
    assert_eq!(lines[0]["name"], name);
    assert_eq!(lines[0]["example"], "'=HYPERLINK(\"http://evil\",\"x\")");
    assert_eq!((lines[0]["of"].as_str(), lines[0]["count"].as_str()), ("operations", "3"));
}

#[test]
fn gaps_have_no_value() {
    let mut r = record("series", vec![]);
    let mut s = Series::new("host.cpu.busy", "1", "/proc/stat");
    s.points = vec![(1, 0.5), (3, f64::NAN)];
    s.gaps = vec![(2, "no such file".into())];
    r.series = vec![s];
    let text = report::csv(&r, Csv::Series).unwrap();
    assert_eq!(
        text,
        "name,unit,source,t_ns,value,gap\nhost.cpu.busy,1,/proc/stat,1,0.5,\nhost.cpu.busy,1,/proc/stat,2,,no such \
         file\nhost.cpu.busy,1,/proc/stat,3,,not a number: NaN\n"
    );
}
