//! Tables of figures over rounds: a line for the median, and one each for the lowest and the highest round.

use super::{Table, Tone};
use crate::{
    format::{NONE, TimeUnit, fixed, short},
    stats::Spread,
};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nanoseconds.
    Time,
    /// Per second.
    Rate,
    /// A number of things.
    Count,
}

/// Takes a figure from what a round measured.
type Get<T> = Box<dyn Fn(&T) -> Option<f64>>;

/// Takes a confidence interval in ns from what a round measured.
type Interval<T> = Box<dyn Fn(&T) -> Option<[u64; 2]>>;

/// A column: what it is called and how its figure is taken from what a round measured.
pub(crate) struct Column<T> {
    pub(crate) head: &'static str,
    pub(crate) kind: Kind,
    pub(crate) get: Get<T>,
    pub(crate) interval: Option<Interval<T>>,
}

impl<T> Column<T> {
    pub(crate) fn new(
        head: &'static str,
        kind: Kind,
        get: impl Fn(&T) -> Option<f64> + 'static,
    ) -> Column<T> {
        Column { head, kind, get: Box::new(get), interval: None }
    }

    pub(crate) fn interval(mut self, interval: impl Fn(&T) -> Option<[u64; 2]> + 'static) -> Column<T> {
        self.interval = Some(Box::new(interval));
        self
    }
}

/// What stands in one group of rows: the rounds that are averaged and the rejected ones, each with its number.
pub(crate) struct Entry<'a, T> {
    pub(crate) title: Vec<String>,
    pub(crate) averaged: Vec<(u32, &'a T)>,
    pub(crate) rejected: Vec<(u32, &'a T)>,
    pub(crate) suspect: bool,
}

/// The table, and the unit of its times. `titles` are the heads of the first columns, one for each part of a title.
pub(crate) fn figures<T>(
    titles: &[&str],
    entries: &[Entry<'_, T>],
    columns: &[Column<T>],
) -> (Table, TimeUnit) {
    let unit = unit(entries, columns);
    let decimals = columns.iter().map(|c| decimals(entries, c)).collect::<Vec<_>>();
    let write = |x: Option<f64>, i: usize| match x.filter(|x| x.is_finite()) {
        None => NONE.to_string(),
        Some(x) => match columns[i].kind {
            Kind::Time => unit.write(x),
            Kind::Count => fixed(x, if x.fract() == 0.0 { 0 } else { 1 }),
            Kind::Rate if x != 0.0 && x.abs() < 0.1 => short(x),
            Kind::Rate => fixed(x, decimals[i]),
        },
    };
    let mut table = Table::new(titles);
    table.head.push("round".into());
    table.numeric.push(false);
    table.head.extend(columns.iter().map(|c| c.head.to_string()));
    table.numeric.extend(columns.iter().map(|_| true));

    for entry in entries {
        let mut title = entry.title.clone();
        title.resize(titles.len(), String::new());
        let mut add = |label: String, cells: Vec<String>, tone: Tone| {
            let mut row = std::mem::replace(&mut title, vec![String::new(); titles.len()]);
            row.push(label);
            row.extend(cells);
            table.row(row, tone);
        };
        let cells = |of: &dyn Fn(&Spread) -> f64| -> Vec<String> {
            let spread = |c: &Column<T>| Spread::of(entry.averaged.iter().filter_map(|(_, t)| (c.get)(t)));
            columns.iter().enumerate().map(|(i, c)| write(spread(c).map(|s| of(&s)), i)).collect()
        };
        let tone = if entry.suspect { Tone::Warning } else { Tone::Plain };
        let mark = if entry.suspect { ", suspect" } else { "" };
        match entry.averaged.as_slice() {
            [] => {}
            [(round, one)] => {
                add(format!("{round}{mark}"), cells(&|s| s.median), tone);
                for (bound, label) in [(0, "95 % from"), (1, "95 % to")] {
                    let ends: Vec<Option<u64>> = columns
                        .iter()
                        .map(|c| c.interval.as_ref().and_then(|get| get(one)).map(|ci| ci[bound]))
                        .collect();
                    if ends.iter().any(Option::is_some) {
                        let cells = ends.iter().map(|e| e.map_or(String::new(), |ns| unit.write(ns as f64)));
                        add(label.into(), cells.collect(), Tone::Faint);
                    }
                }
            }
            several => {
                let n = several.len() as u64;
                add(format!("median of {}{mark}", crate::format::count(n)), cells(&|s| s.median), tone);
                add("lowest".into(), cells(&|s| s.min), Tone::Faint);
                add("highest".into(), cells(&|s| s.max), Tone::Faint);
            }
        }
        for (round, t) in &entry.rejected {
            let cells = columns.iter().enumerate().map(|(i, c)| write((c.get)(t), i)).collect();
            add(format!("{round}: rejected, not averaged"), cells, Tone::Bad);
        }
    }
    (table, unit)
}

fn all<'a, T>(entries: &'a [Entry<'_, T>]) -> impl Iterator<Item = &'a T> {
    entries.iter().flat_map(|e| e.averaged.iter().chain(&e.rejected).map(|(_, t)| *t))
}

fn unit<T>(entries: &[Entry<'_, T>], columns: &[Column<T>]) -> TimeUnit {
    TimeUnit::for_all(
        all(entries).flat_map(|t| columns.iter().filter(|c| c.kind == Kind::Time).filter_map(|c| (c.get)(t))),
    )
}

/// Decimals of a column of rates: two, unless one of them is large.
fn decimals<T>(entries: &[Entry<'_, T>], column: &Column<T>) -> usize {
    let highest = all(entries).filter_map(|t| (column.get)(t)).fold(0.0, f64::max);
    if highest >= 100_000.0 { 0 } else { 2 }
}
