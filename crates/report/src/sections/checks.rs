//! Checks made around the load.

use super::Subject;
use crate::{
    doc::{Section, Table, Tone},
    format::{clean, duration},
};

pub(super) fn checks(subject: &Subject<'_>) -> Section {
    let mut table = Table::new(&["check", "result", ">took", "detail"]);
    for check in &subject.record.checks {
        let (result, tone) = if check.passed { ("passed", Tone::Plain) } else { ("FAILED", Tone::Bad) };
        table.row(
            vec![clean(&check.name), result.into(), duration(check.elapsed_ns), clean(&check.detail)],
            tone,
        );
    }
    let mut section = Section::new("Checks");
    section.table(table);
    section
}
