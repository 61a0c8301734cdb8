//! Shards: the merged record is that of one run which did everything, and what is missing is said.

mod common;

use common::*;
use load_core::{Histogram, Record, Status, record::Distribution};
use proptest::prelude::*;
use report::merge;

/// A shard that measured these durations.
fn shard(i: usize, n: usize, ns: &[u64]) -> Record {
    let mut s = closed("nginx", 10, 1, ns.len() as u64);
    s.response = distribution(ns.iter().copied());
    s.service = s.response.clone();
    s.wait = None;
    let mut r = record("sharded", vec![s]);
    r.method.settings.insert("shard".into(), format!("{i}/{n}").into());
    r
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn shards_are_the_whole(ns in prop::collection::vec(1u64..20_000_000_000, 3..400), n in 1usize..4) {
        let shards: Vec<Record> = (0..n)
            .map(|i| shard(i + 1, n, &ns.iter().copied().skip(i).step_by(n).collect::<Vec<_>>()))
            .collect();
        let merged = merge(&shards).unwrap();
        let whole = distribution(ns.iter().copied()).unwrap();
        let d = merged.streams[0].response.as_ref().unwrap();
        // The mean of a part is read back to its last digits.
        prop_assert!((d.mean_ns / whole.mean_ns - 1.0).abs() < 1e-9);
        prop_assert!((d.stddev_ns - whole.stddev_ns).abs() <= 1e-6 * whole.stddev_ns + 1.0);
        let mut d = d.clone();
        (d.mean_ns, d.stddev_ns) = (whole.mean_ns, whole.stddev_ns);
        prop_assert_eq!(d, whole);
        let s = &merged.streams[0];
        prop_assert_eq!(s.accounting.succeeded, ns.len() as u64);
        prop_assert!(s.accounting.balances());
        prop_assert_eq!(s.succeeded_per_s, ns.len() as f64);
        prop_assert_eq!(s.load.concurrency, 10 * n as u64);
        prop_assert!(report::contradictions(&merged).is_empty(), "{:?}", report::contradictions(&merged));
        report::json(&merged).unwrap();
    }
}

fn three() -> Vec<Record> {
    (1..=3).map(|i| shard(i, 3, &[MS, 2 * MS, 3 * MS].repeat(50))).collect()
}

#[test]
fn percentiles_are_of_all_operations_and_not_means() {
    // 90 % of all operations are fast on one shard, 10 % slow on the other.
    let (fast, slow) = (vec![MS; 900], vec![100 * MS; 100]);
    let merged = merge(&[shard(1, 2, &fast), shard(2, 2, &slow)]).unwrap();
    let d = merged.streams[0].response.as_ref().unwrap();
    assert!(
        d.p90_ns.abs_diff(MS) < MS / 500 && d.p95_ns.abs_diff(100 * MS) < MS,
        "{} {}",
        d.p90_ns,
        d.p95_ns
    );
}

#[test]
fn the_worst_shard_decides() {
    let mut shards = three();
    shards[1].streams[0].verdict = evidence(&[("in_flight", 0.5), ("samples", 150.0)]);
    let merged = merge(&shards).unwrap();
    assert_eq!(merged.verdict.status, Status::Rejected);
    assert!(merged.verdict.reasons[0].contains("in flight"), "{:?}", merged.verdict.reasons);
    // Few samples on each are enough together.
    let few: Vec<Record> = (1..=3).map(|i| shard(i, 3, &[MS; 20])).collect();
    assert!(few.iter().all(|r| r.verdict.status == Status::Suspect));
    assert_eq!(merge(&few).unwrap().verdict.status, Status::Valid);
    // A verdict that no evidence explains is kept.
    let mut shards = three();
    shards[2].streams[0].verdict.status = Status::Rejected;
    shards[2].streams[0].verdict.reasons = vec!["the operator said so".into()];
    let merged = merge(&shards).unwrap();
    assert_eq!(merged.verdict.reasons, ["nginx@10 round 1: shard 3: the operator said so"]);
    assert_eq!(merged.verdict.status, Status::Rejected);
}

#[test]
fn a_missing_shard_is_said_and_nothing_is_scaled_up() {
    let shards = three();
    let merged = merge(&shards[..2]).unwrap();
    assert_eq!(merged.labels["incomplete"], "2 of 3 shards");
    assert_eq!(merged.verdict.status, Status::Suspect);
    assert_eq!(merged.streams[0].accounting.succeeded, 300);
    let mut shards = three();
    shards[1].streams.push(closed("nginx", 50, 1, 100));
    let merged = merge(&shards).unwrap();
    assert_eq!(
        merged.labels["incomplete"],
        "nginx@50 round 1: incomplete: shard 1 and shard 3 did not measure it"
    );
    assert_eq!(merged.streams[0].verdict.status, Status::Valid);
    assert_eq!(merged.streams[1].verdict.status, Status::Suspect);
    assert_eq!(merged.streams[1].succeeded_per_s, 100.0);
}

#[test]
fn what_is_not_one_run_is_refused() {
    assert!(merge(&[]).unwrap_err().to_string().starts_with("shards: none"));
    let mut shards = three();
    shards[2].method.settings.insert("shard".into(), "1/3".into());
    assert!(merge(&shards).unwrap_err().to_string().starts_with("shard: 1/3 is not given once"));
    let mut shards = three();
    shards[1].plan_hash = "other".into();
    shards[1].method.warmup_ns = 7;
    let said = merge(&shards).unwrap_err().to_string();
    assert!(
        said.contains("plan_hash: 44136fa") && said.contains("method.warmup_ns: 1000000000 against 7"),
        "{said}"
    );
    let mut shards = three();
    shards[1].streams[0].response.as_mut().unwrap().histogram = "no".into();
    assert!(merge(&shards).is_err());
}

#[test]
fn shards_that_began_apart_are_suspect_and_their_times_are_on_one_clock() {
    let mut shards = three();
    shards[1].started_at = "2026-01-01T00:00:02Z".into();
    let mut series = load_core::record::Series::new("host.cpu.busy", "1", "test");
    series.points = vec![(S, 0.5)];
    shards.iter_mut().for_each(|r| r.series = vec![series.clone()]);
    let merged = merge(&shards).unwrap();
    assert_eq!(merged.series[1].name, "shard2.host.cpu.busy");
    assert_eq!(merged.series[1].points, [(3 * S, 0.5)]);
    assert_eq!((merged.phases[0].start_ns, merged.phases[0].end_ns), (S, 4 * S));
    assert_eq!(merged.verdict.status, Status::Suspect);
    assert!(merged.verdict.reasons[0].contains("the shards began 2 s apart"), "{:?}", merged.verdict.reasons);
}

#[test]
fn one_shard_is_itself() {
    let mut one = three().remove(0);
    one.method.settings.insert("shard".into(), "1/1".into());
    let merged = merge(std::slice::from_ref(&one)).unwrap();
    one.method.settings.clear();
    let mut h = Histogram::new();
    h.add(&one.streams[0].response.as_ref().unwrap().histogram().unwrap());
    assert_eq!(merged.streams[0].response, Distribution::of(&h));
    assert_eq!(merged.streams[0], one.streams[0]);
    assert_eq!(merged.verdict, one.verdict);
}
