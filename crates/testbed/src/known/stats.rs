//! What a scripted server has seen.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Arrival times kept; 16 MiB.
const ARRIVALS: usize = 1 << 20;

/// Counts since the start of the server, or since they were last forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownStats {
    /// Connections accepted, those over the limit included.
    pub connections: u64,
    /// Connections open now; the only figure that is not forgotten.
    pub open: u64,
    /// Requests read whole.
    pub requests: u64,
    /// Answers sent, truncated ones included.
    pub replies: u64,
    /// Connections reset by the server.
    pub resets: u64,
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
}

#[derive(Debug, Default)]
pub(super) struct Stats {
    pub(super) connections: AtomicU64,
    pub(super) open: AtomicU64,
    pub(super) requests: AtomicU64,
    pub(super) replies: AtomicU64,
    pub(super) resets: AtomicU64,
    pub(super) bytes_in: AtomicU64,
    pub(super) bytes_out: AtomicU64,
    arrivals: Mutex<Vec<Instant>>,
}

pub(super) fn add(counter: &AtomicU64, n: usize) {
    counter.fetch_add(n as u64, Ordering::Relaxed);
}

impl Stats {
    pub(super) fn arrival(&self, at: Instant) {
        add(&self.requests, 1);
        let mut arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        if arrivals.len() < ARRIVALS {
            arrivals.push(at);
        }
    }

    pub(super) fn arrivals(&self) -> Vec<Instant> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn read(&self) -> KnownStats {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        KnownStats {
            connections: get(&self.connections),
            open: get(&self.open),
            requests: get(&self.requests),
            replies: get(&self.replies),
            resets: get(&self.resets),
            bytes_in: get(&self.bytes_in),
            bytes_out: get(&self.bytes_out),
        }
    }

    pub(super) fn forget(&self) {
        let Self { connections, open: _, requests, replies, resets, bytes_in, bytes_out, arrivals } = self;
        for counter in [connections, requests, replies, resets, bytes_in, bytes_out] {
            counter.store(0, Ordering::Relaxed);
        }
        arrivals.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
