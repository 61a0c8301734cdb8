//! Less was sent than was asked for, or several things were called one: what the record and the report say of it. In
//! virtual time, with the stated sizes.

use crate::run;
use openloop::{VirtualTime, prelude::*, report::Threshold};
use std::time::Duration;

/// A server that takes `service`, on `sessions` connections, offered `rate`.
fn offered(rate: f64, sessions: usize, service: Duration, seconds: u64, overload: Overload) -> Record {
    let time = VirtualTime::new();
    let clock = time.clone();
    let call = async move |_: &mut Op| {
        clock.sleep(service).await;
        Ok(())
    };
    let load = Load::open(Schedule::constant(rate).unwrap()).sessions(sessions).overload(overload);
    run(Plan::new()
        .stream("api", workload(call), load)
        .measure(Duration::from_secs(seconds))
        .virtual_time(time))
}

#[test]
fn two_latencies_under_one_name() {
    // Capacity 5/s, offered 10/s: the n-th start is at 2 s for each ten before it.
    let record = offered(10.0, 10, Duration::from_secs(2), 30, Overload::queue(1000));
    let s = &record.streams[0];
    assert_eq!((s.accounting.scheduled, s.accounting.started, s.accounting.unfinished), (300, 150, 150));
    let (service, response) = (s.service.as_ref().unwrap(), s.response.as_ref().unwrap());
    assert_eq!((service.min_ns, service.max_ns), (2_000_000_000, 2_000_000_000));
    assert!((15_000_000_000..=17_000_000_000).contains(&response.max_ns), "{response:?}");
    assert_eq!(s.wait.as_ref().unwrap().max_ns, response.max_ns - service.max_ns);
    assert_eq!(s.offered_per_s, 10.0);
    // Those that end in the drain are not of the rate.
    assert!((4.6..=5.0).contains(&s.succeeded_per_s), "{}", s.succeeded_per_s);
    let text = report::text(&record);
    for part in ["response time = ended − intended", "service (ended − started)", "sent 150 of 300 scheduled"]
    {
        assert!(text.to_lowercase().contains(part), "{part} not in {text}");
    }
}

#[test]
fn arrivals_that_were_missed_and_nobody_said_so() {
    // 1/s, one at a time, 1.9 s each: every second one is missed.
    let record = offered(1.0, 1, Duration::from_millis(1900), 30, Overload::Drop);
    let s = &record.streams[0];
    assert_eq!((s.accounting.scheduled, s.accounting.started, s.accounting.dropped), (30, 15, 15));
    let text = report::text(&record);
    let (said, table) = (text.find("rate not reached").unwrap(), text.find("Open loop:").unwrap());
    assert!(said < table, "before the figures: {text}");
    // What makes a run of it that has failed.
    for (line, holds) in [
        ("api.accounting.dropped == 0", false),
        ("api.sent_share >= 99%", false),
        ("api.sent_share >= 50%", true),
    ] {
        assert_eq!(Threshold::parse(line).unwrap().judge(&record).holds, holds, "{line}");
    }
    let stopped = offered(1.0, 1, Duration::from_millis(1900), 30, Overload::Abort);
    assert!(stopped.interrupted && stopped.checks.iter().any(|c| !c.passed), "{:?}", stopped.checks);
}

#[test]
fn a_shortfall_whose_reason_has_to_be_found_by_hand() {
    let record = offered(5.0, 10, Duration::from_secs(10), 60, Overload::queue(1000));
    let s = &record.streams[0];
    assert_eq!((s.accounting.scheduled, s.accounting.started), (300, 60));
    let finding = &s.verdict.findings[0];
    assert!(finding.contains("60 of 300") && finding.contains("10 sessions were the limit"), "{finding}");
    assert_eq!(s.verdict.status, Status::Valid, "of the server, not of the measurement: {:?}", s.verdict);
}

#[test]
fn phases_merged_into_one_figure() {
    let time = VirtualTime::new();
    let quick = |clock: VirtualTime| {
        workload(async move |_: &mut Op| {
            clock.sleep(Duration::from_millis(1)).await;
            Ok(())
        })
    };
    let at = |rate: f64| Load::open(Schedule::constant(rate).unwrap());
    let record = run(Plan::new()
        .stream("fast", quick(time.clone()), at(200.0))
        .stream("slow", quick(time.clone()), at(50.0))
        .phase("A", ["fast"])
        .phase("B", ["slow"])
        .measure(Duration::from_secs(20))
        .virtual_time(time));
    let figures: Vec<_> = record
        .streams
        .iter()
        .map(|s| (s.phase.as_str(), s.accounting.succeeded, s.succeeded_per_s, s.elapsed_ns))
        .collect();
    let (a, b) = (("A", 4000, 200.0, 20_000_000_000), ("B", 1000, 50.0, 20_000_000_000));
    assert_eq!(figures, [a, b]);
    let text = report::text(&record);
    assert!(text.contains("4,000") && text.contains("1,000"), "{text}");
    assert!(!text.contains("125.0"), "a mean over both: {text}");
}

#[test]
fn a_percentile_that_there_is_not() {
    for line in ["s.response.p101 < 1ms", "s.response.p-1 < 1ms", "s.response.p100.5 < 1ms"] {
        let said = Threshold::parse(line).unwrap_err().to_string();
        assert!(said.contains("response.p"), "{said}");
    }
}
