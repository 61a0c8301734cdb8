//! Schedules that cannot be meant: each refused by the name of the field, with its value.

use load_core::{ConfigError, Load, Rate, Schedule, record::plan_hash};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn bad_numbers_that_are_accepted() {
    let constant = || Schedule::constant(1).unwrap();
    let ended = || constant().lasting(SECOND).unwrap();
    let refused: [(&str, Result<Schedule, ConfigError>); 34] = [
        ("rate: 0 ", Schedule::constant(0.0)),
        ("rate: -5/s ", Schedule::constant("-5/s")),
        ("rate: NaN ", Schedule::constant(f64::NAN)),
        ("rate: inf ", Schedule::constant(f64::INFINITY)),
        ("rate: 10 ", Schedule::constant("10")),
        ("schedule.from: -1 ", Schedule::ramp(-1, 1, SECOND)),
        ("schedule.to: NaN ", Schedule::ramp(1.0, f64::NAN, SECOND)),
        ("schedule.to: 0/s ", Schedule::ramp(0, 0, SECOND)),
        ("schedule.duration: 0 s ", Schedule::ramp(1, 2, Duration::ZERO)),
        ("schedule.duration: 584542046090years ", Schedule::ramp(1, 2, Duration::MAX)),
        ("schedule.steps: none ", Schedule::steps([0.0; 0], SECOND)),
        ("schedule.steps[1]: 0/s ", Schedule::steps(["1/s", "0/s"], SECOND)),
        ("schedule.duration: 0 s ", Schedule::steps(["1/s"], Duration::ZERO)),
        ("schedule.mean: 0 ", Schedule::sine(0, 1, SECOND)),
        ("schedule.amplitude: inf ", Schedule::sine(1.0, f64::INFINITY, SECOND)),
        ("schedule.amplitude: 2/s ", Schedule::sine(1, 2, SECOND)),
        ("schedule.period: 0 s ", Schedule::sine(1, 1, Duration::ZERO)),
        ("schedule.base: 0/s ", Schedule::spike("0/s", "1/s", SECOND, SECOND)),
        ("schedule.peak: 2000000000 ", Schedule::spike(1, 2_000_000_000, SECOND, SECOND)),
        ("schedule.after: 0 s ", Schedule::spike(1, 1, Duration::ZERO, SECOND)),
        ("schedule.duration: 0 s ", Schedule::spike(1, 1, SECOND, Duration::ZERO)),
        ("schedule.duration: 0 s ", Schedule::pause(Duration::ZERO)),
        ("schedule.offsets: none ", Schedule::replay([])),
        ("schedule.offsets[2]: 0 ns ", Schedule::replay([0, 2, 0].map(Duration::from_secs))),
        ("schedule.offsets[1]: 584542046090years ", Schedule::replay([Duration::ZERO, Duration::MAX])),
        ("schedule.lasting: 1s ", ended().lasting(SECOND)),
        ("schedule.duration: 0 s ", constant().lasting(Duration::ZERO)),
        ("schedule.duration: 1 ns ", Schedule::replay([SECOND]).unwrap().lasting(Duration::from_nanos(1))),
        ("schedule.then: 1/s ", constant().then(constant())),
        ("schedule.repeat: 1/s ", constant().repeat(2)),
        ("schedule.repeat: 0 ", ended().repeat(0)),
        ("schedule.repeat: 4294967295 ", ended().repeat(u32::MAX)),
        ("schedule.factor: 0 ", constant().scale(0.0)),
        ("schedule.factor: 10000000000 ", constant().scale(1e10)),
    ];
    for (field, result) in refused {
        let said = result.expect_err(field).to_string();
        assert!(said.starts_with(field), "{said} does not name {field}");
    }
    let silent = Load::open(Schedule::pause(SECOND).unwrap()).validate().unwrap_err().to_string();
    assert!(silent.starts_with("schedule: nothing for 1 s "), "{silent}");
}

#[test]
fn bad_data_that_is_accepted() {
    let part = |part: &str| serde_json::from_str::<Schedule>(&format!(r#"{{"parts":[{part}]}}"#));
    assert!(part(r#"{"constant":{"rate":"5/s","length_ns":1}}"#).is_ok());
    for bad in [
        "",
        r#"{"constant":{"rate":"0/s"}}"#,
        r#"{"constant":{"rate":"5/s","length_ns":0}}"#,
        r#"{"constant":{"rate":"5/s","length_ns":-1}}"#,
        r#"{"constant":{"rate":"5/s","length":1}}"#,
        r#"{"constant":{"rate":"5/s"}},{"pause":{"length_ns":1}}"#,
        r#"{"ramp":{"from":"-1/s","to":"1/s","length_ns":1}}"#,
        r#"{"ramp":{"from":"0/s","to":"0/s","length_ns":1}}"#,
        r#"{"sine":{"mean":"1/s","amplitude":"2/s","period_ns":1}}"#,
        r#"{"sine":{"mean":"1/s","amplitude":"1/s","period_ns":0}}"#,
        r#"{"replay":{"offsets_ns":[]}}"#,
        r#"{"replay":{"offsets_ns":[2,1]}}"#,
        r#"{"replay":{"offsets_ns":[18446744073709551615]}}"#,
        r#"{"repeat":{"times":0,"parts":[{"pause":{"length_ns":1}}]}}"#,
        r#"{"repeat":{"times":2,"parts":[{"constant":{"rate":"5/s"}}]}}"#,
        r#"{"repeat":{"times":99999,"parts":[{"repeat":{"times":99999,"parts":[{"pause":{"length_ns":1}}]}}]}}"#,
        r#"{"pause":{"length_ns":18446744073709551615}},{"pause":{"length_ns":1}}"#,
    ] {
        assert!(part(bad).is_err(), "{bad}");
    }
}

#[test]
fn plans_that_differ_under_one_hash() {
    let constant = || Schedule::constant("10/s").unwrap();
    let ended = || constant().lasting(SECOND).unwrap();
    let schedules = [
        constant(),
        Schedule::constant(Rate::new(10.000000000000002).unwrap()).unwrap(),
        constant().poisson(),
        constant().poisson_seeded(0),
        constant().poisson_seeded(1),
        ended(),
        constant().lasting(Duration::from_nanos(1_000_000_001)).unwrap(),
        ended().repeat(2).unwrap(),
        ended().repeat(3).unwrap(),
        ended().then(ended()).unwrap(),
        ended().then(constant()).unwrap(),
        ended().then(Schedule::pause(SECOND).unwrap()).unwrap(),
        Schedule::ramp("10/s", "0/s", SECOND).unwrap(),
        Schedule::sine("10/s", "1/s", SECOND).unwrap(),
        Schedule::sine("10/s", "1/s", 2 * SECOND).unwrap(),
        Schedule::replay([SECOND]).unwrap(),
        Schedule::replay([SECOND, SECOND]).unwrap(),
        Schedule::replay([SECOND]).unwrap().lasting(2 * SECOND).unwrap(),
        Schedule::from_fn("one", |_| [SECOND]),
        Schedule::from_fn("another", |_| [SECOND]),
    ];
    let mut hashes: Vec<_> =
        schedules.iter().map(|s| plan_hash(&serde_json::to_value(Load::open(s.clone())).unwrap())).collect();
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), schedules.len());
    let again = plan_hash(&serde_json::to_value(Load::open(ended().repeat(3).unwrap())).unwrap());
    assert!(hashes.contains(&again), "equal plans have equal hashes");
}
