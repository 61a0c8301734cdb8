//! The rounds of one stream at one level, and which of them count.

use load_core::{Record, Status, record::StreamRecord};

/// All rounds of one stream in one phase at one level.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Rounds<'a> {
    /// The stream.
    pub name: &'a str,
    /// The phase.
    pub phase: &'a str,
    /// The level; may be empty.
    pub level: &'a str,
    /// Its rounds, in the order of their numbers.
    pub all: Vec<&'a StreamRecord>,
}

impl<'a> Rounds<'a> {
    /// The rounds of every stream, phase and level of a record, in the order in which they first appear (levels are rotated
    /// from round to round, so the first round gives the order that was asked for).
    pub fn of(record: &'a Record) -> Vec<Rounds<'a>> {
        let mut groups: Vec<Rounds<'a>> = Vec::new();
        for s in &record.streams {
            let key = (s.name.as_str(), s.phase.as_str(), s.level.as_str());
            match groups.iter_mut().find(|g| (g.name, g.phase, g.level) == key) {
                Some(group) => group.all.push(s),
                None => groups.push(Rounds { name: key.0, phase: key.1, level: key.2, all: vec![s] }),
            }
        }
        for group in &mut groups {
            group.all.sort_by_key(|s| s.round);
        }
        // Streams of one name stand together, in the order of their first appearance.
        let names: Vec<&str> = groups.iter().map(|g| g.name).collect();
        let first = |name: &str| names.iter().position(|n| *n == name);
        groups.sort_by_key(|g| first(g.name));
        groups
    }

    /// The rounds that averages take: all that were not rejected.
    pub fn averaged(&self) -> impl Iterator<Item = &'a StreamRecord> + '_ {
        self.all.iter().copied().filter(|s| s.verdict.status != Status::Rejected)
    }

    /// The rounds that were rejected: kept for audit, never averaged.
    pub fn rejected(&self) -> impl Iterator<Item = &'a StreamRecord> + '_ {
        self.all.iter().copied().filter(|s| s.verdict.status == Status::Rejected)
    }

    /// The worst verdict of the rounds that averages take.
    pub fn averaged_status(&self) -> Status {
        self.averaged().map(|s| s.verdict.status).max().unwrap_or_default()
    }

    /// Name and level, `nginx@50`, or the name alone.
    pub fn title(&self) -> String {
        let name = if self.name.is_empty() { "(no name)" } else { self.name };
        match self.level {
            "" => name.to_string(),
            level => format!("{name}@{level}"),
        }
    }

    /// Whether load arrived by a schedule.
    pub fn is_open(&self) -> bool {
        self.all.iter().any(|s| s.load.kind == "open")
    }
}
