//! Which resource was full.

mod common;

use common::*;
use load_core::{
    Record,
    record::{Phase, Series},
};
use report::{limiter, mean_within};

fn series(name: &str, values: &[f64]) -> Series {
    let mut s = Series::new(name, "1", "a test");
    s.points = values.iter().enumerate().map(|(i, x)| ((i as u64 + 1) * S, *x)).collect();
    s
}

/// Two phases, 2 s to 5 s and 6 s to 9 s, with a stream in the second.
fn watched(series: Vec<Series>, generator: f64) -> Record {
    let mut s = closed("nginx", 50, 1, 100);
    s.phase = "together".into();
    s.verdict = evidence(&[("generator_cpu", generator)]);
    let mut r = record("mixed", vec![s]);
    r.phases = vec![Phase::new("idle", 1, 2 * S, 5 * S), Phase::new("together", 1, 6 * S, 9 * S)];
    r.series = series;
    r
}

#[test]
fn what_is_full_is_named_in_its_phase_alone() {
    let busy = [0.9, 0.0, 0.1, 0.1, 0.1, 0.5, 0.97, 0.99, 0.98, 0.0];
    let r = watched(vec![series("host.cpu.busy", &busy), series("host.disk.vda.busy", &[0.2; 10])], 0.3);
    let said = limiter(&r);
    assert_eq!(said.len(), 2);
    assert_eq!(said[0].full().count(), 0);
    let disk = &said[0].used[0];
    assert!(disk.name == "vda" && (disk.share - 0.2).abs() < 1e-9, "{disk:?}");
    let full: Vec<_> = said[1].full().collect();
    assert_eq!((full.len(), full[0].kind), (1, "host CPU"));
    assert!((full[0].share - 0.98).abs() < 1e-9, "{}", full[0].share);
    let text = said[1].to_string();
    assert!(text.starts_with("limiter, together: host CPU 98.00 % full; not full: "), "{text}");
    assert!(text.contains("load generator (nginx) 30.00 %") && text.contains("disk (vda) 20.00 %"), "{text}");
    assert!(text.ends_with("not measured: one core of a server, memory and network"), "{text}");
}

#[test]
fn one_thread_can_be_the_limit_on_an_idle_machine() {
    let one = |share| series("process.redis.cpu.busiest_thread", &[share; 10]);
    let said = limiter(&watched(vec![series("host.cpu.busy", &[0.55; 10]), one(0.99)], 0.3));
    let text = said[1].to_string();
    assert!(text.contains("one core of a server (redis) 99.00 % full"), "{text}");
    let said = limiter(&watched(vec![series("host.cpu.busy", &[0.55; 10]), one(0.5)], 0.3));
    assert!(said[1].to_string().contains("none of what was read was full"), "{}", said[1]);
    let said = limiter(&watched(vec![one(0.5)], 0.85));
    assert!(said[1].to_string().contains("load generator (nginx) 85.00 % full"), "{}", said[1]);
}

/// What was full in the phase with a stream.
fn full(series: Vec<Series>) -> Vec<String> {
    limiter(&watched(series, 0.3))[1].full().map(|u| u.to_string()).collect()
}

fn all(name: &str, share: f64) -> Series {
    series(name, &[share; 10])
}

