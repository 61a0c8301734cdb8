//! An arrival on its way to a session, and the times of a run's phase.

/// One operation that is to start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    /// When it was meant to start, ns of the run's clock.
    pub(crate) intended: u64,
    /// When the worker noticed that it was due.
    pub(crate) released: u64,
    pub(crate) seq: u64,
    /// Whether it belongs to the measured phase. Decided once, so that the books balance however the phase ends.
    pub(crate) measured: bool,
    /// Whether it was handed to a session that was idle.
    pub(crate) handed: bool,
}

/// When the parts of a phase are, ns of the run's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// Start of the warm-up.
    pub(crate) start: u64,
    /// Start of measuring.
    pub(crate) measure: u64,
    /// End of measuring.
    pub(crate) stop: u64,
    /// How long operations in flight may take to end after that.
    pub(crate) drain: u64,
}
