//! A comparison as a report.

use super::{Change, Compared, Comparison};
use crate::{
    doc::{Section, Table, Tone},
    format::{NONE, TimeUnit, clean, fixed, percent, short},
    metric::{Metric, Unit},
    stats::Spread,
};

pub(super) fn sections(c: &Comparison) -> Vec<Section> {
    let mut all = Vec::new();
    let mut differences = Section::new("The runs differ in");
    for difference in &c.differences {
        differences.toned(clean(&difference.to_string()), Tone::Warning);
    }
    for unmatched in &c.unmatched {
        differences.toned(clean(unmatched), Tone::Warning);
    }
    all.push(differences);
    let mut head = Section::new("");
    let (line, tone) = summary(c);
    head.toned(line, tone);
    all.push(head);
    all.push(table(c));
    all.retain(|s| !s.is_empty());
    all
}

fn summary(c: &Comparison) -> (String, Tone) {
    let of = |change: Change| c.figures.iter().filter(|f| f.change == change).count();
    let said =
        [(Change::Worse, "worse"), (Change::Better, "better"), (Change::TooFew, "undecided: too few rounds")]
            .into_iter()
            .filter(|(change, _)| of(*change) > 0)
            .map(|(change, word)| format!("{} {word}", of(change)))
            .collect::<Vec<_>>();
    let tone = match () {
        () if of(Change::Worse) > 0 => Tone::Bad,
        () if of(Change::TooFew) > 0 => Tone::Warning,
        () => Tone::Good,
    };
    let rules = format!(
        "(medians over rounds; a change has p < {} by Mann-Whitney and is at least {} %)",
        short(c.alpha),
        short(c.least_effect * 100.0)
    );
    match said.as_slice() {
        [] if c.figures.is_empty() => ("NOTHING TO COMPARE: the records share no figure".into(), Tone::Bad),
        [] => (format!("NO CHANGE in {} figures {rules}", c.figures.len()), tone),
        said => (format!("of {} figures: {} {rules}", c.figures.len(), said.join(", ")), tone),
    }
}

fn table(c: &Comparison) -> Section {
    let times = c.figures.iter().filter(|f| unit_of(f) == Unit::Time);
    let unit = TimeUnit::for_all(times.flat_map(|f| [f.before.median, f.after.median]));
    let mut table = Table::new(&[
        "stream",
        "figure",
        ">before",
        ">after",
        ">ratio",
        "95 % interval",
        ">p",
        ">rounds",
        "change",
    ]);
    let mut last = "";
    for f in &c.figures {
        let figure = match unit_of(f) {
            Unit::Time => format!("{} ({})", f.figure, unit.name()),
            _ => f.figure.clone(),
        };
        let write = |s: &Spread| match unit_of(f) {
            Unit::Time => unit.write(s.median),
            Unit::Share => percent(s.median),
            _ => fixed(s.median, 2),
        };
        let (change, tone) = match f.change {
            Change::None => ("no", Tone::Plain),
            Change::Better => ("better", Tone::Good),
            Change::Worse => ("WORSE", Tone::Bad),
            Change::TooFew => ("too few rounds", Tone::Warning),
        };
        table.row(
            vec![
                if last == f.stream { String::new() } else { clean(&f.stream) },
                figure,
                write(&f.before),
                write(&f.after),
                f.ratio.map_or(NONE.into(), |r| fixed(r, 3)),
                f.ratio_ci.map_or(NONE.into(), |[a, b]| format!("{} to {}", fixed(a, 3), fixed(b, 3))),
                if f.p < 0.0001 { "< 0.0001".into() } else { fixed(f.p, 4) },
                format!("{}, {}", f.before.n, f.after.n),
                change.into(),
            ],
            tone,
        );
        last = &f.stream;
    }
    let mut section = Section::new("");
    section.table(table);
    section
}

fn unit_of(f: &Compared) -> Unit {
    Metric::named(&f.figure).map_or(Unit::Count, |m| m.unit())
}
