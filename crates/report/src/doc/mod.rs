//! What a report says, before it is written as text, Markdown or a page: so that a figure is worked out once and is the same
//! everywhere.

mod figures;

pub(crate) use figures::{Column, Entry, Kind, figures};

/// How something is meant; a renderer may show it by colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Plain,
    Good,
    Warning,
    Bad,
    Faint,
}

/// A part of a report.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    /// A line of text, `depth` steps indented.
    Line { text: String, tone: Tone, depth: usize },
    /// A table.
    Table(Table),
}

/// Parts under one heading.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    /// May be empty.
    pub(crate) heading: String,
    /// Whether it goes on where the section before it ended.
    pub(crate) joined: bool,
    pub(crate) blocks: Vec<Block>,
}

/// A table; the cells of a row are as many as the columns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub(crate) head: Vec<String>,
    /// Whether a column is of numbers, and so aligned to the right.
    pub(crate) numeric: Vec<bool>,
    pub(crate) rows: Vec<Row>,
}

/// A row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    pub(crate) cells: Vec<String>,
    pub(crate) tone: Tone,
}

impl Section {
    pub(crate) fn new(heading: impl Into<String>) -> Section {
        Section { heading: heading.into(), joined: false, blocks: Vec::new() }
    }

    /// One that goes on where the section before it ended.
    pub(crate) fn joined() -> Section {
        Section { joined: true, ..Section::new("") }
    }

    pub(crate) fn line(&mut self, text: impl Into<String>) {
        self.toned(text, Tone::Plain);
    }

    pub(crate) fn toned(&mut self, text: impl Into<String>, tone: Tone) {
        self.blocks.push(Block::Line { text: text.into(), tone, depth: 0 });
    }

    /// A line that belongs to one before it, so many steps indented.
    pub(crate) fn under(&mut self, depth: usize, text: impl Into<String>, tone: Tone) {
        self.blocks.push(Block::Line { text: text.into(), tone, depth });
    }

    pub(crate) fn table(&mut self, table: Table) {
        if !table.rows.is_empty() {
            self.blocks.push(Block::Table(table));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }
}

impl Table {
    /// A table of these columns; `>` before a name aligns it to the right.
    pub(crate) fn new(columns: &[&str]) -> Table {
        Table {
            head: columns.iter().map(|c| c.trim_start_matches('>').to_string()).collect(),
            numeric: columns.iter().map(|c| c.starts_with('>')).collect(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>, tone: Tone) {
        self.rows.push(Row { cells, tone });
    }

    /// Leaves out a column when all its cells say nothing.
    pub(crate) fn drop_column_if(&mut self, column: usize, says_nothing: impl Fn(&str) -> bool) {
        if self.rows.iter().filter_map(|r| r.cells.get(column)).all(|c| says_nothing(c)) {
            self.head.remove(column);
            self.numeric.remove(column);
            self.rows.iter_mut().for_each(|r| drop(r.cells.remove(column)));
        }
    }
}
