use super::*;
use crate::testing::{events, value};
use proptest::prelude::*;
use serde_json::json;

const GIB: u64 = 1 << 30;

fn account() -> ContainerAccount {
    ContainerAccount::on("app", 2, Some(16 * GIB))
}

fn take(account: &mut ContainerAccount, second: u64, reply: &Value) -> (Readings, Result<(), SourceError>) {
    let mut readings = Readings::new();
    let text = reply.to_string();
    let result = account.take(Duration::from_secs(second), text.as_bytes(), &mut readings);
    (readings, result)
}

fn reply(cpu_ns: u64, usage: u64, limit: u64) -> Value {
    json!({
        "cpu_stats": {"cpu_usage": {"total_usage": cpu_ns}, "online_cpus": 2},
        "precpu_stats": {"cpu_usage": {"total_usage": 0}},
        "memory_stats": {"usage": usage, "limit": limit, "stats": {"inactive_file": 100}},
        "blkio_stats": {"io_service_bytes_recursive": [
            {"major": 8, "minor": 0, "op": "read", "value": 10},
            {"major": 8, "minor": 0, "op": "write", "value": 20},
        ]},
        "networks": {"eth0": {"rx_bytes": 5, "tx_bytes": 6}, "eth1": {"rx_bytes": 1, "tx_bytes": 1}},
        "pids_stats": {"current": 3},
    })
}

#[test]
fn hosts_of_both_cgroup_versions_decode() {
    let v2 = include_bytes!("../../fixtures/container-stats/cgroup2.json");
    let v1 = include_bytes!("../../fixtures/container-stats/cgroup1.json");
    for (reply, used) in [(&v1[..], 6_537_216.0 - 1_232_896.0), (&v2[..], 10_526_720.0 - 4_096_000.0)] {
        let mut readings = Readings::new();
        account().take(Duration::ZERO, reply, &mut readings).unwrap();
        assert_eq!(value(&readings, "container.app.memory.used"), Some(used));
        assert_eq!(value(&readings, "container.app.cpu"), None, "a first reply has nothing to compare with");
    }
}

#[test]
fn single_replies_give_rates_by_their_own_differences() {
    let mut account = account();
    for second in 0..3 {
        let (readings, result) = take(&mut account, second, &reply(second * 1_000_000_000 + 7, 500, GIB));
        result.unwrap();
        assert_eq!(value(&readings, "container.app.cpu"), (second > 0).then_some(1.0));
        assert_eq!(value(&readings, "container.app.cpu.of_host"), (second > 0).then_some(0.5));
    }
}

#[test]
fn a_reply_of_zeros_is_missing_and_rates_step_over_it() {
    let mut account = account();
    take(&mut account, 0, &reply(1_000_000_000, 500, GIB)).1.unwrap();
    let (readings, result) = take(&mut account, 1, &reply(0, 0, 0));
    assert!(readings.values().is_empty() && readings.events().is_empty());
    assert!(matches!(result, Err(SourceError::Failed(why)) if why.contains("zero")));
    let (readings, _) = take(&mut account, 2, &reply(2_000_000_000, 500, GIB));
    assert_eq!(value(&readings, "container.app.cpu"), Some(0.5), "one second of CPU in the two between");
    assert_eq!(events(&readings), [""; 0]);
}

#[test]
fn no_share_of_a_limit_that_is_none() {
    for limit in [0, 9_223_372_036_854_771_712, 16 * GIB] {
        let (readings, _) = take(&mut account(), 0, &reply(1, 500, limit));
        assert_eq!(value(&readings, "container.app.memory.usage"), Some(500.0));
        assert_eq!(value(&readings, "container.app.memory.of_limit"), None, "{limit}");
    }
    let (readings, _) = take(&mut account(), 0, &reply(1, 600, 1000));
    assert_eq!(value(&readings, "container.app.memory.of_limit"), Some(0.5));
}

#[test]
fn a_restart_is_one_event_and_no_spike() {
    let mut account = account();
    take(&mut account, 0, &reply(9_000_000_000, 500, GIB)).1.unwrap();
    let (readings, _) = take(&mut account, 1, &reply(1_000, 500, GIB));
    assert_eq!(events(&readings), ["restarted"]);
    assert_eq!(value(&readings, "container.app.cpu"), None);
    let (readings, _) = take(&mut account, 2, &reply(500_001_000, 500, GIB));
    assert_eq!((value(&readings, "container.app.cpu"), events(&readings).len()), (Some(0.5), 0));
}

proptest! {
    #[test]
    fn no_reply_panics(bytes: Vec<u8>, cpu: u64, usage: u64, limit: u64) {
        let mut account = account();
        let mut readings = Readings::new();
        let _ = account.take(Duration::ZERO, &bytes, &mut readings);
        take(&mut account, 1, &reply(usage, cpu, limit)).1.ok();
        let (readings, _) = take(&mut account, 2, &reply(cpu, usage, limit));
        prop_assert!(readings.values().iter().all(|v| v.2.is_finite() && v.2 >= 0.0));
    }
}
