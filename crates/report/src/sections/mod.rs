//! What a report says, section by section.

mod books;
mod checks;
mod connects;
mod failures;
mod generator;
mod head;
mod latency;
mod method;
mod samples;
mod steps;
mod verdict;

use crate::{
    Threshold, contradictions,
    doc::{Entry, Section, Tone},
    rounds::Rounds,
};
use load_core::{Record, Status, record::StreamRecord};

/// A record with its rounds found, as the sections want it.
pub(crate) struct Subject<'a> {
    pub(crate) record: &'a Record,
    pub(crate) groups: Vec<Rounds<'a>>,
    /// Whether a phase has to be named to tell groups apart.
    phases: bool,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(record: &'a Record) -> Subject<'a> {
        let groups = Rounds::of(record);
        let phases = groups.iter().any(|g| g.phase != groups[0].phase);
        Subject { record, groups, phases }
    }

    /// Name, level and, where it tells groups apart, phase: `nginx@50`, `nginx@50 (alone)`.
    fn title(&self, group: &Rounds<'_>) -> String {
        let title = match (self.phases, group.phase) {
            (false, _) | (_, "") => group.title(),
            (true, phase) => format!("{} ({phase})", group.title()),
        };
        crate::format::clean(&title)
    }

    /// A group as an entry of a table, by what each round has of `part`; `None` when no round has any.
    fn entry<T>(
        &self,
        group: &Rounds<'a>,
        part: impl Fn(&'a StreamRecord) -> Option<&'a T>,
    ) -> Option<Entry<'a, T>> {
        let numbered = |s: &'a StreamRecord| Some((s.round, part(s)?));
        let averaged: Vec<(u32, &T)> = group.averaged().filter_map(numbered).collect();
        let rejected: Vec<(u32, &T)> = group.rejected().filter_map(numbered).collect();
        (!averaged.is_empty() || !rejected.is_empty()).then(|| Entry {
            title: vec![self.title(group)],
            averaged,
            rejected,
            suspect: group.averaged_status() == Status::Suspect,
        })
    }
}

/// Every section that has something to say, in the order of a report.
pub(crate) fn all(record: &Record, thresholds: &[Threshold]) -> Vec<Section> {
    let subject = Subject::new(record);
    let mut sections = vec![head::head(&subject), verdict::verdict(&subject)];
    sections.push(held(record, thresholds));
    sections.push(contradicting(record));
    sections.push(books::books(&subject));
    let connects = connects::connects(&subject);
    // Sound ones are a line beside the books, others a table after the failures.
    let (sound, others) = if connects.joined { (Some(connects), None) } else { (None, Some(connects)) };
    sections.extend(sound);
    sections.extend(latency::latency(&subject));
    sections.push(steps::kinds(&subject));
    sections.push(steps::steps(&subject));
    sections.push(steps::connecting(&subject));
    sections.push(failures::failures(&subject));
    sections.extend(others);
    sections.push(checks::checks(&subject));
    sections.push(samples::series(&subject));
    sections.push(samples::events(&subject));
    sections.push(samples::limiters(&subject));
    sections.push(generator::generator(&subject));
    sections.push(method::method(&subject));
    sections.push(method::environment(&subject));
    sections.retain(|s| !s.is_empty());
    sections
}

fn held(record: &Record, thresholds: &[Threshold]) -> Section {
    let mut section = Section::new("Thresholds");
    for threshold in thresholds {
        let judged = threshold.judge(record);
        let tone = if judged.holds { Tone::Good } else { Tone::Bad };
        section.toned(crate::format::clean(&judged.to_string()), tone);
    }
    section
}

fn contradicting(record: &Record) -> Section {
    let mut section = Section::new("This record contradicts itself; please report it");
    for said in contradictions::contradictions(record) {
        section.toned(crate::format::clean(&said), Tone::Bad);
    }
    section
}
