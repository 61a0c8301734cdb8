//! Thresholds: what is read, what holds, and what nothing can be said of.

mod common;

use common::*;
use load_core::Record;
use report::{Text, Threshold};

fn holds(record: &Record, text: &str) -> bool {
    Threshold::parse(text).unwrap_or_else(|e| panic!("{e}")).judge(record).holds
}

fn why(record: &Record, text: &str) -> String {
    text.parse::<Threshold>().unwrap().judge(record).to_string()
}

#[test]
fn a_name_that_matches_several_streams_must_hold_in_each() {
    let mut r = nginx();
    assert!(holds(&r, "nginx.response.p95 < 2ms"));
    // One round of one level is slow.
    r.streams[4].response = ladder(10, 25 * MS, 0);
    assert!(!holds(&r, "nginx.response.p95 < 2ms"));
    assert!(holds(&r, "nginx@10.response.p95 < 2ms"));
    assert!(holds(&r, "median(nginx.response.p95) < 2ms"), "two of three rounds are fast");
    assert!(!holds(&r, "max(nginx.response.p95) < 2ms"));
    assert_eq!(
        why(&r, "nginx.response.p95 < 2ms"),
        "does not hold: nginx.response.p95 < 2ms: nginx@50 round 2: 25 ms"
    );
}

#[test]
fn every_relation_and_kind_of_figure() {
    let mut r = record("api", vec![overloaded(1)]);
    r.streams[0].steps.insert("first.byte".into(), ladder(5, MS, 0).unwrap());
    r.streams[0].counters.insert("retries".into(), 7);
    for text in [
        "api@10/s.response.max <= 16.9s",
        "api.service.p50 >= 1999ms",
        "api.steps.first.byte.p99 == 1ms",
        "api.counters.retries != 8",
        "api.sent_share == 50%",
        "api.failed_share <= 0.1 %",
        "api.succeeded_per_s > 4.9/s",
        "api.offered_per_s == 10",
        "api.accounting.unfinished == 150",
        "api.evidence.generator_cpu < 10%",
        "*.connects.open_at_start == 10",
        "median(api@10/s.wait.mean) > 7s",
        "min(api.response.count) == 150",
        "verdict == valid",
        "api.verdict != rejected",
    ] {
        assert!(holds(&r, text), "{}", why(&r, text));
        // The contrary does not hold.
        let (from, to) = [("<=", ">"), (">=", "<"), ("==", "!="), ("!=", "=="), ("<", ">="), (">", "<=")]
            .into_iter()
            .find(|(from, _)| text.contains(from))
            .unwrap();
        assert!(!holds(&r, &text.replacen(from, to, 1)), "not {text}");
    }
}

#[test]
fn names_and_levels_may_have_dots() {
    let mut r = record("x", vec![closed("a.b", 1, 1, 100)]);
    r.streams[0].level = "0.5/s".into();
    assert!(holds(&r, "a.b@0.5/s.response.p95 < 1s"));
    assert!(holds(&r, "a.b.response.p95 < 1s"));
    assert!(!holds(&r, "a@0.5/s.response.p95 < 1s"));
}

#[test]
fn of_what_was_not_measured_nothing_can_be_said() {
    let mut r = nginx();
    assert_eq!(
        why(&r, "postgres.response.p95 < 2h"),
        "does not hold: postgres.response.p95 < 2h: no stream of the record is meant by it"
    );
    assert!(!holds(&r, "nginx.lateness.p99 < 1h"));
    assert!(!holds(&r, "nginx.lateness.p99 >= 0ns"), "neither it nor its contrary");
    r.streams[0].verdict = evidence(&[("in_flight", 0.1)]);
    assert!(why(&r, "nginx@10.response.p95 < 1h").ends_with(": nginx@10 round 1: the round was rejected"));
    assert!(holds(&r, "median(nginx@10.response.p95) < 1h"), "of the rounds that are left");
    assert!(!holds(&r, "verdict == valid"), "the record is no better than its streams");
    for s in [3, 6] {
        r.streams[s].verdict = evidence(&[("in_flight", 0.1)]);
    }
    assert!(why(&r, "median(nginx@10.response.p95) < 1h").ends_with("nginx@10: every round was rejected"));
}

#[test]
fn what_cannot_be_read_says_why() {
    for (text, says) in [
        ("nginx.response.p95", "there is none of"),
        ("nginx.response.p95 <", "nothing stands after <"),
        ("nginx.response.p95 < 20", "a time without a unit: 20ms"),
        ("nginx.response.p95 < 20kB", "\"kB\" is no unit of this figure: ns, us"),
        ("nginx.response.p97 < 20ms", "\"response.p97\" of \"nginx\" is no figure"),
        ("nginx < 20ms", "\"nginx\" has no figure"),
        (".response.p95 < 20ms", "the stream has no name"),
        ("mean(nginx.response.p95) < 20ms", "mean is no summary"),
        ("verdict < valid", "compared by == or !="),
        ("verdict == good", "good is no verdict"),
        ("median(nginx.verdict) == valid", "no median"),
        ("", "there is none of"),
    ] {
        let said = Threshold::parse(text).unwrap_err().to_string();
        assert!(said.starts_with(&format!("threshold {text:?}: ")) && said.contains(says), "{said}");
    }
}

#[test]
fn the_text_report_shows_them_after_the_verdict() {
    let thresholds =
        ["nginx.response.p95 < 2ms", "nginx.response.p95 < 1ms"].map(|t| t.parse::<Threshold>().unwrap());
    let report = Text::new().width(1000).thresholds(thresholds).render(&nginx());
    let part = "none fired\n\nThresholds\nholds: nginx.response.p95 < 2ms\ndoes not hold: nginx.response.p95 < 1ms: nginx@10 round 1: 1.95 ms; ";
    assert!(report.contains(part), "{report}");
}
