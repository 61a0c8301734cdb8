//! Properties of evenly spaced schedules, judged by exact arithmetic.

use crate::piecewise::{count, pieces, reached, schedule, whole_pieces};
use load_core::{Schedule, ScheduledArrival, Shard};
use proptest::prelude::*;
use std::time::Duration;

fn all(schedule: &Schedule) -> Vec<ScheduledArrival> {
    schedule.arrivals(Shard::whole()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_arrival_too_many_or_too_few(pieces in pieces(300_000, 3000)) {
        let schedule = schedule(&pieces);
        let arrivals = all(&schedule);
        prop_assert_eq!(schedule.count(), Some(count(&pieces)));
        prop_assert_eq!(arrivals.len() as u64, count(&pieces));
        prop_assert_eq!(schedule.at(count(&pieces)), None);
    }

    #[test]
    fn one_arrival_too_many_where_the_count_is_whole(pieces in whole_pieces(), times in 1u32..20) {
        let once = schedule(&pieces);
        prop_assert_eq!(once.count(), Some(count(&pieces)));
        prop_assert_eq!(all(&once).len() as u64, count(&pieces));
        let repeated = once.repeat(times).unwrap();
        prop_assert_eq!(repeated.count(), Some(count(&pieces) * u64::from(times)));
    }

    #[test]
    fn one_arrival_too_many_or_too_few_of_many(pieces in pieces(1_000_000_000, 10)) {
        let schedule = schedule(&pieces);
        prop_assert_eq!(schedule.count(), Some(count(&pieces)));
    }

    #[test]
    fn an_arrival_before_the_last_one_or_after_the_end(pieces in pieces(300_000, 3000)) {
        let schedule = schedule(&pieces);
        let end = schedule.duration().unwrap().as_nanos() as u64;
        let arrivals = all(&schedule);
        for (n, pair) in arrivals.windows(2).enumerate() {
            prop_assert!(pair[0].offset <= pair[1].offset, "{n}");
        }
        prop_assert!(arrivals.last().is_none_or(|a| a.offset < end));
        prop_assert!(arrivals.iter().enumerate().all(|(n, a)| a.index == n as u64));
    }

    #[test]
    fn an_arrival_early_or_late(pieces in pieces(300_000, 3000)) {
        let schedule = schedule(&pieces);
        for a in all(&schedule) {
            let at = i128::from(a.offset);
            // The last time with F(t) ≤ n, to a nanosecond either side.
            prop_assert!(!reached(&pieces, at - 2, a.index, false), "late: {a:?}");
            prop_assert!(reached(&pieces, at + 2, a.index, true), "early: {a:?}");
            prop_assert_eq!(schedule.at(a.index), Some(a.offset));
        }
    }

    #[test]
    fn counts_within_a_time_that_disagree_with_the_arrivals(
        pieces in pieces(300_000, 3000),
        parts in prop::collection::vec(0.0..1.2f64, 8),
    ) {
        let schedule = schedule(&pieces);
        let arrivals = all(&schedule);
        for part in parts {
            let until = schedule.duration().unwrap().mul_f64(part);
            let seen = arrivals.iter().filter(|a| u128::from(a.offset) < until.as_nanos()).count();
            prop_assert_eq!(schedule.count_within(until), seen as u64, "{:?}", until);
        }
    }

    #[test]
    fn an_arrival_of_no_shard_or_of_two(
        pieces in pieces(100_000, 1000),
        workers in 1usize..70,
        more in 0usize..70,
    ) {
        let schedule = schedule(&pieces);
        for shard in [
            |k, workers, slots| Shard::of_worker(k, workers, slots).unwrap(),
            |k, workers, _| Shard::new(k, workers).unwrap(),
        ] {
            let mut union: Vec<_> =
                (0..workers).flat_map(|k| schedule.arrivals(shard(k, workers, workers + more))).collect();
            union.sort_by_key(|a| a.index);
            prop_assert_eq!(union, all(&schedule));
        }
    }

    #[test]
    fn a_drift_of_the_nth_arrival(
        milli in 1u128..10_000_000_000,
        n in prop_oneof![Just(1_000_000_000u64), 0u64..10_000_000_000],
    ) {
        let exact = (u128::from(n) * 1_000_000_000_000 + milli / 2) / milli;
        // Within 48 days, where nanoseconds are promised.
        prop_assume!(exact < (1 << 52));
        let at = Schedule::constant(milli as f64 / 1000.0).unwrap().at(n).unwrap();
        prop_assert!(u128::from(at).abs_diff(exact) <= 1, "{at} is not {exact}");
    }

    #[test]
    fn a_repetition_that_drifts(pieces in pieces(50_000, 500), times in 1u32..200) {
        let once = schedule(&pieces);
        let repeated = once.clone().repeat(times).unwrap();
        let pieces: Vec<_> = std::iter::repeat_n(pieces, times as usize).flatten().collect();
        prop_assert_eq!(repeated.count(), Some(count(&pieces)));
        prop_assert_eq!(repeated.duration(), Some(once.duration().unwrap() * times));
        if let Some(last) = count(&pieces).checked_sub(1) {
            let at = i128::from(repeated.at(last).unwrap());
            prop_assert!(!reached(&pieces, at - 2, last, false) && reached(&pieces, at + 2, last, true));
        }
    }

    #[test]
    fn a_schedule_read_back_that_is_another(pieces in pieces(u32::MAX.into(), 1 << 40), times in 1u32..3) {
        let schedule = schedule(&pieces).repeat(times).unwrap().poisson_seeded(u64::MAX);
        let json = serde_json::to_string(&schedule).unwrap();
        let back: Schedule = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(&back, &schedule);
        prop_assert_eq!(serde_json::to_string(&back).unwrap(), json);
    }

    #[test]
    fn a_swing_that_is_early_or_late(
        mean in 0.5..5000.0f64,
        ratio in 0.0001..=1.0f64,
        period_ms in 1u64..100_000,
        periods in 0u64..100_000,
    ) {
        let period = Duration::from_millis(period_ms);
        let schedule = Schedule::sine(mean, mean * ratio, period).unwrap();
        let seconds = period.as_secs_f64();
        let first = (mean * seconds * periods as f64) as u64;
        let mut last = 0;
        for n in (first..).take(200) {
            let at = schedule.at(n).unwrap();
            prop_assert!(at >= last, "arrival {n} is before the last one");
            last = at;
            // The count by the closed form, one nanosecond either side and with the roundings of its own.
            let count = |ns: f64| {
                let angle = std::f64::consts::TAU * ns / 1e9 / seconds;
                mean * ns / 1e9 + mean * ratio * seconds / std::f64::consts::TAU * (1.0 - angle.cos())
            };
            let rounding = 1e-15 * (n as f64) * 16.0 + 1e-9 * mean * seconds;
            prop_assert!(count(at as f64 - 1.0) - rounding <= n as f64, "late: {n} at {at}");
            prop_assert!(count(at as f64 + 1.0) + rounding >= n as f64, "early: {n} at {at}");
        }
    }
}

#[test]
fn a_count_that_is_not_the_written_rule() {
    let secs = Duration::from_secs;
    let constant = |rate: &str, s| Schedule::constant(rate).unwrap().count_within(secs(s));
    assert_eq!(constant("30/s", 30), 900);
    assert_eq!(constant("0.5/s", 10), 5);
    assert_eq!(constant("2.5/s", 8), 20);
    assert_eq!(constant("100/min", 60), 100);
    assert_eq!(constant("10M/s", 5), 50_000_000);
    assert_eq!(constant("0.001/s", 10_000), 10);
    let count = |s: Schedule| s.count().unwrap();
    assert_eq!(count(Schedule::ramp(10, 100, secs(20)).unwrap()), 1100);
    assert_eq!(count(Schedule::ramp(0, 100, secs(20)).unwrap()), 1000);
    assert_eq!(count(Schedule::ramp(100, 0, secs(20)).unwrap()), 1000);
    let sine = Schedule::sine("20/s", "20/s", secs(7)).unwrap();
    assert_eq!(sine.count_within(secs(7000)), 140_000);
    assert_eq!(count(sine.lasting(secs(70)).unwrap()), 1400);
    let spike = Schedule::spike("5/s", "500/s", secs(10), secs(2)).unwrap();
    assert_eq!(count(spike.lasting(secs(3)).unwrap()), 50 + 1000 + 15);
    let replay = Schedule::replay([0, 0, 5].map(Duration::from_millis)).unwrap();
    assert_eq!(count(replay.clone()), 3);
    assert_eq!(count(replay.lasting(secs(1)).unwrap().repeat(4).unwrap()), 12);
}

#[test]
fn a_rate_that_is_lost_above_a_threshold() {
    const WORKERS: usize = 50;
    for per_worker in (60..=120).step_by(3) {
        let schedule = Schedule::constant(per_worker * WORKERS as i32).unwrap();
        let end = 5_000_000_000;
        for k in 0..WORKERS {
            let shard = Shard::of_worker(k, WORKERS, 2 * WORKERS).unwrap();
            let sent = schedule.arrivals(shard).take_while(|a| a.offset < end).count();
            assert_eq!(sent, 5 * per_worker as usize, "{per_worker}/s, worker {k}");
        }
    }
}

#[test]
fn a_low_rate_that_many_workers_share() {
    let schedule = Schedule::constant("10/s").unwrap();
    for workers in [10, 64] {
        let shard = |k| Shard::new(k, workers).unwrap();
        let sent: usize = (0..workers)
            .map(|k| schedule.arrivals(shard(k)).take_while(|a| a.offset < 2_000_000_000).count())
            .sum();
        assert_eq!(sent, 20, "{workers} workers");
    }
}

#[test]
fn bursts_that_the_mean_hides() {
    // Fewer arrivals a second than there are slots.
    let schedule = Schedule::constant("100/s").unwrap();
    let mut slots = [0; 200];
    for k in 0..200 {
        for arrival in
            schedule.arrivals(Shard::new(k, 200).unwrap()).take_while(|a| a.offset < 20_000_000_000)
        {
            slots[(arrival.offset / 100_000_000) as usize] += 1;
        }
    }
    assert_eq!(slots, [10; 200], "in each 100 ms");
}

#[test]
fn a_list_that_is_another_than_its_parts_in_turn() {
    let part = |i: u64| Schedule::ramp(i as f64, 3.0, Duration::from_millis(100 + i)).unwrap();
    let parts = || (0..50_000).map(part);
    let list = Schedule::sequence(parts()).unwrap();
    assert_eq!(list.duration(), Some(parts().map(|p| p.duration().unwrap()).sum()));
    let in_turn = parts().take(100).reduce(|a, b| a.then(b).unwrap()).unwrap();
    assert_eq!(Schedule::sequence(parts().take(100)).unwrap(), in_turn);
    let said = |list: Vec<Schedule>| Schedule::sequence(list).unwrap_err().to_string();
    let endless = || Schedule::constant(1).unwrap();
    assert!(said(vec![]).starts_with("schedule.sequence: none "));
    assert!(said(vec![endless(), endless()]).starts_with("schedule.sequence: 1/s "));
    assert!(said(vec![part(1), endless().poisson()]).starts_with("schedule.sequence: Poisson, 1/s "));
}

#[test]
fn a_count_that_takes_for_ever() {
    for rate in [1e9, 1.0, 1e-9] {
        let constant = Schedule::constant(rate).unwrap();
        assert!(constant.count_within(Duration::MAX) >= (1.8e10 * rate) as u64);
        let sine = Schedule::sine(rate, rate, Duration::from_nanos(7)).unwrap();
        assert!(sine.count_within(Duration::MAX) >= (1.8e10 * rate) as u64);
    }
}

#[test]
fn small_parts_that_are_lost_in_the_sum() {
    // Each part holds 5e-10 of an arrival.
    let part = Schedule::constant("0.0005/s").unwrap().lasting(Duration::from_micros(1)).unwrap();
    let long = part.repeat(50_000).unwrap();
    assert_eq!(long.count(), Some(1), "the one at 0");
    let tail = Schedule::constant("1/s").unwrap().lasting(Duration::from_secs(2)).unwrap();
    let both = long.then(tail).unwrap();
    assert_eq!(both.count(), Some(3), "2.5e-5 + 2 arrivals");
    assert_eq!(both.at(1), Some(50_000_000 + 999_975_000));
}

#[test]
fn an_arrival_in_a_pause() {
    let secs = Duration::from_secs;
    let second = Schedule::constant("10/s").unwrap().lasting(secs(1)).unwrap();
    let pause = Schedule::pause(secs(1)).unwrap();
    let s = pause.clone().then(second.clone()).unwrap().then(pause).unwrap().then(second).unwrap();
    assert_eq!(s.at(0), Some(1_000_000_000), "what is due when a pause begins comes when it ends");
    assert_eq!((s.at(9), s.at(10)), (Some(1_900_000_000), Some(3_000_000_000)));
    assert_eq!((s.count(), s.initial_rate(), s.rate_at(secs(2))), (Some(20), 0.0, 0.0));
    assert!(s.warmup().is_none());
}

#[test]
fn a_ramp_from_or_to_nothing_that_never_starts_or_ends() {
    let up = Schedule::ramp("0/s", "0.002/s", Duration::from_secs(10_000)).unwrap();
    assert_eq!(up.count(), Some(10));
    assert_eq!(up.at(0), Some(0));
    // x = 10⁻⁷ t² (t in s), so the fourth arrival is at √(3·10⁷) s.
    assert!(up.at(3).unwrap().abs_diff(5_477_225_575_052) <= 1);
    let down = Schedule::ramp("0.002/s", "0/s", Duration::from_secs(10_000)).unwrap();
    assert_eq!((down.count(), down.at(10)), (Some(10), None));
    assert!(down.at(9).unwrap().abs_diff(6_837_722_339_832) <= 1);
}

#[test]
fn a_scale_that_is_not_of_the_rate() {
    let secs = Duration::from_secs;
    let s = Schedule::ramp(10, 100, secs(20)).unwrap().then(Schedule::pause(secs(1)).unwrap()).unwrap();
    let tenfold = s.clone().scale(10.0).unwrap();
    assert_eq!((tenfold.count(), tenfold.duration()), (Some(11_000), s.duration()));
    let replay = Schedule::replay([0, 10, 40].map(secs)).unwrap().lasting(secs(50)).unwrap();
    let faster = replay.scale(2.0).unwrap();
    assert_eq!((faster.at(2), faster.duration()), (Some(20_000_000_000), Some(secs(25))));
}

#[test]
fn times_beyond_64_bits() {
    let slow = Schedule::constant(1e-10).unwrap();
    assert_eq!((slow.at(1), slow.at(2)), (Some(10_000_000_000_000_000_000), None));
    assert_eq!(slow.arrivals(Shard::whole()).count(), 2);
    let century = Schedule::constant(1e-9).unwrap().lasting(Duration::from_secs(3_155_760_000)).unwrap();
    assert!(century.clone().repeat(5).is_ok());
    let said = century.repeat(6).unwrap_err().to_string();
    assert!(said.starts_with("schedule.duration: ") && said.ends_with("at most 584 years"), "{said}");
    assert_eq!(
        Schedule::sine(1e-300, 1e-301, Duration::MAX / 2).unwrap_err().to_string().split(':').next(),
        Some("schedule.period")
    );
}

#[test]
fn parts_that_do_not_follow_each_other() {
    let secs = Duration::from_secs;
    let s = Schedule::constant(10).unwrap().lasting(secs(1)).unwrap();
    let s = s.then(Schedule::ramp(10, 30, secs(2)).unwrap()).unwrap();
    assert_eq!((s.count(), s.duration()), (Some(50), Some(secs(3))));
    assert_eq!((s.at(9), s.at(10), s.at(50)), (Some(900_000_000), Some(1_000_000_000), None));
    assert_eq!((s.initial_rate(), s.rate_at(secs(2)), s.rate_at(secs(3))), (10.0, 20.0, 0.0));
    assert_eq!(s.describe(), "10/s for 1 s, then 10/s to 30/s over 2 s");
}
