//! Text with placeholders.

use load_core::Op;
use rand::RngExt;
use std::fmt::Write;

/// Text in which `{seq}`, `{session}` and `{random:a..b}` stand for something else in each request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Seq,
    Session,
    /// From the first to before the second.
    Random(u64, u64),
}

impl Pattern {
    /// `None` when there is no placeholder in it. Other braces are text.
    ///
    /// # Errors
    /// Says what is wrong with a placeholder.
    pub(crate) fn parse(text: &str) -> Result<Option<Pattern>, String> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            plain.push_str(&rest[..open]);
            rest = &rest[open..];
            let inner = rest.find('}').map(|close| &rest[1..close]);
            let piece = match inner {
                Some("seq") => Piece::Seq,
                Some("session") => Piece::Session,
                Some(inner) if inner.starts_with("random:") => random(&inner["random:".len()..])?,
                _ => {
                    plain.push('{');
                    rest = &rest[1..];
                    continue;
                }
            };
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
            pieces.push(piece);
            rest = &rest[inner.unwrap_or_default().len() + 2..];
        }
        if pieces.is_empty() {
            return Ok(None);
        }
        plain.push_str(rest);
        pieces.push(Piece::Text(plain));
        Ok(Some(Pattern(pieces)))
    }

    /// With 0 for every placeholder.
    pub(crate) fn sample(&self) -> String {
        self.0.iter().map(|piece| if let Piece::Text(plain) = piece { plain } else { "0" }).collect()
    }

    pub(crate) fn fill(&self, op: &mut Op, session: usize) -> String {
        let mut text = String::new();
        for piece in &self.0 {
            let number = match piece {
                Piece::Text(plain) => {
                    text.push_str(plain);
                    continue;
                }
                Piece::Seq => op.seq(),
                Piece::Session => session as u64,
                Piece::Random(from, to) => op.rng().random_range(*from..*to),
            };
            write!(text, "{number}").expect("a String takes everything");
        }
        text
    }
}

fn random(range: &str) -> Result<Piece, String> {
    let numbers = range.split_once("..").map(|(from, to)| (from.parse(), to.parse()));
    match numbers {
        Some((Ok(from), Ok(to))) if from < to => Ok(Piece::Random(from, to)),
        _ => Err(format!("{{random:{range}}} must be as {{random:0..1000}}, the end excluded")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use load_core::Clock;

    fn op(seq: u64) -> Op {
        let mut op = Op::for_session(Clock::real(), Default::default(), 7);
        op.begin(0, seq);
        op
    }

    #[test]
    fn placeholders_are_filled_and_other_braces_are_text() {
        for (text, filled) in [
            ("/{seq}", "/42"),
            ("{session}-{seq}", "3-42"),
            ("{\"a\": {seq}, \"b\": {}}", "{\"a\": 42, \"b\": {}}"),
            ("{{seq}}{", "{42}{"),
            ("{random:5..6}", "5"),
            ("é{seq}é", "é42é"),
        ] {
            let pattern = Pattern::parse(text).unwrap().unwrap();
            assert_eq!(pattern.fill(&mut op(42), 3), filled, "{text}");
        }
        for text in ["", "plain", "{", "}", "{sequel}", "{ seq }"] {
            assert_eq!(Pattern::parse(text), Ok(None), "{text}");
        }
    }

    #[test]
    fn random_numbers_are_within_their_range_and_repeat_with_the_seed() {
        let pattern = Pattern::parse("{random:10..20}").unwrap().unwrap();
        let draw = || {
            let mut op = op(0);
            (0..1000).map(|_| pattern.fill(&mut op, 0).parse::<u64>().unwrap()).collect::<Vec<_>>()
        };
        let drawn = draw();
        for n in 10..20 {
            let times = drawn.iter().filter(|d| **d == n).count();
            assert!((50..200).contains(&times), "{n} came {times} times of 1000");
        }
        assert!(drawn.iter().all(|n| (10..20).contains(n)) && drawn == draw());
    }

    #[test]
    fn ranges_that_cannot_be_are_refused() {
        for text in
            ["{random:}", "{random:5}", "{random:5..5}", "{random:6..5}", "{random:a..b}", "{random:-1..5}"]
        {
            let said = Pattern::parse(text).unwrap_err();
            assert!(said.starts_with(text), "{said}");
        }
    }
}
