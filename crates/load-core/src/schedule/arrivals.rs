//! The arrivals of a schedule, whole or one worker's share of them.

use super::{
    ArrivalProcess, ArrivalStream, Kind, Schedule, Shard,
    curve::{Count, Curve},
    poisson::{Points, Spacing},
};
use std::{fmt, sync::Arc};

/// One intended start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScheduledArrival {
    /// Its number in the whole schedule, from 0.
    pub index: u64,
    /// Nanoseconds from the start of the schedule.
    pub offset: u64,
}

/// An iterator over the arrivals of a shard, in order: neither number nor offset ever decreases. Once it has ended it
/// stays so.
///
/// Evenly spaced arrivals of other shards cost about a nanosecond, random ones about 6 (their gap is drawn), so that
/// all workers see the same whole without speaking to each other.
pub struct Arrivals {
    shard: Shard,
    next: u64,
    /// `next` modulo the slots, kept to spare a division an arrival.
    phase: usize,
    last: u64,
    origin: Origin,
}

enum Origin {
    Even { curve: Arc<Curve>, segment: usize },
    Poisson { curve: Arc<Curve>, segment: usize, points: Points, limit: u64, own_seed: bool },
    Process { process: Arc<dyn ArrivalProcess>, seed: u64, stream: Option<Box<dyn ArrivalStream>> },
    Ended,
}

impl Arrivals {
    pub(super) fn new(schedule: &Schedule, shard: Shard) -> Arrivals {
        let origin = match (&schedule.kind, schedule.spacing) {
            (Kind::Data { curve, .. }, Spacing::Even) => Origin::Even { curve: curve.clone(), segment: 0 },
            (Kind::Data { curve, .. }, Spacing::Poisson { seed }) => Origin::Poisson {
                curve: curve.clone(),
                segment: 0,
                points: Points::new(seed.unwrap_or(0)),
                limit: curve.limit(),
                own_seed: seed.is_some(),
            },
            (Kind::Process(process), _) => {
                Origin::Process { process: process.clone(), seed: 0, stream: None }
            }
        };
        Arrivals { shard, next: 0, phase: 0, last: 0, origin }
    }

    /// The arrivals that follow from this seed, from the first: those of a [Poisson](Schedule::poisson) schedule
    /// without a seed of its own, or of a process. It must be the same for all shards; it is 0 unless told otherwise.
    /// Others do not change.
    pub fn seeded(mut self, seed: u64) -> Arrivals {
        match &mut self.origin {
            Origin::Poisson { points, own_seed: false, .. } => *points = Points::new(seed),
            Origin::Process { seed: process_seed, .. } => *process_seed = seed,
            _ => {}
        }
        self
    }

    /// For engines, of the arrival that came last and is not due yet: what it is now, when the rate was changed since
    /// ([`Schedule::adjustable`], [`ArrivalStream::revise`]). `now` is the offset of the present. `None`, after a
    /// nanosecond or two, when nothing changed; always for schedules that are data.
    #[inline]
    pub fn revise(&mut self, now: u64) -> Option<ScheduledArrival> {
        let Origin::Process { stream: Some(stream), .. } = &mut self.origin else { return None };
        let offset = stream.revise(now)?;
        self.last = offset;
        Some(ScheduledArrival { index: self.next.checked_sub(1)?, offset })
    }

    /// The offset of one's next arrival; its number is then `next` − 1.
    #[inline]
    fn next_offset(&mut self) -> Option<u64> {
        let Arrivals { shard, next, phase, .. } = self;
        // Whether the next arrival is one's own; counts on.
        let mut advance = || {
            let mine = shard.owns(*phase);
            *next += 1;
            *phase += 1;
            if *phase == shard.slots() {
                *phase = 0;
            }
            mine
        };
        match &mut self.origin {
            Origin::Even { curve, segment } => {
                while !advance() {}
                curve.offset(Count::of(*next - 1), segment)
            }
            Origin::Poisson { curve, segment, points, limit, .. } => {
                while !advance() {
                    if points.next().whole > *limit {
                        return None;
                    }
                }
                curve.offset(points.next(), segment)
            }
            Origin::Process { process, seed, stream } => {
                let stream = stream.get_or_insert_with(|| process.start(*seed));
                while !advance() {
                    if !stream.skip() {
                        return None;
                    }
                }
                stream.next()
            }
            Origin::Ended => None,
        }
    }
}

impl Iterator for Arrivals {
    type Item = ScheduledArrival;

    fn next(&mut self) -> Option<ScheduledArrival> {
        let Some(offset) = self.next_offset() else {
            self.origin = Origin::Ended;
            return None;
        };
        // Two random arrivals may be nearer to each other than the roundings of the inverse.
        self.last = self.last.max(offset);
        Some(ScheduledArrival { index: self.next - 1, offset: self.last })
    }
}

impl std::iter::FusedIterator for Arrivals {}

impl fmt::Debug for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arrivals").field("next", &self.next).field("last", &self.last).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_union_of_the_shards_is_the_whole() {
        let schedule = Schedule::ramp(5.0, 50.0, Duration::from_secs(4)).unwrap();
        let whole: Vec<_> = schedule.arrivals(Shard::whole()).collect();
        for (workers, slots) in [(1, 1), (2, 5), (3, 64), (64, 64)] {
            let mut all: Vec<_> = (0..workers)
                .flat_map(|w| schedule.arrivals(Shard::of_worker(w, workers, slots).unwrap()))
                .collect();
            all.sort_by_key(|a| a.index);
            assert_eq!(all, whole, "{workers} workers, {slots} slots");
        }
        assert!(Shard::new(3, 3).is_err() && Shard::of_worker(0, 2, 1).is_err());
    }
}
