//! The laws against their definitions, with seeds, so that a failure is no chance.

use super::*;
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

const DRAWS: usize = 200_000;

fn counts(keys: &Keys) -> Vec<u64> {
    keys.check().unwrap();
    let mut sampler = keys.sampler();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut counts = vec![0; keys.space() as usize];
    for _ in 0..DRAWS {
        counts[sampler.draw(&mut rng) as usize] += 1;
    }
    counts
}

/// Pearson's statistic over its degrees of freedom; near 1 when the probabilities are right.
fn chi_square(counts: &[u64], probabilities: &[f64]) -> f64 {
    let sum: f64 = counts
        .iter()
        .zip(probabilities)
        .map(|(&seen, p)| {
            let expected = p * DRAWS as f64;
            (seen as f64 - expected).powi(2) / expected
        })
        .sum();
    sum / (counts.len() - 1) as f64
}

#[test]
fn digits_are_padded() {
    let mut out = [0; DIGITS];
    for (number, text) in [(0, b"000000000000"), (42, b"000000000042"), (999_999_999_999, b"999999999999")] {
        write_digits(&mut out, number);
        assert_eq!(&out, text);
    }
}

#[test]
fn uniform_is_uniform() {
    let x = chi_square(&counts(&Keys::uniform(200)), &[1.0 / 200.0; 200]);
    assert!((0.7..1.35).contains(&x), "{x}");
}

#[test]
fn zipf_is_the_true_one() {
    for exponent in [0.5, 0.99, 1.0, 1.5] {
        let weights: Vec<f64> = (1..=200).map(|k| f64::from(k).powf(-exponent)).collect();
        let sum: f64 = weights.iter().sum();
        let p: Vec<f64> = weights.iter().map(|w| w / sum).collect();
        let x = chi_square(&counts(&Keys::zipf(200, exponent)), &p);
        assert!((0.7..1.35).contains(&x), "exponent {exponent}: {x}");
    }
}

#[test]
fn gaussian_is_memtiers() {
    let keys = Keys::gaussian(600);
    let counts = counts(&keys);
    let n = DRAWS as f64;
    let mean = counts.iter().enumerate().map(|(k, c)| (k as f64 + 0.5) * *c as f64).sum::<f64>() / n;
    let var =
        counts.iter().enumerate().map(|(k, c)| (k as f64 + 0.5 - mean).powi(2) * *c as f64).sum::<f64>() / n;
    assert!((mean - 300.0).abs() < 2.0, "{mean}");
    // A normal distribution cut at three standard deviations of 599 / 6 = 99.8 has one of 98.5.
    assert!((var.sqrt() - 98.5).abs() < 1.5, "{}", var.sqrt());
    assert!(counts.iter().take(150).sum::<u64>() as f64 / n < 0.08);
}

#[test]
fn ycsb_spreads_the_popular_keys() {
    let counts = counts(&Keys::ycsb_zipf(1000));
    let mut by_rank = counts.clone();
    by_rank.sort_unstable_by(|a, b| b.cmp(a));
    // The most popular item has a share of 1 / 26.469, and what else is hashed there.
    let top = by_rank[0] as f64 / DRAWS as f64;
    assert!((0.037..0.041).contains(&top), "{top}");
    let most = counts.iter().position(|c| *c == by_rank[0]).unwrap();
    assert_ne!(most, 0, "key 0 is not the most popular by its place");
}

#[test]
fn random_leaves_holes_and_a_sequence_does_not() {
    let visited = |keys: Keys| {
        let mut sampler = keys.sampler();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut seen = std::collections::BTreeSet::new();
        for seq in 0..100 {
            sampler.go_to(seq);
            seen.insert(sampler.draw(&mut rng));
        }
        seen.len()
    };
    assert_eq!(visited(Keys::sequential(100)), 100);
    let random = visited(Keys::uniform(100));
    assert!((50..76).contains(&random), "{random}: 100 draws of 100 keys visit about 63");
}

#[test]
fn bad_laws_are_named() {
    let said = |keys: Keys| keys.check().unwrap_err().to_string();
    assert!(said(Keys::uniform(0)).contains("keys.space: 0"));
    assert!(said(Keys::uniform(LARGEST_SPACE + 1)).contains("keys.space: 1000000000001"));
    assert!(said(Keys::zipf(10, 0.0)).contains("keys.zipf: 0"));
    assert!(said(Keys::zipf(10, f64::NAN)).contains("keys.zipf: NaN"));
    assert!(said(Keys::gaussian_around(10, 11.0, 1.0)).contains("keys.gaussian.centre: 11"));
    assert!(said(Keys::gaussian_around(10, 5.0, 0.0)).contains("keys.gaussian.deviation: 0"));
    assert!(Keys::gaussian(1).check().is_ok());
}
