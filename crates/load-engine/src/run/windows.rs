//! Puts the workers' windows together, and keeps only their figures: a run of a day must not keep its histograms.

use crate::worker::WindowPart;
use load_core::{Histogram, record::Window};
use std::collections::BTreeMap;

/// The windows of one stream in one phase.
#[derive(Debug)]
pub(super) struct WindowSet {
    workers: usize,
    /// By start; those of the drain apart, as they may begin where a window ends.
    open: BTreeMap<(bool, u64), Open>,
    done: Vec<Window>,
}

#[derive(Debug)]
struct Open {
    end: u64,
    parts: usize,
    failed: u64,
    response: Option<Box<Histogram>>,
}

impl WindowSet {
    pub(super) fn new(workers: usize) -> WindowSet {
        WindowSet { workers, open: BTreeMap::new(), done: Vec::new() }
    }

    /// Adds a part; answers the window that it completes.
    pub(super) fn add(&mut self, part: WindowPart) -> Option<&Window> {
        let key = (part.drain, part.start);
        let open =
            self.open.entry(key).or_insert(Open { end: part.end, parts: 0, failed: 0, response: None });
        open.end = open.end.max(part.end);
        open.parts += 1;
        open.failed += part.failed;
        match (&mut open.response, part.response) {
            (Some(all), Some(more)) => all.add(&more),
            (all @ None, more) => *all = more,
            (Some(_), None) => {}
        }
        if open.parts < self.workers {
            return None;
        }
        let open = self.open.remove(&key)?;
        self.done.push(close(key, open));
        self.done.last()
    }

    /// All windows, in order. `last_end` is when the stream's last operation ended: nothing was measured beyond it in a
    /// window that a count cut short, and empty windows of the drain are left out.
    pub(super) fn finish(mut self, stopped_at: u64) -> Vec<Window> {
        for (key, open) in std::mem::take(&mut self.open) {
            self.done.push(close(key, open));
        }
        self.done.retain(|w| if w.drain { w.succeeded + w.failed > 0 } else { w.start_ns < stopped_at });
        for w in self.done.iter_mut().filter(|w| !w.drain && w.end_ns > stopped_at) {
            w.end_ns = stopped_at;
            w.per_s = per_second(w.succeeded, w.start_ns, w.end_ns);
        }
        self.done.sort_by_key(|w| (w.drain, w.start_ns));
        self.done
    }
}

fn close((drain, start): (bool, u64), open: Open) -> Window {
    let h = open.response.unwrap_or_default();
    let mut window = Window::default();
    window.start_ns = start;
    window.end_ns = open.end;
    window.drain = drain;
    window.succeeded = h.count();
    window.failed = open.failed;
    window.per_s = per_second(h.count(), start, open.end);
    (window.p50_ns, window.p95_ns, window.p99_ns) = (h.quantile(0.5), h.quantile(0.95), h.quantile(0.99));
    window
}

fn per_second(n: u64, start: u64, end: u64) -> f64 {
    if end > start { n as f64 * 1e9 / (end - start) as f64 } else { 0.0 }
}
