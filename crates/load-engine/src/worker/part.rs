//! What a worker hands to the coordinator at the end: one stream's share, which adds up over workers.

use load_core::{Accounting, Class, Histogram, Said};
use std::collections::{BTreeMap, BTreeSet};

/// Class and code, with the number and the first one in words.
pub(crate) type Failures = BTreeMap<(Class, String), (u64, String)>;

#[derive(Debug)]
pub(crate) struct Part {
    measured: Accounting,
    warmup: Accounting,
    pub(crate) carried_in: u64,
    pub(crate) succeeded_within: u64,
    pub(crate) failed_within: u64,
    pub(crate) all_ended: u64,
    /// Time in flight within the phase, over all operations.
    pub(crate) in_flight_ns: u128,
    pub(crate) local_limits: u64,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    pub(crate) units: u64,
    pub(crate) failed_units: u64,
    pub(crate) steps_lost: u64,
    pub(crate) first_start: u64,
    pub(crate) last_end: u64,
    pub(crate) connects_ok: u64,
    pub(crate) connects_failed: u64,
    pub(crate) connect_time: Histogram,
    pub(crate) connect_steps: BTreeMap<&'static str, Histogram>,
    pub(crate) connect_failures: Failures,
    pub(crate) response: Histogram,
    /// Empty in a closed loop, where it is the response.
    pub(crate) service: Histogram,
    pub(crate) wait: Histogram,
    pub(crate) lateness: Histogram,
    pub(crate) dispatch: Histogram,
    pub(crate) loop_lag: Histogram,
    pub(crate) failed_service: Histogram,
    pub(crate) censored: Histogram,
    pub(crate) steps: BTreeMap<&'static str, Histogram>,
    pub(crate) kinds: BTreeMap<&'static str, KindPart>,
    pub(crate) counters: BTreeMap<&'static str, u64>,
    pub(crate) failures: Failures,
    pub(crate) facts: BTreeMap<&'static str, BTreeSet<String>>,
}

/// Operations of one kind.
#[derive(Debug, Default)]
pub(crate) struct KindPart {
    pub(crate) count: u64,
    pub(crate) failed: u64,
    pub(crate) service: Histogram,
}

impl Default for Part {
    fn default() -> Part {
        let h = Histogram::new;
        Part {
            measured: Accounting::default(),
            warmup: Accounting::default(),
            carried_in: 0,
            succeeded_within: 0,
            failed_within: 0,
            all_ended: 0,
            in_flight_ns: 0,
            local_limits: 0,
            bytes_in: 0,
            bytes_out: 0,
            units: 0,
            failed_units: 0,
            steps_lost: 0,
            first_start: u64::MAX,
            last_end: 0,
            connects_ok: 0,
            connects_failed: 0,
            connect_time: h(),
            connect_steps: BTreeMap::new(),
            connect_failures: Failures::new(),
            response: h(),
            service: h(),
            wait: h(),
            lateness: h(),
            dispatch: h(),
            loop_lag: h(),
            failed_service: h(),
            censored: h(),
            steps: BTreeMap::new(),
            kinds: BTreeMap::new(),
            counters: BTreeMap::new(),
            failures: Failures::new(),
            facts: BTreeMap::new(),
        }
    }
}

impl Part {
    /// The books of the measured phase or of the warm-up.
    #[inline]
    pub(crate) fn books(&mut self, measured: bool) -> &mut Accounting {
        if measured { &mut self.measured } else { &mut self.warmup }
    }

    pub(crate) fn measured(&self) -> &Accounting {
        &self.measured
    }

    pub(crate) fn warmup(&self) -> &Accounting {
        &self.warmup
    }

    #[inline]
    pub(crate) fn said(&mut self, said: &Said<'_>) {
        self.bytes_in += said.bytes_in;
        self.bytes_out += said.bytes_out;
        self.units += said.units;
        self.failed_units += said.failed_units;
        self.steps_lost += said.steps_lost;
    }

    pub(crate) fn add(&mut self, other: Part) {
        self.measured.add(&other.measured);
        self.warmup.add(&other.warmup);
        self.carried_in += other.carried_in;
        self.succeeded_within += other.succeeded_within;
        self.failed_within += other.failed_within;
        self.all_ended += other.all_ended;
        self.in_flight_ns += other.in_flight_ns;
        self.local_limits += other.local_limits;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.units += other.units;
        self.failed_units += other.failed_units;
        self.steps_lost += other.steps_lost;
        self.first_start = self.first_start.min(other.first_start);
        self.last_end = self.last_end.max(other.last_end);
        self.connects_ok += other.connects_ok;
        self.connects_failed += other.connects_failed;
        for (mine, others) in [
            (&mut self.connect_time, &other.connect_time),
            (&mut self.response, &other.response),
            (&mut self.service, &other.service),
            (&mut self.wait, &other.wait),
            (&mut self.lateness, &other.lateness),
            (&mut self.dispatch, &other.dispatch),
            (&mut self.loop_lag, &other.loop_lag),
            (&mut self.failed_service, &other.failed_service),
            (&mut self.censored, &other.censored),
        ] {
            mine.add(others);
        }
        for (mine, others) in [(&mut self.steps, other.steps), (&mut self.connect_steps, other.connect_steps)]
        {
            for (name, h) in others {
                mine.entry(name).or_default().add(&h);
            }
        }
        for (name, kind) in other.kinds {
            let mine = self.kinds.entry(name).or_default();
            mine.count += kind.count;
            mine.failed += kind.failed;
            mine.service.add(&kind.service);
        }
        for (name, n) in other.counters {
            *self.counters.entry(name).or_default() += n;
        }
        add_failures(&mut self.failures, other.failures);
        add_failures(&mut self.connect_failures, other.connect_failures);
        for (name, texts) in other.facts {
            self.facts.entry(name).or_default().extend(texts);
        }
    }
}

fn add_failures(mine: &mut Failures, others: Failures) {
    for (key, (n, example)) in others {
        mine.entry(key).or_insert((0, example)).0 += n;
    }
}
