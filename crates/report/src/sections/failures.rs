//! What failed, how often, and one example of each.

use super::Subject;
use crate::{
    doc::{Section, Table, Tone},
    format::{clean, count, percent},
};
use load_core::{Class, record::FailureCount};

/// Failures of one class and code.
struct Failed<'a> {
    class: Class,
    code: &'a str,
    count: u64,
    example: &'a str,
}

pub(super) fn failures(subject: &Subject<'_>) -> Section {
    let mut table = Table::new(&["stream", "class", "code", ">count", ">of ended", "first one"]);
    for group in &subject.groups {
        let all = gather(group.all.iter().flat_map(|s| &s.failures));
        let ended = group
            .all
            .iter()
            .fold(0u64, |n, s| n.saturating_add(s.accounting.succeeded).saturating_add(s.accounting.failed));
        let mut title = subject.title(group);
        for f in all {
            table.row(
                vec![
                    std::mem::take(&mut title),
                    f.class.to_string(),
                    clean(f.code),
                    count(f.count),
                    percent(f.count as f64 / ended as f64),
                    clean(f.example),
                ],
                Tone::Warning,
            );
        }
    }
    let mut section = Section::new("Failures, over all rounds");
    section.table(table);
    section
}

/// Adds up what the rounds say, the most frequent first.
fn gather<'a>(failures: impl Iterator<Item = &'a FailureCount>) -> Vec<Failed<'a>> {
    let mut all: Vec<Failed<'a>> = Vec::new();
    for f in failures.filter(|f| f.count > 0) {
        match all.iter_mut().find(|a| a.class == f.class && a.code == f.code) {
            Some(known) => {
                known.count = known.count.saturating_add(f.count);
                if known.example.is_empty() {
                    known.example = &f.example;
                }
            }
            None => all.push(Failed { class: f.class, code: &f.code, count: f.count, example: &f.example }),
        }
    }
    all.sort_by_key(|f| std::cmp::Reverse(f.count));
    all
}

/// The failures in words: `12 connect (refused), 1 dns`.
pub(super) fn in_words<'a>(failures: impl Iterator<Item = &'a FailureCount>) -> String {
    let words = gather(failures).into_iter().map(|f| {
        let code = if f.code.is_empty() { String::new() } else { format!(" ({})", f.code) };
        let example = if f.example.is_empty() { String::new() } else { format!(": {}", f.example) };
        format!("{} {}{code}{example}", count(f.count), f.class)
    });
    clean(&words.collect::<Vec<_>>().join("; "))
}
