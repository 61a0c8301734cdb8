//! The report as text.

use crate::{
    Threshold,
    doc::{Block, Section, Table, Tone},
    format::wrap,
    sections,
};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, TableStyle, Width};
use load_core::Record;

/// A text report: about 100 columns wide and without colour. Same bytes in every locale, in UTF-8.
///
/// ```
/// # let record = load_core::Record::new("empty", "2026-01-01T00:00:00Z");
/// let report = report::Text::new().colour(true).width(120).render(&record);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Text {
    colour: bool,
    width: usize,
    thresholds: Vec<Threshold>,
}

impl Default for Text {
    fn default() -> Text {
        Text { colour: false, width: 100, thresholds: Vec::new() }
    }
}

impl Text {
    /// The report as [`text`] writes it.
    pub fn new() -> Text {
        Text::default()
    }

    /// Marks verdicts, warnings and failures by ANSI colours.
    pub fn colour(mut self, colour: bool) -> Text {
        self.colour = colour;
        self
    }

    /// How many columns lines are broken at, at least 40. A table of figures may be wider: numbers are not broken.
    pub fn width(mut self, width: usize) -> Text {
        self.width = width.clamp(40, 1000);
        self
    }

    /// Holds the record against these, and says after the verdict which of them do not hold.
    pub fn thresholds(mut self, thresholds: impl IntoIterator<Item = Threshold>) -> Text {
        self.thresholds.extend(thresholds);
        self
    }

    /// Writes the report.
    pub fn render(&self, record: &Record) -> String {
        self.sections(&sections::all(record, &self.thresholds))
    }

    pub(crate) fn sections(&self, sections: &[Section]) -> String {
        let mut out = String::new();
        for section in sections {
            if !out.is_empty() && !section.joined {
                out.push('\n');
            }
            self.section(section, &mut out);
        }
        out
    }

    fn section(&self, section: &Section, out: &mut String) {
        if !section.heading.is_empty() {
            self.push(&section.heading, "\u{1b}[1m", out);
        }
        for block in &section.blocks {
            match block {
                Block::Line { text, tone, depth } => {
                    let first = 2 * depth;
                    for line in wrap(text, self.width, first, first + 2) {
                        self.push(&line, ansi(*tone), out);
                    }
                }
                Block::Table(table) => self.table(table, out),
            }
        }
    }

    fn table(&self, table: &Table, out: &mut String) {
        let mut drawn = comfy_table::Table::new();
        drawn.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
        drawn.set_header(table.head.clone());
        for row in &table.rows {
            drawn.add_row(row.cells.clone());
        }
        let last = table.head.len().saturating_sub(1);
        let natural: usize = drawn.column_max_content_widths().iter().map(|w| usize::from(*w) + 2).sum();
        let words = table.numeric.last() == Some(&false);
        if words && natural > self.width {
            // Only the words at the end are broken; numbers never are.
            drawn.set_content_arrangement(ContentArrangement::Dynamic);
            drawn.set_width(self.width as u16);
            let widths = drawn.column_max_content_widths();
            let others: usize = widths.iter().take(last).map(|w| usize::from(*w) + 2).sum();
            let rest = self.width.saturating_sub(others + 2).max(20) as u16;
            for (i, column) in drawn.column_iter_mut().enumerate() {
                let width = if i == last { rest } else { widths[i].saturating_add(1).max(2) };
                column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
            }
        }
        for (column, numeric) in drawn.column_iter_mut().zip(&table.numeric) {
            column.set_padding((0, 1));
            if *numeric {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let lines: Vec<String> = drawn.lines().map(|l| l.trim_end().to_string()).collect();
        // Without broken cells each row is one line, and so can be coloured as a whole.
        let one_each = lines.len() == table.rows.len() + 2;
        for (i, line) in lines.iter().enumerate() {
            let row = one_each.then(|| i.checked_sub(2)).flatten();
            self.push(line, row.map_or("", |r| ansi(table.rows[r].tone)), out);
        }
    }

    fn push(&self, line: &str, code: &str, out: &mut String) {
        if self.colour && !code.is_empty() && !line.is_empty() {
            out.push_str(code);
            out.push_str(line);
            out.push_str("\u{1b}[0m");
        } else {
            out.push_str(line);
        }
        out.push('\n');
    }
}

/// The record as text: verdict and reasons first, then what was sent, figures, failures, method and environment.
pub fn text(record: &Record) -> String {
    Text::new().render(record)
}

fn ansi(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Good => "\u{1b}[32m",
        Tone::Warning => "\u{1b}[33m",
        Tone::Bad => "\u{1b}[31m",
        Tone::Faint => "\u{1b}[2m",
    }
}
