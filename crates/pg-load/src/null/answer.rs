//! What the null target says: PostgreSQL's protocol, version 3, without knowing anything.

use super::VERSION;
use crate::Script;
use std::{collections::HashMap, io};

const INT4: i32 = 23;
const INT8: i32 = 20;
const SSL_REQUEST: u32 = 80_877_103;
const GSS_REQUEST: u32 = 80_877_104;
const CANCEL_REQUEST: u32 = 80_877_102;
/// A message longer than this is not one of ours.
const LONGEST: usize = 1 << 20;

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
}

/// A statement: what is said when it is described and when it is executed.
#[derive(Debug, Clone, Default)]
struct Known {
    parameters: usize,
    has_rows: bool,
    executed: Vec<u8>,
    transaction: Option<bool>,
}

/// One connection's side of the conversation.
#[derive(Debug)]
pub(super) struct Conversation {
    answers: Answers,
    started: bool,
    in_transaction: bool,
    statements: HashMap<Vec<u8>, Known>,
    /// The name of the statement that was bound last.
    bound: Vec<u8>,
    /// Bytes of a message whose end has not come.
    rest: Vec<u8>,
}

/// What came of some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// Nothing that takes time was asked.
    Talk,
    /// Statements were executed.
    Work,
    /// The client has said goodbye.
    End,
}

impl Conversation {
    pub(super) fn new(answers: Answers) -> Conversation {
        Conversation {
            answers,
            started: false,
            in_transaction: false,
            statements: HashMap::new(),
            bound: Vec::new(),
            rest: Vec::new(),
        }
    }

    /// Takes bytes of the client and adds the answers to `out`.
    pub(super) fn hear(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> io::Result<Heard> {
        if self.rest.is_empty() {
            let (used, heard) = self.messages(bytes, out)?;
            self.rest.extend_from_slice(&bytes[used..]);
            return Ok(heard);
        }
        let mut all = std::mem::take(&mut self.rest);
        all.extend_from_slice(bytes);
        let (used, heard) = self.messages(&all, out)?;
        all.drain(..used);
        self.rest = all;
        Ok(heard)
    }

    fn messages(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> io::Result<(usize, Heard)> {
        let mut used = 0;
        let mut heard = Heard::Talk;
        loop {
            let left = &bytes[used..];
            let tag = usize::from(self.started);
            let Some(length) = left.get(tag..tag + 4) else { return Ok((used, heard)) };
            let length = u32::from_be_bytes(length.try_into().expect("four bytes")) as usize;
            if !(4..=LONGEST).contains(&length) {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "not PostgreSQL's protocol"));
            }
            let Some(body) = left.get(tag + 4..tag + length) else { return Ok((used, heard)) };
            used += tag + length;
            let now = if self.started { self.message(left[0], body, out) } else { self.start(body, out) };
            match now {
                Heard::Talk => {}
                Heard::Work => heard = Heard::Work,
                Heard::End => return Ok((used, Heard::End)),
            }
        }
    }

    fn start(&mut self, body: &[u8], out: &mut Vec<u8>) -> Heard {
        match body.first_chunk().map(|c| u32::from_be_bytes(*c)) {
            Some(SSL_REQUEST | GSS_REQUEST) => out.push(b'N'),
            Some(CANCEL_REQUEST) | None => return Heard::End,
            Some(_) => {
                self.started = true;
                message(out, b'R', |out| out.extend_from_slice(&[0; 4]));
                for (name, value) in
                    [("server_version", VERSION), ("client_encoding", "UTF8"), ("DateStyle", "ISO, MDY")]
                {
                    message(out, b'S', |out| {
                        text(out, name);
                        text(out, value);
                    });
                }
                message(out, b'K', |out| out.extend_from_slice(&[0; 8]));
                self.ready(out);
            }
        }
        Heard::Talk
    }

