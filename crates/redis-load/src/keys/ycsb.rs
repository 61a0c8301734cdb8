//! YCSB's scrambled Zipfian generator, by its formulas.

use rand::RngExt;

/// YCSB's constant.
const THETA: f64 = 0.99;
/// The items that YCSB draws from, whatever the key space; its generator is told 0 to this number, both included.
const ITEMS: f64 = 10_000_000_000_000_000.0 + 1.0;
/// YCSB's precomputed zeta. It is that of 10^10 items, which YCSB once had; its skew is what users of YCSB know.
const ZETA: f64 = 26.469_028_201_783_02;

/// A rank among 10^16 by Gray's method, scattered over the key space by a hash.
#[derive(Debug, Clone)]
pub(super) struct ScrambledZipf {
    space: u64,
    alpha: f64,
    eta: f64,
    /// Below this, u times zeta gives rank 1.
    second: f64,
}

impl ScrambledZipf {
    pub(super) fn new(space: u64) -> ScrambledZipf {
        let zeta_of_two = 1.0 + 0.5f64.powf(THETA);
        ScrambledZipf {
            space,
            alpha: 1.0 / (1.0 - THETA),
            eta: (1.0 - (2.0 / ITEMS).powf(1.0 - THETA)) / (1.0 - zeta_of_two / ZETA),
            second: 1.0 + 0.5f64.powf(THETA),
        }
    }

    #[inline]
    pub(super) fn draw(&self, rng: &mut impl rand::Rng) -> u64 {
        fnv1a(self.rank(rng.random::<f64>())) % self.space
    }

    /// The rank for a uniform number in [0, 1).
    #[inline]
    fn rank(&self, u: f64) -> u64 {
        let scaled = u * ZETA;
        if scaled < 1.0 {
            0
        } else if scaled < self.second {
            1
        } else {
            (ITEMS * (self.eta * u - self.eta + 1.0).powf(self.alpha)) as u64
        }
    }
}

/// FNV-1a over the eight bytes, the lowest first, and the absolute value as a signed number, as YCSB's `fnvhash64`.
fn fnv1a(value: u64) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    for byte in value.to_le_bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(1_099_511_628_211);
    }
    (hash as i64).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        // The published vector of FNV-1a for one zero byte continues with the seven that follow; computed by the definition.
        let by_hand = (0..8).fold(14_695_981_039_346_656_037_u128, |h, i| {
            let byte = u128::from([5u8, 0, 0, 0, 0, 0, 0, 0][i]);
            ((h ^ byte) * 1_099_511_628_211) % (1 << 64)
        });
        assert_eq!(fnv1a(5), (by_hand as u64 as i64).unsigned_abs());
    }

    #[test]
    fn ranks_follow_grays_method() {
        let z = ScrambledZipf::new(100);
        // P(rank 0) = 1 / zeta, P(rank 1) = 2^-theta / zeta.
        assert_eq!(z.rank(0.999 / ZETA), 0);
        assert_eq!(z.rank(1.001 / ZETA), 1);
        assert_eq!(z.rank((1.0 + 0.503) / ZETA), 1);
        assert!(z.rank((1.0 + 0.504) / ZETA) >= 2);
        assert!(z.rank(1.0 - f64::EPSILON) <= 10_000_000_000_000_001);
    }
}
