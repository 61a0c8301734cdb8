//! What run this is.

use super::Subject;
use crate::{
    doc::{Section, Tone},
    format::clean,
};

pub(super) fn head(subject: &Subject<'_>) -> Section {
    let record = subject.record;
    let name = if record.experiment.is_empty() { "(a run without a name)" } else { &record.experiment };
    let mut section = Section::new("");
    section.line(clean(&format!("{name} · {}", record.started_at)));
    if record.interrupted {
        section.toned(
            "INTERRUPTED: the run was stopped before its end. What was measured until then is below.",
            Tone::Bad,
        );
    }
    for (label, text) in &record.labels {
        let text = if text.is_empty() { label.clone() } else { format!("{label}: {text}") };
        section.toned(clean(&format!("label {text}")), Tone::Warning);
    }
    section
}
