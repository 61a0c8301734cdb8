//! The cumulative count of a whole schedule, and its inverse.

use super::{
    part::{MAX_SEGMENTS, Part, TOO_LONG, describe_all},
    segment::Segment,
};
use crate::ConfigError;

/// A count of arrivals with a fraction, exact in its whole part however large.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Count {
    pub(super) whole: u64,
    pub(super) fraction: f64,
}

impl Count {
    #[inline]
    pub(super) fn of(whole: u64) -> Count {
        Count { whole, fraction: 0.0 }
    }

    #[inline]
    pub(super) fn minus(self, other: Count) -> f64 {
        let whole = if self.whole >= other.whole {
            (self.whole - other.whole) as f64
        } else {
            -((other.whole - self.whole) as f64)
        };
        whole + (self.fraction - other.fraction)
    }

    fn plus(self, x: f64) -> Count {
        let sum = self.fraction + x;
        let floor = sum.floor();
        Count { whole: self.whole.saturating_add(floor as u64), fraction: sum - floor }
    }

    /// The whole number within `error`, when there is one: a plain sum of rates times lengths gives one arrival too
    /// many or too few in some 5 % of schedules whose true count is whole.
    fn snapped(self, error: f64) -> Count {
        // A count below 1 is small but not negligible: it is where the first arrival is.
        let negligible = if self.whole == 0 { NEGLIGIBLE * self.fraction } else { NEGLIGIBLE };
        let error = error.max(negligible);
        if self.fraction <= error {
            Count::of(self.whole)
        } else if 1.0 - self.fraction <= error {
            Count::of(self.whole.saturating_add(1))
        } else {
            self
        }
    }

    /// How many whole numbers are below it.
    fn ceil(self) -> u64 {
        self.whole.saturating_add(u64::from(self.fraction > 0.0))
    }
}

/// Segments, each with its place in time and count.
#[derive(Debug)]
pub(super) struct Curve {
    placed: Vec<Placed>,
    /// `None`: without end.
    end: Option<End>,
}

#[derive(Debug)]
struct Placed {
    segment: Segment,
    start_ns: u64,
    before: Count,
}

#[derive(Debug, Clone, Copy)]
struct End {
    ns: u64,
    count: Count,
}

pub(super) const ENDLESS: &str = "it has no end; give it one with `lasting`";

/// Less of an arrival than this is taken for a rounding in the caller's own arithmetic.
const NEGLIGIBLE: f64 = 1e-9;

impl Curve {
    pub(super) fn of(parts: &[Part]) -> Result<Curve, ConfigError> {
        let mut segments = Vec::new();
        parts.iter().try_for_each(|part| part.flatten(&mut segments))?;
        if segments.is_empty() || segments.len() > MAX_SEGMENTS {
            let text = format!("{} parts", segments.len());
            return Err(ConfigError::invalid("schedule.parts", text, format!("1 to {MAX_SEGMENTS}")));
        }
        // Something after what has no end would never come.
        if segments[..segments.len() - 1].iter().any(|s: &Segment| s.length_ns().is_none()) {
            return Err(ConfigError::invalid("schedule.then", describe_all(parts), ENDLESS));
        }
        Curve::placed(segments)
    }

    fn placed(segments: Vec<Segment>) -> Result<Curve, ConfigError> {
        let (mut at, mut sum, mut before, mut error) = (0u64, Count::default(), Count::default(), 0.0);
        let mut placed = Vec::with_capacity(segments.len());
        let mut endless = false;
        for segment in segments {
            let length = segment.length_ns();
            let total = length.map_or(0.0, |length| segment.cumulative(length));
            error += segment.error(total);
            placed.push(Placed { segment, start_ns: at, before });
            // Only what is looked up is snapped: a sum of many small parts must not lose them.
            sum = sum.plus(total);
            before = sum.snapped(error);
            match length {
                None => endless = true,
                Some(length) => {
                    at = at.checked_add(length).ok_or_else(|| {
                        ConfigError::invalid("schedule.duration", format!("{at} ns + {length} ns"), TOO_LONG)
                    })?;
                }
            }
        }
        Ok(Curve { placed, end: (!endless).then_some(End { ns: at, count: before }) })
    }

    /// A whole number that no count of this schedule is above.
    pub(super) fn limit(&self) -> u64 {
        self.count().unwrap_or(u64::MAX)
    }

    /// The offset at which the count reaches `x`, `None` after the end. `from` is a segment not after the one in
    /// which that is, and then that one.
    #[inline]
    pub(super) fn offset(&self, x: Count, from: &mut usize) -> Option<u64> {
        if self.end.is_some_and(|end| x.minus(end.count) >= 0.0) {
            return None;
        }
        // A segment without arrivals begins where the next one does, and is passed over here.
        while self.placed.get(*from + 1).is_some_and(|next| x.minus(next.before) >= 0.0) {
            *from += 1;
        }
        let placed = &self.placed[*from];
        let mut local = placed.segment.inverse(x.minus(placed.before))?;
        if let Some(length) = placed.segment.length_ns() {
            local = local.min(length);
        }
        let at = placed.start_ns.checked_add(local)?;
        // What lies less than half a nanosecond before the end still lies before it.
        Some(self.end.map_or(at, |end| at.min(end.ns - 1)))
    }

    pub(super) fn at(&self, n: u64) -> Option<u64> {
        let x = Count::of(n);
        let mut from = self.placed.partition_point(|p| x.minus(p.before) >= 0.0).saturating_sub(1);
        self.offset(x, &mut from)
    }

    pub(super) fn count(&self) -> Option<u64> {
        self.end.map(|end| end.count.ceil())
    }

    pub(super) fn end_ns(&self) -> Option<u64> {
        self.end.map(|end| end.ns)
    }

    /// Arrivals whose offset is below `ns`.
    pub(super) fn count_before(&self, ns: u64) -> u64 {
        if let Some(end) = self.end
            && ns >= end.ns
        {
            return end.count.ceil();
        }
        let placed = &self.placed[self.index_at(ns)];
        let mut n = placed.before.plus(placed.segment.cumulative(ns - placed.start_ns)).ceil();
        // That is right but for roundings; the offsets themselves decide.
        while n > 0 && self.at(n - 1).is_none_or(|at| at >= ns) {
            n -= 1;
        }
        while n < u64::MAX && self.at(n).is_some_and(|at| at < ns) {
            n += 1;
        }
        n
    }

    /// The rate per second at an offset; 0 after the end.
    pub(super) fn rate(&self, ns: u64) -> f64 {
        if self.end.is_some_and(|end| ns >= end.ns) {
            return 0.0;
        }
        let placed = &self.placed[self.index_at(ns)];
        placed.segment.rate(ns - placed.start_ns)
    }

    fn index_at(&self, ns: u64) -> usize {
        self.placed.partition_point(|p| p.start_ns <= ns).saturating_sub(1)
    }
}
