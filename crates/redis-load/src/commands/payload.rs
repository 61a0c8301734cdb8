//! The values that are written.

use crate::{RedisError, keys::DIGITS};
use std::{fmt, sync::Arc};

/// Larger values are not copied into each request.
const INLINE: usize = 16 * 1024;
/// Redis itself takes no larger string unless it is told to.
const LARGEST: usize = 512 << 20;
/// Bytes at the beginning of a verified value that tell its key.
pub(crate) const STAMP: usize = DIGITS;

/// The values that SET and its like write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payload {
    size: usize,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fixed,
    Random,
    Verified,
}

impl Default for Payload {
    /// Three bytes, as redis-benchmark writes.
    fn default() -> Payload {
        Payload::fixed(3)
    }
}

impl Payload {
    /// The same `size` bytes every time: those that redis-benchmark writes with `-d size`.
    pub fn fixed(size: usize) -> Payload {
        Payload { size, kind: Kind::Fixed }
    }

    /// `size` random bytes, new for each request, made before its time begins.
    pub fn random(size: usize) -> Payload {
        Payload { size, kind: Kind::Random }
    }

    /// `size` bytes that tell their key and hold every byte from 0 to 255 when there is room: GET checks that what comes
    /// back is what was written under that key, whole and unaltered. What differs is a failure of class `check`.
    pub fn verified(size: usize) -> Payload {
        Payload { size, kind: Kind::Verified }
    }

    /// Bytes of a value.
    pub fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn check(&self) -> Result<(), RedisError> {
        if self.size > LARGEST {
            return Err(RedisError::config("payload", self.size, "Redis takes at most 512 MiB"));
        }
        if self.kind == Kind::Verified && self.size == 0 {
            return Err(RedisError::config("payload", 0, "a verified value needs a byte at least"));
        }
        Ok(())
    }

    /// Makes the bytes that all sessions share.
    pub(crate) fn value(&self) -> Value {
        let stamp = if self.kind == Kind::Verified { STAMP.min(self.size) } else { 0 };
        let rest = self.size - stamp;
        let bytes: Vec<u8> = match self.kind {
            Kind::Fixed => benchmark_data(rest),
            // Times an odd number modulo 256 runs through every byte.
            Kind::Verified => (0..rest).map(|i| (i as u8).wrapping_mul(167).wrapping_add(13)).collect(),
            Kind::Random => Vec::new(),
        };
        Value {
            size: self.size,
            stamp,
            random: self.kind == Kind::Random,
            shared: rest > INLINE && self.kind != Kind::Random,
            bytes: bytes.into(),
        }
    }
}

impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Fixed => "the same",
            Kind::Random => "random, made before the time begins",
            Kind::Verified => "verified",
        };
        write!(f, "{} bytes, {kind}", self.size)
    }
}

/// The bytes that redis-benchmark makes: a linear congruential generator from 1234, six bits a byte, from `0` on.
fn benchmark_data(size: usize) -> Vec<u8> {
    let mut state: u32 = 1234;
    (0..size)
        .map(|_| {
            state = state.wrapping_mul(1_103_515_245).wrapping_add(12345);
            b'0' + ((state >> 16) & 63) as u8
        })
        .collect()
}

/// A payload made ready.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    /// Bytes of a value in all.
    pub(crate) size: usize,
    /// How many of them, at the beginning, tell the key.
    pub(crate) stamp: usize,
    /// Made anew for each request.
    pub(crate) random: bool,
    /// Sent from the shared bytes, not copied.
    pub(crate) shared: bool,
    /// What follows the stamp.
    pub(crate) bytes: Arc<[u8]>,
}

impl Value {
    /// Whether answers can be checked.
    pub(crate) fn is_verified(&self) -> bool {
        self.stamp > 0
    }

    /// Whether `piece`, which began `at` bytes into a value, is that of the key with these digits.
    #[inline]
    pub(crate) fn agrees(&self, digits: &[u8; STAMP], at: u64, piece: &[u8]) -> bool {
        let Ok(at) = usize::try_from(at) else { return false };
        if at + piece.len() > self.size {
            return false;
        }
        let in_stamp = self.stamp.saturating_sub(at).min(piece.len());
        let (head, tail) = piece.split_at(in_stamp);
        // A stamp that is short has the last digits, which differ most.
        let stamp = &digits[STAMP - self.stamp..];
        let rest = (at + in_stamp).saturating_sub(self.stamp);
        (head.is_empty() || *head == stamp[at..at + in_stamp]) && *tail == self.bytes[rest..rest + tail.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_values_are_redis_benchmarks() {
        // As the tool sends with -d 200.
        let seen = r"VXKeHogKgJ=[5V9_X^b?48OKF2jGA<f:iR@50o7dS3JV4Q6L68lC[GTA]0DaMg?_oSmcS2^N1J?ELSX@CfKQ7cM5aea\ngY8a3LGgNVa9eRA46XS8>7ABe1>Jl9O\Rm\7IS:g\U5b]=`ePo^LXhl4e:4P[DQNA3cgn<RH4UcdI6<V9S78NViC;^omK:<<Ldel:=iDmLB";
        assert_eq!(benchmark_data(200), seen.as_bytes());
    }

    #[test]
    fn verified_values_hold_every_byte_and_tell_their_key() {
        let value = Payload::verified(300).value();
        let mut seen = [false; 256];
        for byte in value.bytes.iter() {
            seen[usize::from(*byte)] = true;
        }
        assert!(seen.iter().all(|s| *s));
        let digits = *b"000000000042";
        let whole: Vec<u8> = digits.iter().chain(value.bytes.iter()).copied().collect();
        for cut in 0..=whole.len() {
            assert!(
                value.agrees(&digits, 0, &whole[..cut]) && value.agrees(&digits, cut as u64, &whole[cut..]),
                "{cut}"
            );
        }
        assert!(!value.agrees(b"000000000043", 0, &whole), "another key's value");
        for place in [0, 11, 12, 299] {
            let mut altered = whole.clone();
            altered[place] ^= 0x80;
            assert!(!value.agrees(&digits, 0, &altered), "altered at {place}");
        }
        assert!(!value.agrees(&digits, 300, b"x"), "too long");
        let short = Payload::verified(3).value();
        assert!(short.agrees(&digits, 0, b"042") && !short.agrees(&digits, 0, b"043"));
    }
}
