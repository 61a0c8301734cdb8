//! The run's own prefix: four bytes, as `key:` has, so that our keys are as long as redis-benchmark's.

use super::listed::{COLLECTIONS, COUNTER};
use crate::keys::DIGITS;
use std::{
    collections::hash_map::RandomState,
    fmt,
    hash::{BuildHasher, Hasher},
};

/// Begins with this, which people rarely begin keys with, and which means nothing to SCAN's patterns or to a cluster.
const MARK: u8 = b'~';
const LETTERS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// A run's prefix.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Prefix([u8; 4]);

impl Prefix {
    /// One that nobody can foresee.
    pub(crate) fn random() -> Prefix {
        // The seeds of hash maps are random, and enough for 62^3 names.
        let mut number = RandomState::new().build_hasher().finish();
        let mut bytes = [MARK; 4];
        for byte in &mut bytes[1..] {
            *byte = LETTERS[(number % LETTERS.len() as u64) as usize];
            number /= LETTERS.len() as u64;
        }
        Prefix(bytes)
    }

    /// Reads one; anything else is `None`.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Prefix> {
        let bytes: [u8; 4] = bytes.try_into().ok()?;
        (bytes[0] == MARK && bytes[1..].iter().all(|b| LETTERS.contains(b))).then_some(Prefix(bytes))
    }

    /// The prefix that a key would have if it were one of ours.
    pub(crate) fn of(key: &[u8]) -> Option<Prefix> {
        Prefix::parse(key.get(..4)?)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Whether a key has this prefix and is of a shape that this crate makes. Nothing else is ever removed.
    pub(crate) fn owns(&self, key: &[u8]) -> bool {
        let Some(rest) = key.strip_prefix(&self.0) else { return false };
        let digits = rest.strip_prefix(COUNTER.as_bytes()).unwrap_or(rest);
        (digits.len() == DIGITS && digits.iter().all(u8::is_ascii_digit))
            || COLLECTIONS.iter().any(|name| name.as_bytes() == rest)
            || rest.first() == Some(&b':')
    }
}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
