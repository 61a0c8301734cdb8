//! Whether the run may be believed, and why not: each reason once, with the rounds in which it holds.

use super::Subject;
use crate::{
    doc::{Section, Tone},
    format::{clean, count, list, plural, short},
    rounds::Rounds,
};
use load_core::{Figure, RULES, Rule, Status, Worse, record::StreamRecord};

pub(super) fn verdict(subject: &Subject<'_>) -> Section {
    let record = subject.record;
    let worst = record.streams.iter().map(|s| s.verdict.status).fold(record.verdict.status, Status::max);
    let mut section = Section::new("");
    let rounds = plural(record.streams.len() as u64, "measurement");
    let had = |r: &&Rule| record.streams.iter().any(|s| s.verdict.evidence.get(r.name).is_some_and(measured));
    let checked = RULES.iter().filter(had).count() as u64;
    let (line, tone) = match worst {
        _ if record.streams.is_empty() && worst == Status::Valid => {
            ("NOTHING MEASURED: the record holds no stream".into(), Tone::Bad)
        }
        Status::Valid if checked == 0 => {
            (format!("VALID, but unchecked: no rule had a figure in {rounds}"), Tone::Warning)
        }
        Status::Valid => {
            (format!("VALID: {} checked in {rounds}, none fired", plural(checked, "rule")), Tone::Good)
        }
        Status::Suspect => ("SUSPECT: read the reasons before you use the numbers".into(), Tone::Warning),
        _ => (
            "REJECTED: the numbers say more about the load generator than about the server".into(),
            Tone::Bad,
        ),
    };
    section.toned(line, tone);
    reasons(subject, &mut section);
    findings(subject, &mut section);
    section
}

fn measured(figure: &Figure) -> bool {
    figure.number().is_some()
}

/// One rule, or one text that is no rule's, in one group.
struct Reason<'a> {
    rule: Option<&'static Rule>,
    text: &'a str,
    status: Status,
    title: String,
    rounds: usize,
    of: usize,
    figures: Vec<f64>,
}

fn reasons(subject: &Subject<'_>, section: &mut Section) {
    let mut all: Vec<Reason<'_>> = Vec::new();
    for group in &subject.groups {
        let first = all.len();
        for stream in &group.all {
            for text in &stream.verdict.reasons {
                add(&mut all, first, subject, group, stream, text);
            }
        }
    }
    all.sort_by_key(|r| std::cmp::Reverse(r.status));
    while let Some(head) = all.first() {
        let (rule, text) = (head.rule.map(|r| r.name), head.text);
        let same = |r: &Reason<'_>| match rule {
            Some(name) => r.rule.is_some_and(|r| r.name == name),
            None => r.rule.is_none() && r.text == text,
        };
        let (these, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(same);
        all = rest;
        say(&these, section);
    }
    // What the record says beyond its streams' reasons.
    for reason in &subject.record.verdict.reasons {
        if !of_a_stream(subject.record.streams.iter(), reason, |s| &s.verdict.reasons) {
            section.under(1, clean(reason), tone(subject.record.verdict.status));
        }
    }
}

/// Whether the record's line is one of a stream's, under the stream's name.
fn of_a_stream<'a>(
    mut streams: impl Iterator<Item = &'a StreamRecord>,
    line: &str,
    of: impl Fn(&'a StreamRecord) -> &'a Vec<String>,
) -> bool {
    streams.any(|s| {
        let said = line.strip_prefix(&s.title()).and_then(|l| l.strip_prefix(": "));
        of(s).iter().any(|r| said == Some(r) || line == r)
    })
}

