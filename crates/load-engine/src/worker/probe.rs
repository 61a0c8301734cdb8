//! What other threads may read of a worker at any time.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Sessions of one stream on one worker, by what they do. Written by the worker alone and read by the coordinator, which
/// samples it: sampling from another thread also sees a worker that a blocking call holds up. Aligned so that two workers
/// never share a cache line.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Probe {
    calling: AtomicU64,
    reconnecting: AtomicU64,
    thinking: AtomicU64,
    open: AtomicU64,
    failures: AtomicU64,
}

/// Plain load and store: there is one writer, so no locked instruction is needed.
#[inline]
fn add(cell: &AtomicU64, n: i64) {
    cell.store(cell.load(Relaxed).wrapping_add_signed(n), Relaxed);
}

impl Probe {
    #[inline]
    pub(crate) fn call_starts(&self) {
        add(&self.calling, 1);
    }

    #[inline]
    pub(crate) fn call_ends(&self) {
        add(&self.calling, -1);
    }

    pub(crate) fn opened(&self) {
        add(&self.open, 1);
    }

    pub(crate) fn closed(&self) {
        add(&self.open, -1);
    }

    pub(crate) fn reconnect_starts(&self) {
        add(&self.reconnecting, 1);
    }

    pub(crate) fn reconnect_ends(&self) {
        add(&self.reconnecting, -1);
    }

    pub(crate) fn think_starts(&self) {
        add(&self.thinking, 1);
    }

    pub(crate) fn think_ends(&self) {
        add(&self.thinking, -1);
    }

    pub(crate) fn failed(&self) {
        add(&self.failures, 1);
    }

    /// Operations that failed so far, those of the warm-up too.
    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Relaxed)
    }

    /// Operations in flight.
    pub(crate) fn calling(&self) -> u64 {
        self.calling.load(Relaxed)
    }

    /// Sessions that are not connected and try to be.
    pub(crate) fn reconnecting(&self) -> u64 {
        self.reconnecting.load(Relaxed)
    }

    /// Sessions that have something to do: in a call, connecting again, or thinking.
    pub(crate) fn engaged(&self) -> u64 {
        self.calling() + self.reconnecting.load(Relaxed) + self.thinking.load(Relaxed)
    }

    /// Sessions that are open.
    pub(crate) fn open(&self) -> u64 {
        self.open.load(Relaxed)
    }
}
