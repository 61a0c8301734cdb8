//! Readings put together as series with gaps.

use load_core::{
    Readings, SourceError,
    record::{Event, Series},
};
use std::collections::HashMap;

/// All series so far, and what happened.
#[derive(Debug, Default)]
pub(super) struct Book {
    series: Vec<(usize, Series)>,
    /// By the number of the source and the name of the series.
    known: HashMap<(usize, String), usize>,
    events: Vec<Event>,
}

/// A reading that went well but left out a series that it had before.
const LEFT_OUT: &str = "no figure in this reading";

impl Book {
    /// One reading of a source that ended at `t`.
    pub(super) fn reading(
        &mut self,
        source: usize,
        origin: &str,
        t: u64,
        readings: &Readings,
        result: &Result<(), SourceError>,
    ) {
        for (what, detail) in readings.events() {
            self.events.push(Event::new(t, what.as_str(), detail.as_str()));
        }
        for (name, unit, value) in readings.values() {
            let index = self.index(source, name, unit, origin);
            self.series[index].1.points.push((t, *value));
        }
        match result {
            Ok(()) => self.missing(source, origin, t, LEFT_OUT, false),
            Err(why) => self.missing(source, origin, t, &why.to_string(), true),
        }
    }

    /// Gaps in the series of a source that have no value at `t`. With `even_unknown`, a source without any series gets one
    /// that is named after its origin.
    pub(super) fn missing(&mut self, source: usize, origin: &str, t: u64, why: &str, even_unknown: bool) {
        let mut any = false;
        for (_, series) in self.series.iter_mut().filter(|(of, _)| *of == source) {
            any = true;
            if series.points.last().is_none_or(|p| p.0 != t) {
                gap(series, t, why);
            }
        }
        if !any && even_unknown {
            let index = self.index(source, origin, "", origin);
            gap(&mut self.series[index].1, t, why);
        }
    }

    fn index(&mut self, source: usize, name: &str, unit: &str, origin: &str) -> usize {
        if let Some(index) = self.known.get(&(source, name.to_string())) {
            return *index;
        }
        self.series.push((source, Series::new(name, unit, origin)));
        self.known.insert((source, name.to_string()), self.series.len() - 1);
        self.series.len() - 1
    }

    /// What came since the last call; the series stay known.
    pub(super) fn take(&mut self) -> (Vec<Series>, Vec<Event>) {
        let mut taken = Vec::new();
        for (_, series) in &mut self.series {
            if series.points.is_empty() && series.gaps.is_empty() {
                continue;
            }
            let empty = Series::new(series.name.as_str(), series.unit.as_str(), series.source.as_str());
            taken.push(std::mem::replace(series, empty));
        }
        (taken, std::mem::take(&mut self.events))
    }
}

/// Adds a gap. A third one in a row for one reason moves the second: a server that is gone for hours takes two entries.
fn gap(series: &mut Series, t: u64, why: &str) {
    if let [.., first, last] = &mut series.gaps[..]
        && first.1 == why
        && last.1 == why
        && series.points.last().is_none_or(|point| point.0 < first.0)
    {
        last.0 = t;
        return;
    }
    series.gaps.push((t, why.into()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(book: &mut Book, t: u64, values: &[(&str, f64)], result: Result<(), &str>) {
        let mut readings = Readings::new();
        for (name, value) in values {
            readings.value(*name, "1", *value);
        }
        book.reading(0, "here", t, &readings, &result.map_err(|e| SourceError::Failed(e.into())));
    }

    #[test]
    fn a_gap_is_a_gap_and_never_zero() {
        let mut book = Book::default();
        reading(&mut book, 1, &[("a", 1.0), ("b", 2.0)], Ok(()));
        reading(&mut book, 2, &[("a", 1.5)], Ok(()));
        reading(&mut book, 3, &[], Err("broken"));
        let (series, _) = book.take();
        assert_eq!(series[0].points, [(1, 1.0), (2, 1.5)]);
        assert_eq!(series[0].gaps, [(3, "broken".to_string())]);
        assert_eq!(series[1].points, [(1, 2.0)]);
        assert_eq!(series[1].gaps, [(2, LEFT_OUT.to_string()), (3, "broken".to_string())]);
    }

    #[test]
    fn a_long_stretch_of_gaps_is_its_first_and_last() {
        let mut book = Book::default();
        reading(&mut book, 0, &[("a", 1.0)], Ok(()));
        for t in 1..100 {
            reading(&mut book, t, &[], Err("gone"));
        }
        reading(&mut book, 100, &[("a", 1.0)], Ok(()));
        for t in 101..200 {
            reading(&mut book, t, &[], Err("gone"));
        }
        let (series, _) = book.take();
        let times: Vec<u64> = series[0].gaps.iter().map(|g| g.0).collect();
        assert_eq!(times, [1, 99, 101, 199]);
    }

    #[test]
    fn a_source_that_never_gave_anything_says_why() {
        let mut book = Book::default();
        reading(&mut book, 5, &[], Ok(()));
        assert!(book.take().0.is_empty(), "a first reading has nothing to compare with");
        reading(&mut book, 6, &[], Err("unavailable here"));
        let (series, _) = book.take();
        assert_eq!((series[0].name.as_str(), series[0].gaps[0].0), ("here", 6));
        assert!(series[0].points.is_empty());
    }

    #[test]
    fn what_was_taken_is_not_given_again() {
        let mut book = Book::default();
        reading(&mut book, 1, &[("a", 1.0)], Ok(()));
        assert_eq!(book.take().0[0].points, [(1, 1.0)]);
        assert!(book.take().0.is_empty());
        reading(&mut book, 2, &[], Ok(()));
        assert_eq!(book.take().0[0].gaps.len(), 1, "the series is still known");
    }
}
