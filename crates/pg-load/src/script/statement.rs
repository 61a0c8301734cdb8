//! One statement of a script: its text for each protocol.

use load_core::ConfigError;
use std::fmt::Write as _;

use super::value::Int;

/// What a statement does to the transaction that it stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Begin,
    End,
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    /// The name of its step.
    pub(crate) name: &'static str,
    /// The text with `$1`, `$2`, ... for the variables: one for each time that a variable is named, as pgbench does it,
    /// so that each gets the type of its own place.
    pub(crate) sql: String,
    /// Which variable each parameter is.
    pub(crate) parameters: Vec<usize>,
    /// How many rows it must give or change to have done its work.
    pub(crate) rows: Option<u64>,
    pub(crate) role: Role,
    /// Where in `sql` the parameters stand, for texts with the values written in.
    places: Vec<std::ops::Range<usize>>,
}

impl Statement {
    /// Finds `:name` outside of quotes and comments.
    pub(crate) fn parse(
        name: &'static str,
        text: &str,
        variables: &[String],
    ) -> Result<Statement, ConfigError> {
        let field = format!("statement {name:?}");
        let mut statement = Statement {
            name,
            sql: String::with_capacity(text.len()),
            parameters: Vec::new(),
            rows: None,
            role: role(text),
            places: Vec::new(),
        };
        let mut rest = text;
        while !rest.is_empty() {
            let plain = plain_length(rest);
            if plain > 0 {
                statement.sql.push_str(&rest[..plain]);
                rest = &rest[plain..];
                continue;
            }
            let word = &rest[1..1 + word_length(&rest[1..])];
            let Some(variable) = variables.iter().position(|v| v == word) else {
                return Err(ConfigError::invalid(field, format!(":{word}"), "there is no such variable"));
            };
            statement.parameters.push(variable);
            let start = statement.sql.len();
            let _ = write!(statement.sql, "${}", statement.parameters.len());
            statement.places.push(start..statement.sql.len());
            rest = &rest[1 + word.len()..];
        }
        if statement.sql.trim().is_empty() {
            return Err(ConfigError::invalid(field, "empty", "there is nothing to execute"));
        }
        Ok(statement)
    }

    /// Writes the text with the values in it, as the simple protocol needs it.
    pub(crate) fn render(&self, values: &[Int], out: &mut String) {
        out.clear();
        let mut from = 0;
        for (place, &variable) in self.places.iter().zip(&self.parameters) {
            out.push_str(&self.sql[from..place.start]);
            let _ = write!(out, "{}", values[variable].0);
            from = place.end;
        }
        out.push_str(&self.sql[from..]);
    }
}

/// How many bytes at the start of `text` are not a variable.
fn plain_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        at += match bytes[at] {
            quote @ (b'\'' | b'"') => quoted_length(&text[at..], quote),
            b'-' if bytes[at..].starts_with(b"--") => text[at..].find('\n').unwrap_or(text.len() - at),
            b'/' if bytes[at..].starts_with(b"/*") => {
                text[at..].find("*/").map_or(text.len() - at, |e| e + 2)
            }
            b'$' => dollar_length(&text[at..]),
            b':' if bytes[at..].starts_with(b"::") => 2,
            b':' if word_length(&text[at + 1..]) > 0 => return at,
            _ => 1,
        };
    }
    text.len()
}

/// A variable's name: a letter or `_`, then also digits.
fn word_length(text: &str) -> usize {
    if text.bytes().next().is_none_or(|b| b.is_ascii_digit()) {
        return 0;
    }
    text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count()
}

fn quoted_length(text: &str, quote: u8) -> usize {
    text.bytes().skip(1).position(|b| b == quote).map_or(text.len(), |p| p + 2)
}

/// `$tag$ ... $tag$`, or just a `$`.
fn dollar_length(text: &str) -> usize {
    let tag = word_length(&text[1..]);
    if text.as_bytes().get(1 + tag) != Some(&b'$') {
        return 1 + tag;
    }
    let fence = &text[..tag + 2];
    text[fence.len()..].find(fence).map_or(text.len(), |end| fence.len() * 2 + end)
}

fn role(text: &str) -> Role {
    let mut words = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("--"))
        .flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
        .filter(|w| !w.is_empty())
        .map(str::to_ascii_uppercase);
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    match (first.as_str(), second.as_str()) {
        ("BEGIN", _) | ("START", "TRANSACTION") => Role::Begin,
        ("COMMIT" | "END", _) | ("PREPARE", "TRANSACTION") => Role::End,
        ("ROLLBACK" | "ABORT", _) if second != "TO" && !words.any(|w| w == "TO") => Role::End,
        _ => Role::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Statement {
        Statement::parse("s", text, &["a".into(), "ab".into(), "_c1".into()]).unwrap()
    }

    #[test]
    fn variables_become_parameters_outside_of_quotes_and_comments_only() {
        for (text, sql, parameters) in [
            ("SELECT :a, :ab+:a", "SELECT $1, $2+$3", vec![0, 1, 0]),
            ("SELECT x::a, :_c1::int", "SELECT x::a, $1::int", vec![2]),
            ("SELECT ':a', \":a\", 'it''s :a' , :a", "SELECT ':a', \":a\", 'it''s :a' , $1", vec![0]),
            ("SELECT 1 -- :a\n, :a /* :ab */", "SELECT 1 -- :a\n, $1 /* :ab */", vec![0]),
            ("SELECT $$ :a $$, $t$ :a $$ $t$, :a", "SELECT $$ :a $$, $t$ :a $$ $t$, $1", vec![0]),
            ("SELECT x[1:2], 'ü', :a", "SELECT x[1:2], 'ü', $1", vec![0]),
            ("SELECT 'open :a", "SELECT 'open :a", vec![]),
        ] {
            let statement = parse(text);
            assert_eq!((statement.sql.as_str(), statement.parameters), (sql, parameters));
        }
        let mut out = "left over".to_owned();
        parse("SELECT :a, ':a', :ab").render(&[Int(-7), Int(i64::MAX), Int(0)], &mut out);
        assert_eq!(out, "SELECT -7, ':a', 9223372036854775807");
    }

    #[test]
    fn unknown_variables_are_named() {
        let error = Statement::parse("pay", "SELECT :x", &["a".into()]).unwrap_err().to_string();
        assert!(error.starts_with("statement \"pay\": :x is not allowed"), "{error}");
        assert!(Statement::parse("pay", " ", &[]).is_err());
    }

    #[test]
    fn transactions_are_recognised() {
        for (text, expected) in [
            ("BEGIN", Role::Begin),
            (" begin isolation level serializable;", Role::Begin),
            ("-- first\nSTART TRANSACTION", Role::Begin),
            ("END;", Role::End),
            ("commit and chain", Role::End),
            ("ROLLBACK", Role::End),
            ("ROLLBACK TO SAVEPOINT x", Role::Other),
            ("ROLLBACK WORK TO x", Role::Other),
            ("SELECT 1", Role::Other),
            ("UPDATE t SET begin = 1", Role::Other),
        ] {
            assert_eq!(role(text), expected, "{text}");
        }
    }
}
