//! The report as Markdown.

use crate::{
    Threshold,
    doc::{Block, Section, Table, Tone},
    sections,
};
use load_core::Record;
use std::fmt::Write as _;

/// The report as Markdown (with the tables of GitHub): the same words and figures as the text.
///
/// Text from outside is escaped, so that no name and no answer of a server becomes a link, a heading or HTML.
pub fn markdown(record: &Record) -> String {
    markdown_with(record, &[])
}

/// The same, with what came of thresholds after the verdict.
pub fn markdown_with(record: &Record, thresholds: &[Threshold]) -> String {
    let mut out = String::new();
    for (i, section) in sections::all(record, thresholds).iter().enumerate() {
        write(section, i == 0, &mut out);
    }
    out
}

fn write(section: &Section, first: bool, out: &mut String) {
    if !section.joined && !out.is_empty() {
        out.push('\n');
    }
    if !section.heading.is_empty() {
        let _ = write!(out, "## {}\n\n", escape(&section.heading));
    }
    for (i, block) in section.blocks.iter().enumerate() {
        match block {
            Block::Line { text, .. } if first && i == 0 => {
                let _ = writeln!(out, "# {}", escape(text));
            }
            Block::Line { text, tone, depth } => {
                let strong = if matches!(tone, Tone::Bad | Tone::Good) && *depth == 0 { "**" } else { "" };
                let _ = writeln!(out, "{}- {strong}{}{strong}", "  ".repeat(*depth), escape(text));
            }
            Block::Table(t) => {
                table(t, out);
                if i + 1 < section.blocks.len() {
                    out.push('\n');
                }
            }
        }
    }
}

fn table(table: &Table, out: &mut String) {
    let row = |cells: &[String], out: &mut String| {
        let cells: Vec<String> = cells.iter().map(|c| escape(c)).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    };
    row(&table.head, out);
    let lines: Vec<&str> = table.numeric.iter().map(|n| if *n { "--:" } else { "---" }).collect();
    let _ = writeln!(out, "|{}|", lines.join("|"));
    table.rows.iter().for_each(|r| row(&r.cells, out));
}

/// Text without a meaning in Markdown or HTML.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
    out
}