    fn message(&mut self, tag: u8, body: &[u8], out: &mut Vec<u8>) -> Heard {
        match tag {
            b'P' => {
                let (name, rest) = cut(body);
                let known = self.know(cut(rest).0);
                self.statements.insert(name.to_vec(), known);
                message(out, b'1', |_| ());
            }
            b'B' => {
                let name = cut(cut(body).1).0;
                self.bound.clear();
                self.bound.extend_from_slice(name);
                message(out, b'2', |_| ());
            }
            b'D' => {
                let of_statement = body.first() == Some(&b'S');
                let name = if of_statement { cut(&body[1..]).0 } else { &self.bound };
                let known = self.statements.get(name);
                if of_statement {
                    parameters(out, known.map_or(0, |k| k.parameters));
                }
                if known.is_some_and(|k| k.has_rows) { columns(out, 1) } else { message(out, b'n', |_| ()) }
            }
            b'E' => {
                if let Some(known) = self.statements.get(&self.bound) {
                    out.extend_from_slice(&known.executed);
                    self.in_transaction = known.transaction.unwrap_or(self.in_transaction);
                }
                return Heard::Work;
            }
            b'C' => {
                if body.first() == Some(&b'S') {
                    self.statements.remove(cut(&body[1..]).0);
                }
                message(out, b'3', |_| ());
            }
            b'S' => self.ready(out),
            b'Q' => {
                for sql in String::from_utf8_lossy(cut(body).0).split(';').filter(|s| !s.trim().is_empty()) {
                    let known = self.know(sql.trim().as_bytes());
                    if known.has_rows {
                        columns(out, 0);
                    }
                    out.extend_from_slice(&known.executed);
                    self.in_transaction = known.transaction.unwrap_or(self.in_transaction);
                }
                self.ready(out);
                return Heard::Work;
            }
            b'X' => return Heard::End,
            _ => {}
        }
        Heard::Talk
    }

    fn ready(&self, out: &mut Vec<u8>) {
        message(out, b'Z', |out| out.push(if self.in_transaction { b'T' } else { b'I' }));
    }

    /// Guesses from its first word what a statement does.
    fn know(&self, sql: &[u8]) -> Known {
        let sql = String::from_utf8_lossy(sql);
        let rows = self.answers.rows(&sql);
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

fn highest_parameter(sql: &str) -> usize {
    let digits = |piece: &str| piece.bytes().take_while(u8::is_ascii_digit).count();
    sql.split('$').skip(1).filter_map(|piece| piece[..digits(piece)].parse().ok()).max().unwrap_or(0)
}

fn message(out: &mut Vec<u8>, tag: u8, body: impl FnOnce(&mut Vec<u8>)) {
    out.push(tag);
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    body(out);
    let length = (out.len() - start) as u32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

/// Up to the next zero byte, and what comes after it.
fn cut(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|b| *b == 0) {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &[]),
    }
}

fn parameters(out: &mut Vec<u8>, count: usize) {
    message(out, b't', |out| {
        out.extend_from_slice(&(count as u16).to_be_bytes());
        // Wide enough for every integer.
        (0..count).for_each(|_| out.extend_from_slice(&INT8.to_be_bytes()));
    });
}

/// One column, an `int4` in this format.
fn columns(out: &mut Vec<u8>, format: i16) {
    message(out, b'T', |out| {
        out.extend_from_slice(&1u16.to_be_bytes());
        text(out, "null");
        out.extend_from_slice(&[0; 6]);
        out.extend_from_slice(&INT4.to_be_bytes());
        out.extend_from_slice(&4i16.to_be_bytes());
        out.extend_from_slice(&(-1i32).to_be_bytes());
        out.extend_from_slice(&format.to_be_bytes());
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_may_come_in_any_pieces() {
        let mut said = Vec::new();
        let mut startup = 196_608u32.to_be_bytes().to_vec();
        startup.extend_from_slice(b"user\0null\0\0");
        said.extend_from_slice(&((startup.len() + 4) as u32).to_be_bytes());
        said.extend_from_slice(&startup);
        for (tag, body) in [
            (b'P', &b"s1\0SELECT abalance WHERE aid = $1\0\0\0"[..]),
            (b'B', b"\0s1\0\0\0\0\0\0\0"),
            (b'E', b"\0\0\0\0\0"),
            (b'S', b""),
        ] {
            message(&mut said, tag, |out| out.extend_from_slice(body));
        }
        let script = Script::select_only(1).unwrap();
        let mut expected = Vec::new();
        let mut whole = Conversation::new(Answers::new(&script));
        assert_eq!(whole.hear(&said, &mut expected).unwrap(), Heard::Work);
        assert!(expected.windows(9).any(|w| w == b"SELECT 1\0"));
        for piece in 1..said.len() {
            let mut conversation = Conversation::new(Answers::new(&script));
            let mut out = Vec::new();
            for bytes in said.chunks(piece) {
                conversation.hear(bytes, &mut out).unwrap();
            }
            assert_eq!(out, expected, "in pieces of {piece}");
        }
    }

    #[test]
    fn what_is_not_the_protocol_is_refused() {
        let mut conversation = Conversation::new(Answers { rows: vec![] });
        assert!(conversation.hear(b"GET / HTTP/1.1\r\n", &mut Vec::new()).is_err());
    }

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
