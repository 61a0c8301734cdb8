//! Arrival processes that are not schedules of rates.

use load_core::{ArrivalProcess, ArrivalStream, Load, Schedule, ScheduledArrival, Shard};
use std::time::Duration;

const SECOND: u64 = 1_000_000_000;

fn offsets(arrivals: impl IntoIterator<Item = ScheduledArrival>) -> Vec<u64> {
    arrivals.into_iter().map(|a| a.offset).collect()
}

/// Bursts of a size drawn from the seed, a second apart; it goes back in time once, which it must not.
struct Bursts;
struct Burst {
    state: u64,
    left: u64,
    second: u64,
}

impl ArrivalProcess for Bursts {
    fn start(&self, seed: u64) -> Box<dyn ArrivalStream> {
        Box::new(Burst { state: seed, left: 0, second: 0 })
    }
    fn describe(&self) -> String {
        "bursts".into()
    }
}

impl ArrivalStream for Burst {
    fn next(&mut self) -> Option<u64> {
        while self.left == 0 {
            self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.left, self.second) = (self.state >> 60, self.second + 1);
        }
        self.left -= 1;
        (self.second < 200).then(|| (self.second * SECOND).saturating_sub(self.left))
    }
}

#[test]
fn a_process_whose_shards_are_not_the_whole() {
    let schedule = Schedule::from(Bursts);
    for seed in [3, 4] {
        let whole: Vec<_> = schedule.arrivals(Shard::whole()).seeded(seed).collect();
        assert!(whole.len() > 1000);
        for workers in [2, 3, 8, 64] {
            let shard = |k| schedule.arrivals(Shard::new(k, workers).unwrap()).seeded(seed);
            let mut union: Vec<_> = (0..workers).flat_map(shard).collect();
            union.sort_by_key(|a| a.index);
            assert_eq!(union, whole, "{workers} shards");
        }
    }
    let all = |seed| schedule.arrivals(Shard::whole()).seeded(seed).collect::<Vec<_>>();
    assert_ne!(all(3), all(4));
}

#[test]
fn a_process_that_goes_back_in_time() {
    let back = Schedule::from_fn("back", |_| [5, 3, 9].map(Duration::from_secs));
    let seen = offsets(back.arrivals(Shard::whole()));
    assert_eq!(seen, [5 * SECOND, 5 * SECOND, 9 * SECOND]);
}

#[test]
fn an_iterator_that_comes_back_after_its_end() {
    let mut n = 0;
    let flaky = move || {
        n += 1;
        (n != 2).then_some(Duration::from_secs(n))
    };
    let schedule = Schedule::from_fn("flaky", move |_| std::iter::from_fn(flaky));
    let mut arrivals = schedule.arrivals(Shard::whole());
    assert_eq!(arrivals.next().map(|a| a.offset), Some(SECOND));
    assert_eq!((arrivals.next(), arrivals.next()), (None, None));
}

#[test]
fn a_process_where_a_schedule_is_asked_for() {
    let load = Load::open(Bursts).sessions(3);
    load.validate().unwrap();
    let schedule = load.schedule().unwrap();
    assert_eq!((schedule.describe().as_str(), schedule.count(), schedule.at(0)), ("bursts", None, None));
    assert!(!schedule.is_replayable());
    assert!(schedule.warmup().is_none(), "its rate is not known");
    for refused in [
        schedule.clone().then(Schedule::constant(1).unwrap()),
        schedule.clone().repeat(2),
        schedule.clone().scale(2.0),
        schedule.clone().lasting(Duration::from_secs(1)),
    ] {
        let said = refused.unwrap_err().to_string();
        assert!(said.contains(": bursts is not allowed: "), "{said}");
    }
    let json = serde_json::to_string(&load).unwrap();
    assert!(json.contains(r#""process":"bursts""#), "{json}");
    let said = serde_json::from_str::<Load>(&json).unwrap_err().to_string();
    assert!(said.starts_with("schedule.process: bursts is not data"), "{said}");
}

#[test]
fn a_rate_changed_while_a_far_arrival_is_awaited() {
    let (schedule, rate) = Schedule::adjustable("0.001/s").unwrap();
    let mut arrivals = schedule.arrivals(Shard::whole()).seeded(1);
    assert_eq!(arrivals.next().unwrap().offset, 0);
    let far = arrivals.next().unwrap();
    assert_eq!(far.offset, 1000 * SECOND);
    assert_eq!(arrivals.revise(4 * SECOND), None, "nothing has changed");
    rate.set("10/s").unwrap();
    // Half an arrival has built up in 500 s, so that the other half takes 50 ms at the new rate.
    let near = arrivals.revise(500 * SECOND).unwrap();
    assert_eq!((near.index, near.offset), (1, 500 * SECOND + 50_000_000));
    assert_eq!(arrivals.revise(500 * SECOND), None);
    assert_eq!(arrivals.next().unwrap().offset, 500 * SECOND + 150_000_000);
    assert_eq!(rate.changes().len(), 2);
    assert_eq!(rate.changes()[1].0, Duration::from_secs(500));
    assert_eq!(rate.rate().per_second(), 10.0);
    assert!(!schedule.is_replayable());
}

#[test]
fn a_rate_changed_that_nobody_revises() {
    let (schedule, rate) = Schedule::adjustable("1/s").unwrap();
    let mut arrivals = schedule.arrivals(Shard::whole());
    assert_eq!(offsets(arrivals.by_ref().take(3)), [0, SECOND, 2 * SECOND]);
    rate.set("4/s").unwrap();
    assert_eq!(offsets(arrivals.by_ref().take(2)), [2 * SECOND + SECOND / 4, 2 * SECOND + SECOND / 2]);
}

#[test]
fn workers_that_change_their_rate_at_different_times() {
    let (schedule, rate) = Schedule::adjustable("10/s").unwrap();
    let mut shards: Vec<_> = (0..3).map(|k| schedule.arrivals(Shard::new(k, 3).unwrap()).seeded(9)).collect();
    let mut pending: Vec<_> = shards.iter_mut().map(|s| s.next().unwrap()).collect();
    assert_eq!(offsets(pending.iter().copied()), [0, SECOND / 10, SECOND / 5]);
    rate.set("100/s").unwrap();
    // One notices 10 ms after the other; both count from the first.
    for (shard, (pending, now)) in shards.iter_mut().zip(pending.iter_mut().zip([0, 10_000_000, 7_000_000])) {
        *pending = shard.revise(now).unwrap_or(*pending);
    }
    let mut all = pending;
    all.extend(shards.iter_mut().flat_map(|s| s.take(10)));
    all.sort_by_key(|a| a.index);
    let expected: Vec<_> = (0..33).map(|n| n * 10_000_000).collect();
    assert_eq!(offsets(all), expected);
}

#[test]
fn a_round_that_inherits_the_changes_of_the_last_one() {
    let (schedule, rate) = Schedule::adjustable("1/s").unwrap();
    let mut first = schedule.arrivals(Shard::whole()).seeded(1);
    first.next();
    rate.set("2/s").unwrap();
    first.next();
    first.next();
    rate.set("4/s").unwrap();
    let second = schedule.arrivals(Shard::whole()).seeded(2);
    assert_eq!(offsets(second.take(3)), [0, SECOND / 4, SECOND / 2], "the rate set last, from the start");
    assert_eq!(rate.changes().len(), 1);
    assert_eq!(schedule.warmup().unwrap().at(1), Some(SECOND / 4));
    assert!(rate.set("0/s").is_err());
}
