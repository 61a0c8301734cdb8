//! What one worker records of one stream. Owned by the worker: nothing here is shared, locked or sent per operation.

use super::{
    Arrival, Times,
    part::{KindPart, Part},
    windows::Windows,
};
use load_core::{Class, Classify, Failure, Histogram, NameId, Op, Outcome};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::Relaxed},
};

/// Different (class, code) pairs that are counted one by one; more go under [`MORE`], so that memory is bounded.
const MAX_FAILURE_KINDS: usize = 200;
const MORE: &str = "(further codes)";
/// Texts kept for one fact name.
const MAX_FACTS: usize = 8;

#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) part: Part,
    steps: Vec<Option<Box<Histogram>>>,
    connect_steps: Vec<Option<Box<Histogram>>>,
    kinds: Vec<Option<Box<KindPart>>>,
    counts: Vec<u64>,
    windows: Windows,
    times: Times,
    open: bool,
    classifiers: Arc<[Classify]>,
    /// Classes of which a warning was given, shared by the stream's workers.
    warned: Arc<AtomicU32>,
    stream: Arc<str>,
}

impl Recorder {
    pub(crate) fn new(
        stream: Arc<str>,
        open: bool,
        classifiers: Arc<[Classify]>,
        warned: Arc<AtomicU32>,
        windows: Windows,
    ) -> Recorder {
        let times = Times { start: 0, measure: u64::MAX, stop: u64::MAX, drain: 0 };
        Recorder {
            part: Part::default(),
            steps: Vec::new(),
            connect_steps: Vec::new(),
            kinds: Vec::new(),
            counts: Vec::new(),
            windows,
            times,
            open,
            classifiers,
            warned,
            stream,
        }
    }

    pub(crate) fn set_times(&mut self, times: Times) {
        self.times = times;
        self.windows.set_times(times);
    }

    /// An arrival of an open loop was noticed, or a closed loop starts an operation.
    #[inline]
    pub(crate) fn scheduled(&mut self, measured: bool) {
        self.part.books(measured).scheduled += 1;
    }

    #[inline]
    pub(crate) fn late(&mut self, arrival: &Arrival) {
        if arrival.measured {
            self.part.lateness.record(arrival.released - arrival.intended);
        }
    }

    #[inline]
    pub(crate) fn started(&mut self, arrival: &Arrival, at: u64) {
        self.part.books(arrival.measured).started += 1;
        if arrival.measured {
            self.part.first_start = self.part.first_start.min(at);
            if arrival.handed {
                self.part.dispatch.record(at - arrival.released);
            }
        }
    }

    /// An operation ended. Answers whether the session must be replaced.
    #[inline]
    pub(crate) fn ended(
        &mut self,
        arrival: &Arrival,
        started: u64,
        ended: u64,
        op: &mut Op,
        outcome: Outcome,
    ) -> bool {
        let service = ended - started;
        let within = ended >= self.times.measure && ended < self.times.stop;
        self.part.all_ended += u64::from(within);
        self.in_flight(started, ended);
        let reconnect = match outcome {
            Ok(()) => {
                self.succeeded(arrival, service, ended, within, op);
                false
            }
            Err(failure) => self.failed(arrival, service, ended, within, op, failure),
        };
        if !arrival.measured && ended >= self.times.measure {
            self.part.carried_in += 1;
        }
        for (name, text) in op.take_facts() {
            self.fact(name, text);
        }
        reconnect
    }

    #[inline]
    fn succeeded(&mut self, arrival: &Arrival, service: u64, ended: u64, within: bool, op: &Op) {
        self.part.books(arrival.measured).succeeded += 1;
        if !arrival.measured {
            return;
        }
        let response = ended - arrival.intended;
        self.windows.succeeded(ended, response, &mut self.part.response);
        if self.open {
            self.part.service.record(service);
            self.part.wait.record(response - service);
        }
        let said = op.said();
        self.part.said(&said);
        self.part.last_end = self.part.last_end.max(ended);
        for &(id, ns) in said.steps {
            slot(&mut self.steps, id).record(ns);
        }
        for &(id, n) in said.counts {
            *count(&mut self.counts, id) += n;
        }
        if let Some(id) = said.kind {
            let kind = slot(&mut self.kinds, id);
            kind.count += 1;
            kind.service.record(service);
        }
        self.part.succeeded_within += u64::from(within);
    }

    #[cold]
    fn failed(
        &mut self,
        arrival: &Arrival,
        service: u64,
        ended: u64,
        within: bool,
        op: &Op,
        mut failure: Failure,
    ) -> bool {
        failure.classify(&self.classifiers);
        self.warn(&failure);
        let books = self.part.books(arrival.measured);
        books.failed += 1;
        books.unknown += u64::from(failure.is_unknown());
        if arrival.measured {
            self.windows.failed(ended, &mut self.part.response);
            self.part.failed_service.record(service);
            let said = op.said();
            self.part.said(&said);
            self.part.last_end = self.part.last_end.max(ended);
            self.part.local_limits += u64::from(failure.class() == Class::Local);
            for &(id, n) in said.counts {
                *count(&mut self.counts, id) += n;
            }
            if let Some(id) = said.kind {
                slot(&mut self.kinds, id).failed += 1;
            }
            self.part.failed_within += u64::from(within);
            add_failure(&mut self.part.failures, &failure);
        }
        failure.needs_reconnect()
    }