fn add<'a>(
    all: &mut Vec<Reason<'a>>,
    first: usize,
    subject: &Subject<'_>,
    group: &Rounds<'_>,
    stream: &StreamRecord,
    text: &'a str,
) {
    let evidence = &stream.verdict.evidence;
    let rule = RULES.iter().find(|r| {
        text.strip_prefix(r.name.replace('_', " ").as_str()).is_some_and(|rest| rest.starts_with(':'))
            && r.judge(evidence) != Status::Valid
    });
    let status = rule.map_or(stream.verdict.status, |r| r.judge(evidence));
    let known = all[first..].iter_mut().find(|r| match (r.rule, rule) {
        (Some(a), Some(b)) => a.name == b.name,
        (None, None) => r.text == text,
        _ => false,
    });
    let figure = rule.and_then(|r| evidence.get(r.name)).and_then(|f| f.number());
    match known {
        Some(reason) => {
            reason.rounds += 1;
            reason.status = reason.status.max(status);
            reason.figures.extend(figure);
        }
        None => all.push(Reason {
            rule,
            text,
            status,
            title: subject.title(group),
            rounds: 1,
            of: group.all.len(),
            figures: figure.into_iter().collect(),
        }),
    }
}

fn say(these: &[Reason<'_>], section: &mut Section) {
    let Some(first) = these.first() else { return };
    let Some(rule) = first.rule else {
        let places: Vec<String> = these.iter().map(place).collect();
        section.under(1, clean(&format!("{}: {}", first.text, list(&places))), tone(first.status));
        return;
    };
    let tone = tone(first.status);
    section.under(1, format!("{}: {}", rule.name.replace('_', " "), rule.means), tone);
    let side = if rule.worse == Worse::Above { "above" } else { "below" };
    let mut bounds = format!("suspect {side} {}", rule.suspect);
    if let Some(bound) = rule.rejected {
        bounds.push_str(&format!(", rejected {side} {bound}"));
    }
    let found: Vec<String> = these.iter().map(|r| format!("{} at {}", range(&r.figures), place(r))).collect();
    let text = format!("{} ({bounds}): {}", rule.figure, found.join("; "));
    section.under(2, clean(&text), tone);
}

fn place(reason: &Reason<'_>) -> String {
    match (reason.rounds, reason.of) {
        (_, 1) => reason.title.clone(),
        (n, of) => format!("{} in {} of {} rounds", reason.title, count(n as u64), count(of as u64)),
    }
}

fn range(figures: &[f64]) -> String {
    let low = figures.iter().copied().fold(f64::INFINITY, f64::min);
    let high = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match (short(low), short(high)) {
        (low, high) if low == high => low,
        (low, high) => format!("{low} to {high}"),
    }
}

fn tone(status: Status) -> Tone {
    match status {
        Status::Valid => Tone::Plain,
        Status::Suspect => Tone::Warning,
        _ => Tone::Bad,
    }
}

fn findings(subject: &Subject<'_>, section: &mut Section) {
    // By the text without its figures: the same finding in several rounds differs by them.
    let mut all: Vec<(String, &str, bool, Vec<String>)> = Vec::new();
    for group in &subject.groups {
        let mut here: Vec<(String, &str, u64)> = Vec::new();
        for text in group.all.iter().flat_map(|s| &s.verdict.findings) {
            let key = without_figures(text);
            match here.iter_mut().find(|(k, ..)| *k == key) {
                Some((.., n)) => *n += 1,
                None => here.push((key, text, 1)),
            }
        }
        for (key, text, n) in here {
            let mut place = subject.title(group);
            if group.all.len() > 1 {
                place = format!("{place} in {} of {} rounds", count(n), count(group.all.len() as u64));
            }
            let several = n > 1;
            match all.iter_mut().find(|(k, ..)| *k == key) {
                Some((.., first_of, places)) => {
                    *first_of = true;
                    places.push(place);
                }
                None => all.push((key, text, several, vec![place])),
            }
        }
    }
    for (key, text, several, places) in all {
        let which = if several && key.contains('#') { " (figures of the first)" } else { "" };
        section.line(clean(&format!("finding at {}: {text}{which}", list(&places))));
    }
    for finding in &subject.record.verdict.findings {
        if !of_a_stream(subject.record.streams.iter(), finding, |s| &s.verdict.findings) {
            section.line(clean(&format!("finding: {finding}")));
        }
    }
}

/// A text with `#` for each of its numbers.
fn without_figures(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut number = false;
    for c in text.chars() {
        let digit = c.is_ascii_digit();
        let goes_on = number && (digit || c == '.' || c == ',');
        if digit && !number {
            out.push('#');
        } else if !goes_on {
            out.push(c);
        }
        number = digit || goes_on;
    }
    out
}
