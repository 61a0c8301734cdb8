//! Lines for readings.

use super::{Out, number, text};
use load_core::Record;

pub(super) fn write(record: &Record, out: &mut Out) -> Result<(), ::csv::Error> {
    out.write_record(["name", "unit", "source", "t_ns", "value", "gap"])?;
    for s in &record.series {
        let points = s.points.iter().map(|(t, x)| {
            let gap = if x.is_finite() { String::new() } else { format!("not a number: {x}") };
            (*t, number(Some(*x)), gap)
        });
        let gaps = s.gaps.iter().map(|(t, why)| (*t, String::new(), text(why)));
        let mut lines: Vec<_> = points.chain(gaps).collect();
        lines.sort_by_key(|(t, ..)| *t);
        for (t, value, gap) in lines {
            out.write_record([text(&s.name), text(&s.unit), text(&s.source), t.to_string(), value, gap])?;
        }
    }
    Ok(())
}