    /// For Little's law: what of an operation's time lies within the phase, whenever it began and ended. Cut at both ends,
    /// since operations that take a good part of the phase would be missing from it otherwise.
    #[inline]
    pub(crate) fn in_flight(&mut self, started: u64, ended: u64) {
        let within = ended.min(self.times.stop).saturating_sub(started.max(self.times.measure));
        self.part.in_flight_ns += u128::from(within);
    }

    /// A session's connection attempt ended.
    pub(crate) fn connected(&mut self, ns: u64, op: &mut Op, outcome: Result<(), &mut Failure>) {
        for (name, text) in op.take_facts() {
            self.fact(name, text);
        }
        match outcome {
            Ok(()) => {
                self.part.connects_ok += 1;
                self.part.connect_time.record(ns);
                for &(id, ns) in op.said().steps {
                    slot(&mut self.connect_steps, id).record(ns);
                }
                for &(id, n) in op.said().counts {
                    *count(&mut self.counts, id) += n;
                }
            }
            Err(failure) => {
                failure.classify(&self.classifiers);
                self.warn(failure);
                self.part.connects_failed += 1;
                add_failure(&mut self.part.connect_failures, failure);
            }
        }
    }

    /// The first failure of a class is worth a line in the log.
    fn warn(&self, failure: &Failure) {
        let bit = 1 << failure.class() as u32;
        if self.warned.fetch_or(bit, Relaxed) & bit == 0 {
            tracing::warn!(
                stream = &*self.stream,
                class = failure.class().name(),
                code = failure.code(),
                "first failure of its class: {}",
                failure.describe()
            );
        }
    }

    fn fact(&mut self, name: &'static str, text: String) {
        let known = self.part.facts.entry(name).or_default();
        if known.len() < MAX_FACTS {
            known.insert(text);
        }
    }

    pub(crate) fn dropped(&mut self, arrival: &Arrival) {
        self.part.books(arrival.measured).dropped += 1;
    }

    pub(crate) fn skipped(&mut self, arrival: &Arrival) {
        self.part.books(arrival.measured).skipped += 1;
    }

    /// An operation or arrival that was given up; `age` is from its intended time.
    pub(crate) fn unfinished(&mut self, arrival: &Arrival, now: u64) {
        self.part.books(arrival.measured).unfinished += 1;
        if arrival.measured {
            self.part.censored.record(now.saturating_sub(arrival.intended));
        }
    }

    /// Hands over the windows that have ended by `now`.
    pub(crate) fn roll(&mut self, now: u64) {
        self.windows.roll(now, &mut self.part.response);
    }

    /// Everything, with names in place of their numbers.
    pub(crate) fn finish(&mut self, names: &[&'static str]) -> Part {
        self.windows.finish(&mut self.part.response);
        let mut part = std::mem::take(&mut self.part);
        let name = |i: usize| names.get(i).copied().unwrap_or("?");
        for (all, named) in
            [(&mut self.steps, &mut part.steps), (&mut self.connect_steps, &mut part.connect_steps)]
        {
            let known = all.drain(..).enumerate().filter_map(|(i, h)| Some((name(i), *h?)));
            named.extend(known);
        }
        for (i, kind) in self.kinds.drain(..).enumerate() {
            if let Some(kind) = kind {
                part.kinds.insert(name(i), *kind);
            }
        }
        for (i, n) in self.counts.drain(..).enumerate() {
            if n > 0 {
                part.counters.insert(name(i), n);
            }
        }
        part
    }
}

/// The entry of a name; made on its first use.
#[inline]
fn slot<T: Default>(all: &mut Vec<Option<Box<T>>>, id: NameId) -> &mut T {
    let i = usize::from(id);
    if all.len() <= i {
        all.resize_with(i + 1, || None);
    }
    all[i].get_or_insert_with(Box::default)
}

#[inline]
fn count(all: &mut Vec<u64>, id: NameId) -> &mut u64 {
    let i = usize::from(id);
    if all.len() <= i {
        all.resize(i + 1, 0);
    }
    &mut all[i]
}

fn add_failure(all: &mut super::part::Failures, failure: &Failure) {
    let key = (failure.class(), failure.code().to_string());
    let full = all.len() >= MAX_FAILURE_KINDS && !all.contains_key(&key);
    let key = if full { (failure.class(), MORE.to_string()) } else { key };
    let entry = all.entry(key).or_insert_with(|| (0, failure.describe()));
    entry.0 += 1;
}
