//! One client's conversation with the null target: PostgreSQL's protocol, version 3.

use super::{
    VERSION,
    statement::{Answers, Known},
    wire::{columns, cut, message, parameters, text},
};
use std::{collections::HashMap, io};

const SSL_REQUEST: u32 = 80_877_103;
const GSS_REQUEST: u32 = 80_877_104;
const CANCEL_REQUEST: u32 = 80_877_102;
/// A message longer than this is not one of ours.
const LONGEST: usize = 1 << 20;

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
                let known = self.answers.know(cut(rest).0);
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
                    let known = self.answers.know(sql.trim().as_bytes());
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Script;

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
        let mut conversation = Conversation::new(Answers::new(&Script::new("none")));
        assert!(conversation.hear(b"GET / HTTP/1.1\r\n", &mut Vec::new()).is_err());
    }
}
