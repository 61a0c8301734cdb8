//! Rates over a real socket: what the server saw.

use crate::run;
use openloop::{prelude::*, testbed::Known};
use openloop_tests::full;
use std::time::Duration;

fn open(rate: f64) -> Load {
    Load::open(Schedule::constant(rate).unwrap())
}

#[test]
fn alone_bursts_at_the_server_that_the_mean_hides() {
    // Fewer requests a second than connections.
    let (seconds, spread) = if full() { (20, 2) } else { (2, 5) };
    let server = Known::http().start().unwrap();
    let load = open(100.0).sessions(200);
    let record = run(Plan::new()
        .stream("s", Http::get(&server.url()).unwrap(), load)
        .measure(Duration::from_secs(seconds)));
    assert_eq!(record.streams[0].accounting.succeeded, 100 * seconds);
    let arrivals = server.arrivals();
    let mut slots = vec![0u64; 10 * seconds as usize];
    for at in &arrivals {
        // The first one is due at the very start of a slot.
        let ms = (*at - arrivals[0]).as_millis() as usize + 5;
        slots[(ms / 100).min(10 * seconds as usize - 1)] += 1;
    }
    assert!(slots.iter().all(|n| n.abs_diff(10) <= spread), "in each 100 ms: {slots:?}");
}

#[test]
fn alone_asking_for_more_gives_less() {
    let server = Known::http().start().unwrap();
    // The share of the last step's rate that may be lost: a tenth, and more on a machine that does other things too, where
    // each step is tried several times: whatever disturbs only takes away.
    let (length, tries, kept) = if full() { (10_000, 1, 0.9) } else { (200, 5, 0.6) };
    // An unoptimised build does a tenth.
    let unit = if cfg!(debug_assertions) { 1_000.0 } else { 10_000.0 };
    let steps = [2.0, 5.0, 20.0, 100.0].map(|n| n * unit);
    let mut reached = [0f64; 4];
    for _ in 0..tries {
        for (rate, best) in steps.iter().zip(&mut reached) {
            let record = run(Plan::new()
                .stream("s", Http::get(&server.url()).unwrap(), open(*rate).sessions(64))
                .measure(Duration::from_millis(length)));
            let s = &record.streams[0];
            assert_eq!(s.accounting.scheduled, (rate * length as f64 / 1e3) as u64);
            *best = best.max(s.succeeded_per_s);
        }
    }
    eprintln!("asked {steps:?}/s, reached {reached:.0?}/s");
    for (before, after) in reached.iter().zip(&reached[1..]) {
        assert!(*after > kept * before, "asked {steps:?}/s, reached {reached:?}/s");
    }
}

#[test]
fn alone_rate_time_and_concurrency_that_contradict_each_other() {
    // A client that is idle between an answer and the next request, or that times something else.
    let length = Duration::from_millis(if full() { 5_000 } else { 1_000 });
    let server = Known::http().delay(Duration::from_millis(5)).start().unwrap();
    for sessions in [1, 8] {
        let page = Http::get(&server.url()).unwrap();
        let record = run(Plan::new().stream("s", page, Load::closed(sessions)).measure(length));
        let s = &record.streams[0];
        let busy = s.succeeded_per_s * s.service.as_ref().unwrap().mean_ns / 1e9 / sessions as f64;
        assert!((0.9..=1.001).contains(&busy), "{busy} with {sessions}");
    }
}

#[test]
fn alone_two_workloads_merged_into_one() {
    // A poll beside the main load, to see what the poll does to its tail.
    // An unoptimised build does a tenth.
    let stated = if cfg!(debug_assertions) { 1_000.0 } else { 10_000.0 };
    let (seconds, poll, main) = if full() { (60, 1.0, stated) } else { (2, 5.0, 500.0) };
    let server = Known::http().start().unwrap();
    let slow = Known::http()
        .delay(Duration::from_millis(20))
        .every(5, openloop::testbed::Reply::http(503, ""))
        .start();
    let slow = slow.unwrap();
    let record = run(Plan::new()
        .stream("poll", Http::get(&slow.url()).unwrap().expect_status(200).unwrap(), open(poll).sessions(2))
        .stream("main", Http::get(&server.url()).unwrap(), open(main).sessions(50))
        .measure(Duration::from_secs(seconds)));
    let [poll_stream, main_stream] = &record.streams[..] else { panic!("{:?}", record.streams) };
    let count = |rate: f64| (rate * seconds as f64) as u64;
    let (a, b) = (&poll_stream.accounting, &main_stream.accounting);
    assert_eq!((a.scheduled, a.failed), (count(poll), count(poll) / 5), "its own failures");
    assert_eq!((b.scheduled, b.failed), (count(main), 0));
    assert_eq!((slow.stats().requests, server.stats().requests), (count(poll), count(main)));
    let p50 = |s: &openloop::record::StreamRecord| s.response.as_ref().unwrap().p50_ns;
    assert!(p50(poll_stream) >= 20_000_000 && p50(main_stream) < 20_000_000, "percentiles of its own");
    assert!(
        poll_stream.lateness.as_ref().unwrap().p50_ns < 50_000_000,
        "on time: {:?}",
        poll_stream.lateness
    );
    let text = report::text(&record);
    assert!(
        text.contains("poll") && text.contains(&format!("n = {}", count(poll) - count(poll) / 5)),
        "{text}"
    );
}
