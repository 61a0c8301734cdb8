//! Which keys are asked for, and how often each.

mod ycsb;

use crate::RedisError;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal, Zipf};
use std::fmt;
use ycsb::ScrambledZipf;

/// Keys end in a number of 12 digits, as redis-benchmark's do.
pub(crate) const DIGITS: usize = 12;
const LARGEST_SPACE: u64 = 1_000_000_000_000;

/// A key space and the law by which keys are drawn from it. Keys are numbered from 0.
///
/// Laws of the same name differ from tool to tool, so each says whose it is:
///
/// | | law | as in |
/// |---|---|---|
/// | [`uniform`](Keys::uniform) | each key is as likely as any other | `redis-benchmark -r N` |
/// | [`sequential`](Keys::sequential) | 0, 1, 2, ... over and over, shared by the sessions of a stream | `memtier_benchmark --key-pattern S` |
/// | [`gaussian`](Keys::gaussian) | normal around the middle, six standard deviations wide, redrawn when outside | `memtier_benchmark --key-pattern G` |
/// | [`zipf`](Keys::zipf) | P(k) proportional to 1 / (k + 1)^s, exactly, key 0 the most popular | the definition |
/// | [`ycsb_zipf`](Keys::ycsb_zipf) | YCSB's approximation over 10^16 items, hashed onto the space | YCSB `requestdistribution=zipfian` |
#[derive(Debug, Clone, PartialEq)]
pub struct Keys {
    space: u64,
    law: Law,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Law {
    Uniform,
    Sequential,
    Gaussian { centre: f64, deviation: f64 },
    Zipf(f64),
    YcsbZipf,
}

impl Keys {
    /// Every request asks for the same key, as redis-benchmark does without `-r`.
    pub fn one() -> Keys {
        Keys::uniform(1)
    }

    /// Each of `space` keys is as likely as any other.
    pub fn uniform(space: u64) -> Keys {
        Keys { space, law: Law::Uniform }
    }

    /// One key after the other, by the number of the operation ([`Op::seq`](load_core::Op::seq)): `space` operations of
    /// one key each visit every key once.
    pub fn sequential(space: u64) -> Keys {
        Keys { space, law: Law::Sequential }
    }

    /// Normal around the middle of the space, with a standard deviation of a sixth of it; what falls outside is drawn
    /// again. These are memtier's defaults.
    pub fn gaussian(space: u64) -> Keys {
        // memtier counts keys from 1 to n: centre (n - 1) / 2 + 1.5, which is n / 2 when they are counted from 0.
        Keys::gaussian_around(space, space as f64 / 2.0, space.saturating_sub(1) as f64 / 6.0)
    }

    /// Normal around `centre` with a standard deviation of `deviation` keys; what falls outside is drawn again.
    pub fn gaussian_around(space: u64, centre: f64, deviation: f64) -> Keys {
        Keys { space, law: Law::Gaussian { centre, deviation } }
    }

    /// The k-th key (from 0) with a probability proportional to 1 / (k + 1)^`exponent`. Drawn by rejection-inversion (Hörmann
    /// and Derflinger 1996), which is exact and needs no table.
    pub fn zipf(space: u64, exponent: f64) -> Keys {
        Keys { space, law: Law::Zipf(exponent) }
    }

    /// YCSB's scrambled Zipfian with its constant of 0.99, formula by formula: a rank among 10^16 items by the method of
    /// Gray et al. ("Quickly Generating Billion-Record Synthetic Databases", SIGMOD 1994), with zeta as YCSB has it
    /// precomputed, then FNV-1a (64 bits) of the rank, modulo the space. The skew does not depend on the space.
    pub fn ycsb_zipf(space: u64) -> Keys {
        Keys { space, law: Law::YcsbZipf }
    }

    /// How many keys there are.
    pub fn space(&self) -> u64 {
        self.space
    }

    /// Whether a key depends on the number of the operation.
    pub(crate) fn is_sequential(&self) -> bool {
        self.law == Law::Sequential
    }