#[test]
fn each_kind_of_resource_is_seen_when_it_is_full_and_not_before() {
    for (name, enough, less, said) in [
        ("host.cpu.busy", 0.91, 0.89, "host CPU 91.00 %"),
        ("cgroup.web.cpu.of_limit", 0.99, 0.8, "CPU limit (web) 99.00 %"),
        ("container.db.cpu.of_limit", 0.99, 0.8, "CPU limit (db) 99.00 %"),
        ("cgroup.web.throttled_periods", 0.6, 0.4, "periods held back by a CPU limit (web) 60.00 %"),
        ("process.redis.cpu.busiest_thread", 0.95, 0.85, "one core of a server (redis) 95.00 %"),
        ("cgroup.web.memory.of_limit", 0.97, 0.93, "memory limit (web) 97.00 %"),
        ("container.db.memory.of_limit", 0.97, 0.93, "memory limit (db) 97.00 %"),
        ("host.pressure.memory.some", 0.25, 0.05, "time waiting for memory 25.00 %"),
        ("host.disk.nvme0n1.busy", 0.98, 0.5, "disk (nvme0n1) 98.00 %"),
        ("host.net.eth0.of_link", 0.94, 0.5, "network (eth0) 94.00 %"),
    ] {
        assert_eq!(full(vec![all(name, enough)]), [said]);
        let not = limiter(&watched(vec![all(name, less)], 0.3))[1].to_string();
        assert!(not.starts_with("limiter, together: none of what was read was full: "), "{not}");
    }
    let memory =
        |available: f64| vec![all("host.memory.total", 16e9), all("host.memory.available", available)];
    assert_eq!(full(memory(0.16e9)), ["memory 99.00 %"]);
    assert_eq!(full(memory(4e9)), [""; 0]);
    assert_eq!(full(vec![all("host.memory.available", 1.0)]), [""; 0], "of an unknown whole");
}

#[test]
fn stolen_time_leaves_less_to_be_used() {
    let stolen = |share| vec![all("host.cpu.steal", share), all("host.cpu.busy", 0.6)];
    assert_eq!(full(stolen(0.35)), ["host CPU (with what was stolen) 95.00 %"]);
    assert_eq!(full(stolen(0.005)), [""; 0]);
}

#[test]
fn several_that_are_full_are_all_named_and_pressure_only_when_there_is_some() {
    let disks = vec![
        all("host.disk.sda.busy", 0.95),
        all("host.disk.sdb.busy", 0.99),
        all("host.disk.sdc.busy", 0.1),
    ];
    assert_eq!(full(disks), ["disk (sdb) 99.00 %", "disk (sda) 95.00 %"]);
    let calm =
        limiter(&watched(vec![all("host.pressure.memory.some", 0.001), all("host.cpu.busy", 0.2)], 0.3));
    assert!(!calm[1].to_string().contains("waiting"), "{}", calm[1]);
}

#[test]
fn the_report_says_it_for_every_phase() {
    let text = report::text(&watched(vec![all("host.cpu.busy", 0.95)], 0.3));
    assert!(text.contains("limiter, idle: host CPU 95.00 % full"), "{text}");
    assert!(text.contains("limiter, together: host CPU 95.00 % full"), "{text}");
    assert!(!report::text(&watched(vec![], 0.3)).contains("limiter"), "nothing was sampled");
}

#[test]
fn nothing_read_is_not_nothing_full() {
    let mut r = watched(vec![], 0.3);
    r.streams.clear();
    let text = limiter(&r)[1].to_string();
    assert_eq!(text, "limiter, together: not known, nothing was read");
    assert_eq!(limiter(&Record::new("empty", "")), vec![]);
}

#[test]
fn a_reading_counts_for_the_time_before_it_and_gaps_do_not_count() {
    let mut s = series("host.cpu.busy", &[0.0, 1.0, 0.5]);
    let phase = Phase::new("a", 1, S + S / 2, 3 * S);
    // Half a second at 1, one second at 0.5.
    assert!((mean_within(&s, &phase).unwrap() - (0.5 + 0.5) / 1.5).abs() < 1e-9);
    s.gaps.push((2 * S + S / 2, "no answer".into()));
    assert_eq!(mean_within(&s, &phase), Some(1.0));
    assert_eq!(mean_within(&s, &Phase::new("b", 1, 9 * S, 10 * S)), None);
}

#[test]
fn of_several_rounds_it_is_the_median() {
    let values = [0.0, 0.2, 0.3, 0.95, 0.0];
    let mut r = watched(vec![series("host.cpu.busy", &values)], 0.3);
    r.phases = (0..3)
        .map(|i| Phase::new("together", i + 1, (u64::from(i) + 1) * S, (u64::from(i) + 2) * S))
        .collect();
    let said = limiter(&r);
    let host = said[0].used.iter().find(|u| u.kind == "host CPU").unwrap();
    assert!((host.share - 0.3).abs() < 1e-9 && !host.full);
}
