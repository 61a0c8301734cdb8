//! What was read beside the load, as a report shows it.

mod common;

use common::*;
use load_core::{Record, record::Series};
use serde_json::json;

fn with(series: &[(&str, &str, &[f64])]) -> Record {
    let mut r = record("watched", vec![closed("nginx", 50, 1, 100)]);
    for (name, unit, values) in series {
        let mut s = Series::new(*name, *unit, "a test");
        s.points = values.iter().enumerate().map(|(i, x)| (i as u64 * S, *x)).collect();
        r.series.push(s);
    }
    r
}

/// The words of the line of a series.
fn line(record: &Record, name: &str) -> String {
    let text = report::text(record);
    let line = text.lines().find(|l| l.starts_with(name)).unwrap_or_else(|| panic!("{name} in {text}"));
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn only_shares_are_percentages() {
    let r = with(&[
        ("host.cpu.busy", "1", &[0.25, 0.75]),
        ("cgroup.web.cpu.of_limit", "1", &[0.99, 1.01]),
        ("redis.memory.fragmentation", "1", &[3.5, 4.5]),
        ("host.tasks", "tasks", &[210.0, 220.0]),
        ("process.nginx.cpu", "cores", &[1.25, 1.75]),
        ("host.memory.available", "B", &[1_073_741_824.0, 2_147_483_648.0]),
        ("host.net.eth0.sent", "B/s", &[0.0, 3_145_728.0]),
        ("nginx.requests", "1/s", &[10_000.0, 12_000.0]),
    ]);
    assert_eq!(line(&r, "host.cpu.busy"), "host.cpu.busy 50.00 % 25.00 % 75.00 % 2 0");
    assert_eq!(line(&r, "cgroup.web"), "cgroup.web.cpu.of_limit 100.00 % 99.00 % 101.00 % 2 0");
    assert_eq!(line(&r, "redis.memory"), "redis.memory.fragmentation 4 3.5 4.5 2 0");
    assert_eq!(line(&r, "host.tasks"), "host.tasks tasks 215 210 220 2 0");
    assert_eq!(line(&r, "process.nginx"), "process.nginx.cpu cores 1.5 1.25 1.75 2 0");
    assert_eq!(line(&r, "host.memory"), "host.memory.available 1.50 GiB 1.00 GiB 2.00 GiB 2 0");
    assert_eq!(line(&r, "host.net"), "host.net.eth0.sent 1.50 MiB/s 0 B/s 3.00 MiB/s 2 0");
    assert_eq!(line(&r, "nginx.requests"), "nginx.requests 1/s 11,000 10,000 12,000 2 0");
}

#[test]
fn a_series_without_a_value_is_no_data() {
    let mut r = with(&[("/proc/pressure", "", &[])]);
    r.series[0].gaps.push((S, "unavailable: no such file".into()));
    assert_eq!(line(&r, "/proc/pressure"), "/proc/pressure – – – 0 1");
}

#[test]
fn what_the_readings_cost_is_said() {
    let r = with(&[("sampler.cpu", "1", &[0.002, 0.004]), ("host.tasks", "tasks", &[5.0])]);
    let text = report::text(&r);
    assert!(text.contains("sampler: 0.30 % of a core on average, at most 0.40 %, for 2 series"), "{text}");
    assert!(!report::text(&with(&[])).contains("sampler:"));
}

#[test]
fn the_machine_and_who_else_was_busy() {
    let mut r = with(&[]);
    let more = &mut r.environment.more;
    more.insert("clocksource".into(), json!("tsc"));
    more.insert("governor".into(), json!("powersave"));
    more.insert("smt".into(), json!("on"));
    more.insert("windows_build".into(), json!("10.0.22631.4317"));
    more.insert("disk_models".into(), json!({"nvme0n1": "Samsung SSD 980"}));
    more.insert(
        "busiest_others".into(),
        json!([
            {"name": "cc1", "processes": 2, "cores": 0.512}, {"name": "backup", "processes": 1, "cores": 0.1},
        ]),
    );
    let text = report::text(&r).replace("\n  ", " ");
    for words in [
        "Windows 10.0.22631.4317 · clock tsc · governor powersave · SMT on · disk nvme0n1 Samsung SSD 980",
        "other programs, mean cores: cc1 (2) 0.512 and backup 0.1",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
    r.environment.more.insert("busiest_others".into(), json!([]));
    assert!(report::text(&r).contains("other programs: none used the CPU"));
    assert!(!report::text(&with(&[])).contains("other programs"), "not read");
}
