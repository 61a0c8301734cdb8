//! Comparisons: noise is not a change, a change is; unlike and rejected runs are refused.

mod common;

use common::*;
use load_core::Record;
use report::{Change, Compare, ReportError, compare};

/// Five rounds of about 10,000/s at 5 ms, `factor` times as slow, with noise of `noise` per cent by `seed`.
fn run(factor: f64, noise: f64, seed: u64, rounds: u32) -> Record {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut random = || {
        // SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    };
    let streams = (1..=rounds).map(|round| {
        let mut s = closed("nginx", 50, round, 1000);
        let off = factor * (1.0 + noise / 100.0 * (2.0 * random() - 1.0));
        s.succeeded_per_s = 10_000.0 / off;
        s.response = ladder(1000, (4e6 * off) as u64, (2e3 * off) as u64);
        s.service = s.response.clone();
        s
    });
    record("nginx_static", streams.collect())
}

#[test]
fn noise_is_no_change_and_thirty_per_cent_is() {
    let runs: Vec<Record> = (1..=5).map(|seed| run(1.0, 3.0, seed, 5)).collect();
    for a in &runs {
        for b in &runs {
            let c = compare(a, b).unwrap();
            assert!(c.figures.iter().all(|f| f.change == Change::None), "{}", c.text());
            assert!(c.text().contains("NO CHANGE in 7 figures"), "{}", c.text());
        }
    }
    let c = compare(&runs[0], &run(1.3, 3.0, 9, 5)).unwrap();
    assert!(c.is_worse());
    for figure in ["succeeded_per_s", "response.mean", "response.p50", "response.p95", "response.p99"] {
        let f = c.figures.iter().find(|f| f.figure == figure).unwrap();
        assert_eq!(f.change, Change::Worse, "{f:?}");
        let ratio = if figure == "succeeded_per_s" { 1.0 / 1.3 } else { 1.3 };
        assert!((f.ratio.unwrap() / ratio - 1.0).abs() < 0.05, "{f:?}");
        let [low, high] = f.ratio_ci.unwrap();
        assert!(low <= f.ratio.unwrap() && f.ratio.unwrap() <= high && (low > 1.0 || high < 1.0), "{f:?}");
        assert!(f.p < 0.01);
    }
    let text = c.text();
    assert!(text.starts_with("of 7 figures: 5 worse (medians over rounds; a change has p < 0.05"), "{text}");
    assert!(text.contains("response.p95 (ms)") && text.contains("WORSE"), "{text}");
    // The other way round it is an improvement.
    let c = compare(&run(1.3, 3.0, 9, 5), &runs[0]).unwrap();
    assert!(!c.is_worse() && c.figures.iter().filter(|f| f.change == Change::Better).count() == 5);
}

#[test]
fn three_rounds_each_can_show_nothing() {
    let c = compare(&run(1.0, 1.0, 1, 3), &run(2.0, 1.0, 2, 3)).unwrap();
    assert!(c.figures.iter().all(|f| matches!(f.change, Change::TooFew | Change::None)), "{}", c.text());
    assert!(c.text().contains("5 undecided: too few rounds"), "{}", c.text());
    let c = compare(&run(1.0, 1.0, 1, 4), &run(2.0, 1.0, 2, 4)).unwrap();
    assert!(c.is_worse(), "four rounds each are enough: {}", c.text());
}

#[test]
fn a_difference_that_is_sure_but_small_is_no_change() {
    let (a, b) = (run(1.0, 0.1, 1, 8), run(1.02, 0.1, 2, 8));
    assert!(compare(&a, &b).unwrap().figures.iter().all(|f| f.change == Change::None));
    assert!(Compare::new().least_effect(0.01).records(&a, &b).unwrap().is_worse());
}

#[test]
fn failures_where_there_were_none_are_worse() {
    let (a, mut b) = (run(1.0, 1.0, 1, 5), run(1.0, 1.0, 2, 5));
    for s in &mut b.streams {
        books(s, 900, 100);
    }
    let c = compare(&a, &b).unwrap();
    let f = c.figures.iter().find(|f| f.figure == "failed_share").unwrap();
    assert_eq!((f.change, f.ratio, f.after.median), (Change::Worse, None, 0.1));
}

#[test]
fn unlike_runs_are_refused_with_the_fields() {
    let a = run(1.0, 1.0, 1, 5);
    let mut b = run(1.0, 1.0, 2, 5);
    b.method.settings.insert("scale".into(), 100.into());
    b.method.settings.insert("keep_alive".into(), false.into());
    b.method.warmup_ns = 5;
    for s in &mut b.streams {
        s.load.workers = 2;
        s.load.schedule = Some("constant 200/s".into());
    }
    let error = compare(&a, &b).unwrap_err();
    assert_eq!(
        error.to_string(),
        "not comparable: method.settings.keep_alive: none against false; method.settings.scale: none against 100; \
         method.warmup_ns: 1000000000 against 5; nginx@50.load.schedule: none against constant 200/s; \
         nginx@50.load.workers: 1 against 2"
    );
    let c = Compare::new().anyway(true).records(&a, &b).unwrap();
    assert!(
        c.text().starts_with("The runs differ in\nmethod.settings.keep_alive: none against false\n"),
        "{}",
        c.text()
    );
    let mut a = a;
    a.streams.iter_mut().for_each(|s| s.load.schedule = Some("constant 100/s".into()));
    let said = compare(&a, &b).unwrap_err().to_string();
    assert!(said.contains("nginx@50.load.schedule: constant 100/s against constant 200/s"), "{said}");
}

#[test]
fn of_the_other_programs_it_matters_which_were_busy() {
    let others = |name: &str, cores: f64| {
        let mut r = nginx();
        let other = serde_json::json!([{"name": name, "processes": 1, "cores": cores}]);
        r.environment.more.insert("busiest_others".into(), other);
        r.environment.more.insert("loadavg".into(), serde_json::json!([cores, 0.0, 0.0]));
        r
    };
    let said = |a, b| compare(&a, &b).unwrap().differences.iter().map(|d| d.to_string()).collect::<Vec<_>>();
    assert_eq!(said(others("cc1", 0.5), others("cc1", 0.7)), [""; 0]);
    assert_eq!(said(others("cc1", 0.01), others("ssh", 0.02)), [""; 0]);
    assert_eq!(
        said(others("cc1", 0.5), others("ssh", 0.02)),
        ["environment.busiest_others: cc1 against none busy"]
    );
}

#[test]
fn rounds_and_environment_may_differ() {
    let (a, mut b) = (run(1.0, 1.0, 1, 5), run(1.0, 1.0, 2, 6));
    b.environment.cores = Some(16);
    let c = compare(&a, &b).unwrap();
    assert_eq!(c.differences.len(), 1);
    assert_eq!(c.differences[0].to_string(), "environment.cores: none against 16");
}

#[test]
fn streams_that_only_one_has_are_named() {
    let (a, mut b) = (run(1.0, 1.0, 1, 5), run(1.0, 1.0, 2, 5));
    b.streams.extend((1..=5).map(|round| closed("redis", 50, round, 100)));
    let c = compare(&a, &b).unwrap();
    assert_eq!(c.unmatched, ["redis@50 (only in the second)"]);
    let none = compare(&record("a", vec![]), &record("b", vec![])).unwrap();
    assert!(none.text().starts_with("NOTHING TO COMPARE"));
}

#[test]
fn rejected_runs_compare_with_nothing() {
    let (mut a, b) = (run(1.0, 1.0, 1, 5), run(1.0, 1.0, 2, 5));
    a.streams[2].verdict = evidence(&[("in_flight", 0.5)]);
    for record in [a.clone(), {
        a.judge();
        a
    }] {
        let error = compare(&record, &b).unwrap_err();
        assert!(matches!(error, ReportError::Rejected { which: "first", .. }), "{error}");
        assert!(Compare::new().anyway(true).records(&record, &b).is_err(), "not even anyway");
    }
}

#[test]
fn settings_that_cannot_be_meant() {
    let a = run(1.0, 1.0, 1, 5);
    let error = Compare::new().alpha(f64::NAN).records(&a, &a).unwrap_err();
    assert_eq!(error.to_string(), "alpha: NaN is not a share: from 0 to below 1");
}