    /// Says which setting cannot be meant.
    pub(crate) fn check(&self) -> Result<(), RedisError> {
        if !(1..=LARGEST_SPACE).contains(&self.space) {
            return Err(RedisError::config("keys.space", self.space, "give 1 to 10^12: keys have 12 digits"));
        }
        match self.law {
            Law::Zipf(exponent) if !(exponent > 0.0 && exponent.is_finite()) => {
                Err(RedisError::config("keys.zipf", exponent, "give an exponent above 0"))
            }
            Law::Gaussian { centre, deviation } => {
                if !(0.0..=self.space as f64).contains(&centre) {
                    return Err(RedisError::config(
                        "keys.gaussian.centre",
                        centre,
                        "must lie in the key space",
                    ));
                }
                // A draw must fall inside within a few tries.
                if self.space > 1 && !(deviation > 0.0 && deviation <= 10.0 * self.space as f64) {
                    let reason = "give a standard deviation above 0, at most ten times the key space";
                    return Err(RedisError::config("keys.gaussian.deviation", deviation, reason));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// What draws; the settings have been checked.
    pub(crate) fn sampler(&self) -> Sampler {
        let draw = match self.law {
            _ if self.space == 1 => Draw::Only,
            Law::Uniform => Draw::Uniform,
            Law::Sequential => Draw::Sequential { next: 0 },
            Law::Gaussian { centre, deviation } => Draw::Gaussian { centre, deviation },
            Law::Zipf(exponent) => match Zipf::new(self.space as f64, exponent) {
                Ok(zipf) => Draw::Zipf(zipf),
                Err(_) => Draw::Uniform,
            },
            Law::YcsbZipf => Draw::YcsbZipf(ScrambledZipf::new(self.space)),
        };
        Sampler { space: self.space, draw }
    }
}

impl fmt::Display for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.law {
            _ if self.space == 1 => f.write_str("one key"),
            Law::Uniform => write!(f, "uniform over {}", self.space),
            Law::Sequential => write!(f, "sequential over {}", self.space),
            Law::Gaussian { centre, deviation } => {
                write!(f, "gaussian over {} (centre {centre:.0}, deviation {deviation:.0})", self.space)
            }
            Law::Zipf(exponent) => write!(f, "zipf({exponent}) over {}", self.space),
            Law::YcsbZipf => write!(f, "YCSB scrambled zipfian(0.99) over {}", self.space),
        }
    }
}

#[derive(Debug, Clone)]
enum Draw {
    Only,
    Uniform,
    Sequential { next: u64 },
    Gaussian { centre: f64, deviation: f64 },
    Zipf(Zipf<f64>),
    YcsbZipf(ScrambledZipf),
}

/// Draws keys without allocating.
#[derive(Debug, Clone)]
pub(crate) struct Sampler {
    space: u64,
    draw: Draw,
}

impl Sampler {
    /// Where a sequence goes on; other laws do not care.
    #[inline]
    pub(crate) fn go_to(&mut self, number: u64) {
        if let Draw::Sequential { next } = &mut self.draw {
            *next = number % self.space;
        }
    }

    /// The number of the next key, below the space.
    #[inline]
    pub(crate) fn draw(&mut self, rng: &mut impl rand::Rng) -> u64 {
        match &mut self.draw {
            Draw::Only => 0,
            Draw::Uniform => rng.random_range(0..self.space),
            Draw::Sequential { next } => {
                let number = *next;
                *next = if number + 1 == self.space { 0 } else { number + 1 };
                number
            }
            Draw::Gaussian { centre, deviation } => loop {
                let normal: f64 = StandardNormal.sample(rng);
                let value = *centre + *deviation * normal;
                if value >= 0.0 && value < self.space as f64 {
                    break value as u64;
                }
            },
            // The library counts from 1.
            Draw::Zipf(zipf) => (zipf.sample(rng) as u64).clamp(1, self.space) - 1,
            Draw::YcsbZipf(zipf) => zipf.draw(rng),
        }
    }
}

/// All pairs of digits, one after the other.
const PAIRS: [u8; 200] = {
    let mut pairs = [0; 200];
    let mut n = 0;
    while n < 100 {
        pairs[2 * n] = b'0' + (n / 10) as u8;
        pairs[2 * n + 1] = b'0' + (n % 10) as u8;
        n += 1;
    }
    pairs
};

/// Writes a number below 10^12 as 12 digits.
#[inline]
pub(crate) fn write_digits(out: &mut [u8; DIGITS], mut number: u64) {
    for pair in out.chunks_exact_mut(2).rev() {
        let low = (number % 100) as usize;
        number /= 100;
        pair.copy_from_slice(&PAIRS[2 * low..2 * low + 2]);
    }
}

#[cfg(test)]
mod tests;
