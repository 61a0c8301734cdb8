//! Random gaps.

use super::curve::Count;
use rand::RngExt;
use rand_distr::Exp1;
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
use serde::{Deserialize, Serialize};

/// How arrivals follow each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Spacing {
    /// One at each whole number of the cumulative count.
    #[default]
    Even,
    /// Exponential gaps; without a seed the run's.
    Poisson { seed: Option<u64> },
}

/// The points of a Poisson process of rate 1.
#[derive(Debug, Clone)]
pub(super) struct Points {
    rng: Xoshiro256PlusPlus,
    at: Count,
}

/// Where the sum of gaps is moved to its whole part, so that its fraction keeps its precision: no drift after 10⁹
/// gaps.
const CARRY: f64 = 1024.0;

impl Points {
    pub(super) fn new(seed: u64) -> Points {
        Points { rng: Xoshiro256PlusPlus::seed_from_u64(seed), at: Count::default() }
    }

    #[inline]
    pub(super) fn next(&mut self) -> Count {
        let gap: f64 = self.rng.sample(Exp1);
        self.at.fraction += gap;
        if self.at.fraction >= CARRY {
            let whole = self.at.fraction.floor();
            self.at = Count { whole: self.at.whole + whole as u64, fraction: self.at.fraction - whole };
        }
        self.at
    }
}
