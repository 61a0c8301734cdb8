//! Random arrivals: whether they are what they say. All seeds are fixed, so that no test can fail by chance.

use load_core::{Schedule, Shard};
use proptest::prelude::*;
use std::time::Duration;

/// The greatest distance between the distribution of a sample and 1 − e⁻ˣ (Kolmogorov and Smirnov's statistic D).
fn distance_from_exponential(sample: &mut [f64]) -> f64 {
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let distance = |(i, x): (usize, &f64)| {
        let expected = 1.0 - (-x).exp();
        (expected - i as f64 / n).abs().max((expected - (i + 1) as f64 / n).abs())
    };
    sample.iter().enumerate().map(distance).fold(0.0, f64::max)
}

/// D that a true sample of n exceeds in one case of a thousand.
fn critical(n: usize) -> f64 {
    1.949 / (n as f64).sqrt()
}

/// The gaps of a schedule's arrivals in its cumulative count, in which they are exponential with mean 1.
fn gaps(schedule: &Schedule, seed: u64, n: usize, cumulative: impl Fn(f64) -> f64) -> Vec<f64> {
    let arrivals = schedule.arrivals(Shard::whole()).seeded(seed);
    let counts: Vec<f64> = arrivals.take(n + 1).map(|a| cumulative(a.offset as f64 / 1e9)).collect();
    assert_eq!(counts.len(), n + 1);
    counts.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn gaps_that_are_not_exponential() {
    const N: usize = 50_000;
    let secs = Duration::from_secs;
    for seed in [1, 2, 3] {
        let constant = Schedule::constant("500/s").unwrap().poisson();
        let mut sample = gaps(&constant, seed, N, |t| 500.0 * t);
        let d = distance_from_exponential(&mut sample);
        assert!(d < critical(N), "constant, seed {seed}: {d} is not below {}", critical(N));

        let ramp = Schedule::ramp(0, 1000, secs(200)).unwrap().poisson();
        let mut sample = gaps(&ramp, seed, N, |t| 2.5 * t * t);
        let d = distance_from_exponential(&mut sample);
        assert!(d < critical(N), "ramp, seed {seed}: {d} is not below {}", critical(N));

        let sine = Schedule::sine(500, 400, secs(60)).unwrap().poisson();
        let swing = 400.0 * 60.0 / std::f64::consts::TAU;
        let mut sample =
            gaps(&sine, seed, N, |t| 500.0 * t + swing * (1.0 - (std::f64::consts::TAU * t / 60.0).cos()));
        let d = distance_from_exponential(&mut sample);
        assert!(d < critical(N), "sine, seed {seed}: {d} is not below {}", critical(N));
    }
}

#[test]
fn a_statistic_that_cannot_tell() {
    const N: usize = 50_000;
    let even = Schedule::constant("500/s").unwrap();
    assert!(distance_from_exponential(&mut gaps(&even, 1, N, |t| 500.0 * t)) > 0.6);
    // A rate that is 2 % off moves D to the critical value, 4 % clearly beyond it.
    let random = even.poisson();
    assert!(distance_from_exponential(&mut gaps(&random, 1, N, |t| 510.0 * t)) > 0.8 * critical(N));
    assert!(distance_from_exponential(&mut gaps(&random, 1, N, |t| 520.0 * t)) > critical(N));
}

#[test]
fn counts_per_second_whose_variance_is_not_their_mean() {
    let schedule = Schedule::constant("100/s").unwrap().lasting(Duration::from_secs(5000)).unwrap().poisson();
    let mut counts = vec![0f64; 5000];
    for arrival in schedule.arrivals(Shard::whole()).seeded(5) {
        counts[(arrival.offset / 1_000_000_000) as usize] += 1.0;
    }
    let mean = counts.iter().sum::<f64>() / 5000.0;
    let variance = counts.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / 5000.0;
    // Three standard errors: of the mean 0.14, of the variance 2.
    assert!((mean - 100.0).abs() < 0.43, "{mean}");
    assert!((variance / mean - 1.0).abs() < 0.06, "{variance}");
}

#[test]
fn gaps_that_lean_on_the_last_one() {
    const N: usize = 50_000;
    let sample = gaps(&Schedule::constant(1).unwrap().poisson(), 4, N, |t| t);
    let mean = sample.iter().sum::<f64>() / N as f64;
    let products: f64 = sample.windows(2).map(|g| (g[0] - mean) * (g[1] - mean)).sum();
    let correlation = products / N as f64;
    assert!(correlation.abs() < 3.3 / (N as f64).sqrt(), "{correlation}");
}

/// One server with a constant service time makes Poisson arrivals wait ρ / (2 (1 − ρ)) service times on average
/// (Pollaczek and Khinchine), and even ones not at all.
#[test]
fn a_queue_that_is_not_as_long_as_it_must_be() {
    const SERVICE: u64 = 10_000_000;
    let mean_wait = |schedule: Schedule| {
        let (mut free, mut waited) = (0, 0);
        for arrival in schedule.arrivals(Shard::whole()).seeded(1).take(1_000_000) {
            let start = arrival.offset.max(free);
            waited += start - arrival.offset;
            free = start + SERVICE;
        }
        waited as f64 / 1e6 / SERVICE as f64
    };
    for (rate, expected) in [("50/s", 0.5), ("80/s", 2.0)] {
        let even = Schedule::constant(rate).unwrap();
        assert_eq!(mean_wait(even.clone()), 0.0);
        let waited = mean_wait(even.poisson());
        assert!((waited / expected - 1.0).abs() < 0.02, "{rate}: {waited} service times");
    }
}

#[test]
fn a_seed_that_does_not_count() {
    let first = |s: &Schedule, seed| s.arrivals(Shard::whole()).seeded(seed).take(5).collect::<Vec<_>>();
    let run = Schedule::constant("10/s").unwrap().poisson();
    assert_eq!(first(&run, 1), first(&run, 1));
    assert_ne!(first(&run, 1), first(&run, 2));
    let own = Schedule::constant("10/s").unwrap().poisson_seeded(1);
    assert_eq!(first(&own, 2), first(&run, 1), "its own seed is the one that counts");
    assert!(run.is_replayable());
    let even = Schedule::constant("10/s").unwrap();
    assert_eq!(first(&even, 1), first(&even, 2));
}

#[test]
fn random_arrivals_of_what_is_not_random() {
    let said = |s: Schedule| s.poisson().validate().unwrap_err().to_string();
    let replay = Schedule::replay([Duration::ZERO]).unwrap();
    assert!(said(replay.repeat(2).unwrap()).starts_with("schedule.poisson: Poisson, 2 times (1 replayed"));
    let process = Schedule::from_fn("mine", |_| [Duration::ZERO]);
    assert!(said(process).starts_with("schedule.poisson: Poisson, mine "));
    let even = Schedule::constant(1).unwrap().lasting(Duration::from_secs(1)).unwrap();
    let mixed = even.clone().then(even.poisson()).unwrap_err().to_string();
    assert!(mixed.starts_with("schedule.then: Poisson, 1/s for 1 s is not allowed"), "{mixed}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_random_arrival_of_no_shard_or_of_two(
        seed: u64,
        workers in 1usize..70,
        more in 0usize..70,
        kind in 0..3,
    ) {
        let secs = Duration::from_secs;
        let schedule = match kind {
            0 => Schedule::constant(300).unwrap().lasting(secs(5)).unwrap(),
            1 => Schedule::sine(300, 300, secs(2)).unwrap().lasting(secs(5)).unwrap(),
            _ => Schedule::ramp(500, 0, secs(3)).unwrap().then(Schedule::pause(secs(1)).unwrap()).unwrap()
                .repeat(2).unwrap(),
        };
        let schedule = schedule.poisson();
        let end = schedule.duration().unwrap().as_nanos() as u64;
        let whole: Vec<_> = schedule.arrivals(Shard::whole()).seeded(seed).collect();
        prop_assert!(whole.windows(2).all(|p| p[0].offset <= p[1].offset && p[0].index + 1 == p[1].index));
        prop_assert!(whole.iter().all(|a| a.offset < end));
        let mut union: Vec<_> = (0..workers)
            .flat_map(|k| {
                schedule.arrivals(Shard::of_worker(k, workers, workers + more).unwrap()).seeded(seed)
            })
            .collect();
        union.sort_by_key(|a| a.index);
        prop_assert_eq!(union, whole);
    }
}
