//! What the null target says of a statement, without knowing anything of it but its words.

use super::wire::{message, text};
use crate::Script;

/// How many rows the statements of a script are expected to have.
#[derive(Debug, Clone)]
pub(super) struct Answers {
    /// Texts up to their first parameter, which is the same in every protocol, with the rows to say.
    rows: Vec<(String, u64)>,
}

impl Answers {
    pub(super) fn new(script: &Script) -> Answers {
        let start = |sql: &str| sql.split('$').next().unwrap_or_default().to_owned();
        Answers { rows: script.statements.iter().map(|s| (start(&s.sql), s.rows.unwrap_or(1))).collect() }
    }

    fn rows(&self, sql: &str) -> u64 {
        let known = self.rows.iter().filter(|(start, _)| sql.starts_with(start.as_str()));
        known.max_by_key(|(start, _)| start.len()).map_or(1, |(_, rows)| *rows)
    }

    /// Guesses from its first word what a statement does.
    pub(super) fn know(&self, sql: &[u8]) -> Known {
        let sql = String::from_utf8_lossy(sql);
        let rows = self.rows(&sql);
        let word: String = sql.trim_start().chars().take_while(char::is_ascii_alphabetic).collect();
        let word = word.to_ascii_uppercase();
        let selects = matches!(word.as_str(), "SELECT" | "WITH" | "VALUES" | "TABLE" | "SHOW" | "EXECUTE");
        let has_rows = selects || sql.to_ascii_uppercase().contains(" RETURNING ");
        let (tag, transaction) = match word.as_str() {
            "INSERT" => (format!("INSERT 0 {rows}"), None),
            "UPDATE" | "DELETE" | "MERGE" => (format!("{word} {rows}"), None),
            "BEGIN" | "START" => ("BEGIN".into(), Some(true)),
            "END" | "COMMIT" => ("COMMIT".into(), Some(false)),
            "ROLLBACK" | "ABORT" => ("ROLLBACK".into(), Some(false)),
            _ if selects => (format!("SELECT {rows}"), None),
            _ => (word, None),
        };
        let mut executed = Vec::new();
        if has_rows {
            for _ in 0..rows {
                // One column of four bytes: an int4 in binary, and good enough as text.
                message(&mut executed, b'D', |out| out.extend_from_slice(b"\0\x01\0\0\0\x040000"));
            }
        }
        message(&mut executed, b'C', |out| text(out, &tag));
        Known { parameters: highest_parameter(&sql), has_rows, executed, transaction }
    }
}

/// A statement: what is said when it is described and when it is executed.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    pub(super) parameters: usize,
    pub(super) has_rows: bool,
    pub(super) executed: Vec<u8>,
    pub(super) transaction: Option<bool>,
}

fn highest_parameter(sql: &str) -> usize {
    let digits = |piece: &str| piece.bytes().take_while(u8::is_ascii_digit).count();
    sql.split('$').skip(1).filter_map(|piece| piece[..digits(piece)].parse().ok()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_rows_as_the_script_expects() {
        let script = Script::new("x").statement("many", "SELECT generate_series(1, 3)").unwrap().rows(3);
        let script = script.statement("one", "SELECT generate_").unwrap();
        let answers = Answers::new(&script);
        assert_eq!((answers.rows("SELECT generate_series(1, 3)"), answers.rows("SELECT generate_")), (3, 1));
        assert_eq!(answers.rows("UPDATE x"), 1);
        assert_eq!(highest_parameter("SELECT $1, $12, $x, $2 $"), 12);
    }
}
