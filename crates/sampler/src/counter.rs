//! Counters that only grow, and what to make of them when they do not.

use load_core::Readings;
use std::{collections::HashMap, time::Duration};

/// Readings closer together than this give no rate: the kernel's accounts move in steps of up to 10 ms.
const CLOSEST: Duration = Duration::from_millis(10);

/// The time between two readings that rates are taken over.
#[derive(Debug, Default)]
pub(crate) struct Lap {
    last: Option<Duration>,
}

/// What a reading can be compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Since {
    /// Nothing: it is the first, or the one before was lost.
    Nothing,
    /// One that is too close; the one before stays the one to compare with.
    TooSoon,
    /// One this many seconds ago.
    Seconds(f64),
}

impl Lap {
    /// A reading at `at`.
    pub(crate) fn mark(&mut self, at: Duration) -> Since {
        let since = match self.last {
            None => Since::Nothing,
            Some(last) => match at.checked_sub(last) {
                Some(d) if d >= CLOSEST => Since::Seconds(d.as_secs_f64()),
                _ => return Since::TooSoon,
            },
        };
        self.last = Some(at);
        since
    }

    /// Forgets the reading before: the next one is a first one.
    pub(crate) fn reset(&mut self) {
        self.last = None;
    }
}

/// What a counter did between two readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    First,
    Grown(u64),
    /// It fell: whoever counts has started anew.
    Reset,
    /// It grew by more than can have happened.
    Jumped,
}

/// Compares two readings of a counter that can grow by at most `most` between them. With `wraps` it may be one of 32 bits.
pub(crate) fn step(last: Option<u64>, now: u64, most: f64, wraps: bool) -> Step {
    const WRAP: u64 = 1 << 32;
    let Some(last) = last else { return Step::First };
    let grown = match now.checked_sub(last) {
        Some(grown) => grown,
        // Past its end a counter of 32 bits begins again at 0: only one that was near its end can have done so.
        None if wraps && last < WRAP && last > WRAP / 4 * 3 && now < WRAP / 4 => now + WRAP - last,
        None => return Step::Reset,
    };
    if grown as f64 > most { Step::Jumped } else { Step::Grown(grown) }
}

/// How a counter becomes a series.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) unit: &'static str,
    /// What one count is in the unit's numerator.
    pub(crate) scale: f64,
    /// More counts than this in a second cannot be.
    pub(crate) most_per_s: f64,
    pub(crate) wraps: bool,
}

impl Kind {
    /// Bytes: ten times the memory bandwidth of today's largest servers is no reading.
    pub(crate) const BYTES: Kind = Kind { unit: "B/s", scale: 1.0, most_per_s: 1e13, wraps: true };
    /// Things that happen: requests, packets, faults.
    pub(crate) const EVENTS: Kind = Kind { unit: "1/s", scale: 1.0, most_per_s: 1e9, wraps: true };

    /// A share of time, of `per_second` counts a second that passes at most `lanes` times at once: CPU time on so many cores.
    pub(crate) fn time(per_second: f64, lanes: f64) -> Kind {
        // A tenth more for accounts that are brought up to date late.
        Kind { unit: "1", scale: 1.0 / per_second, most_per_s: per_second * lanes * 1.1, wraps: false }
    }

    /// The same, counted in something else than shares.
    pub(crate) fn of(self, unit: &'static str) -> Kind {
        Kind { unit, ..self }
    }

    pub(crate) fn scaled(self, scale: f64) -> Kind {
        Kind { scale, most_per_s: self.most_per_s / scale, ..self }
    }

    pub(crate) fn wrapping(self) -> Kind {
        Kind { wraps: true, ..self }
    }
}

/// The counters of one source, by the name of the series, and when they were last read.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    lap: Lap,
    since: Option<Since>,
    last: HashMap<String, (u64, u64)>,
    generation: u64,
}

impl Counters {
    /// Begins a reading; [`rate`](Counters::rate) belongs to it until [`end`](Counters::end).
    pub(crate) fn begin(&mut self, at: Duration) {
        self.since = Some(self.lap.mark(at));
        self.generation += 1;
    }

    /// The growth per second since the reading before as a value of the series `name`. A first reading gives none; one
    /// after a reset or a jump gives an event instead.
    pub(crate) fn rate(&mut self, readings: &mut Readings, name: &str, kind: Kind, now: u64) {
        let Some(seconds) = self.seconds() else {
            if self.since == Some(Since::Nothing) {
                self.last.insert(name.into(), (now, self.generation));
            }
            return;
        };
        let last = match self.last.get_mut(name) {
            Some(entry) => Some(std::mem::replace(entry, (now, self.generation)).0),
            None => self.last.insert(name.into(), (now, self.generation)).map(|(last, _)| last),
        };
        // A tenth of a second for the time between reading the clock and the file.
        match step(last, now, kind.most_per_s * (seconds + 0.1), kind.wraps) {
            Step::First => {}
            Step::Grown(grown) => readings.value(name, kind.unit, grown as f64 * kind.scale / seconds),
            Step::Reset => {
                readings
                    .event("counter reset", format!("{name}: from {} to {now}", last.unwrap_or_default()));
            }
            Step::Jumped => {
                readings
                    .event("counter jumped", format!("{name}: from {} to {now}", last.unwrap_or_default()));
            }
        }
    }

