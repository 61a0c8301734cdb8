//! A word of warning when reads find nothing.

use load_core::Op;

/// Reads of a session after which it is judged, once.
const ENOUGH: u64 = 1000;

/// Watches the first reads of a session: a benchmark of misses is fast, and looks like one of hits.
#[derive(Debug, Default)]
pub(crate) struct HitWatch {
    reads: u64,
    hits: u64,
    judged: bool,
}

impl HitWatch {
    #[inline]
    pub(crate) fn note(&mut self, hits: u64, misses: u64, op: &mut Op) {
        if self.judged {
            return;
        }
        self.reads += hits + misses;
        self.hits += hits;
        if self.reads >= ENOUGH {
            self.judged = true;
            if 2 * self.hits < self.reads {
                op.fact(
                    "low hit rate",
                    "of a session's first 1000 reads most found nothing: pre-fill the same key range",
                );
            }
        }
    }
}