    /// How much a counter grew since the reading before; `None` when that cannot be said.
    pub(crate) fn grown(&mut self, name: &str, now: u64) -> Option<u64> {
        if self.since == Some(Since::TooSoon) {
            return None;
        }
        let (last, _) = self.last.insert(name.into(), (now, self.generation))?;
        self.seconds().and(now.checked_sub(last))
    }

    /// Seconds since the reading before, if rates can be given.
    pub(crate) fn seconds(&self) -> Option<f64> {
        match self.since {
            Some(Since::Seconds(s)) => Some(s),
            _ => None,
        }
    }

    /// Ends a reading: counters that were not in it are forgotten, so that they are new when they come back.
    pub(crate) fn end(&mut self) {
        if self.since != Some(Since::TooSoon) {
            let generation = self.generation;
            self.last.retain(|_, (_, seen)| *seen == generation);
        }
    }

    /// Forgets everything: the next reading is a first one.
    pub(crate) fn reset(&mut self) {
        self.lap.reset();
        self.last.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn series(values: &[u64], kind: Kind) -> (Vec<Option<f64>>, Vec<String>) {
        let mut counters = Counters::default();
        let (mut rates, mut events) = (Vec::new(), Vec::new());
        for (i, value) in values.iter().enumerate() {
            let mut readings = Readings::new();
            counters.begin(Duration::from_secs(i as u64 + 5));
            counters.rate(&mut readings, "x", kind, *value);
            counters.end();
            rates.push(readings.values().first().map(|v| v.2));
            events.extend(readings.events().iter().map(|e| e.0.clone()));
        }
        (rates, events)
    }

    #[test]
    fn the_first_reading_gives_nothing_and_the_second_is_right() {
        assert_eq!(series(&[100, 140, 150], Kind::EVENTS).0, [None, Some(40.0), Some(10.0)]);
    }

    #[test]
    fn a_reset_is_an_event_and_no_spike() {
        let (rates, events) = series(&[1000, 1010, 4, 9], Kind::EVENTS);
        assert_eq!(rates, [None, Some(10.0), None, Some(5.0)]);
        assert_eq!(events, ["counter reset"]);
    }

    #[test]
    fn a_spike_in_one_reading_is_marked_on_its_way_up_and_down() {
        let (rates, events) = series(&[100, 101, 1_730_000_000, 103, 104], Kind::EVENTS);
        assert_eq!(rates, [None, Some(1.0), None, None, Some(1.0)]);
        assert_eq!(events, ["counter jumped", "counter reset"]);
    }

    #[test]
    fn a_counter_of_32_bits_wraps() {
        let end = (1u64 << 32) - 10;
        assert_eq!(series(&[end, 20], Kind::BYTES).0, [None, Some(30.0)]);
        assert_eq!(series(&[end, 20], Kind::time(1000.0, 1e9)).1, ["counter reset"], "of 64 bits");
        assert_eq!(series(&[1000, 20], Kind::BYTES).1, ["counter reset"], "far from its end");
    }

    #[test]
    fn readings_too_close_together_give_nothing_and_lose_nothing() {
        let mut counters = Counters::default();
        let mut seen = Vec::new();
        for (micros, value) in [(0, 100), (0, 100), (900, 101), (1_000_900, 301)] {
            let mut readings = Readings::new();
            counters.begin(Duration::from_micros(micros));
            counters.rate(&mut readings, "x", Kind::EVENTS, value);
            counters.end();
            seen.push(readings.values().first().map(|v| v.2.round()));
        }
        assert_eq!(seen, [None, None, None, Some(201.0)]);
    }

    proptest! {
        #[test]
        fn rates_are_finite_possible_and_never_negative(
            values in prop::collection::vec((any::<u64>(), 0u64..3_000_000), 0..20),
            wraps: bool,
        ) {
            let kind = Kind { wraps, ..Kind::EVENTS };
            let mut counters = Counters::default();
            let mut at = 0;
            for (value, micros) in values {
                at += micros;
                let mut readings = Readings::new();
                counters.begin(Duration::from_micros(at));
                counters.rate(&mut readings, "x", kind, value);
                counters.end();
                for (_, _, rate) in readings.values() {
                    prop_assert!(rate.is_finite() && *rate >= 0.0 && *rate <= kind.most_per_s * 11.0);
                }
            }
        }
    }
}
