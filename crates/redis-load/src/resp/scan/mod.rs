//! Walking over replies where they lie.

mod end;
mod line;

use super::{ErrorText, Kind, ProtocolError, Reply};
use line::Line;

/// Sees the bytes of strings as they pass, in pieces as they were read.
pub(crate) trait Sink {
    /// A piece of the string that is the whole reply, which began `at` bytes before it. Strings inside aggregates are
    /// not shown.
    fn bytes(&mut self, at: u64, piece: &[u8]) {
        let _ = (at, piece);
    }
}

/// Looks at nothing.
impl Sink for () {}

/// What feeding came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scanned {
    /// A reply ended after this many bytes of the input.
    Reply(usize, Reply),
    /// All of the input belongs to a reply that has not ended.
    More,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the type byte of a value.
    Type,
    /// In a line with a number.
    Number(Line),
    /// In a line of text.
    Text(Line),
    /// After the CR of a line.
    Feed(Line),
    /// In the bytes of a string.
    Bytes {
        left: u64,
        error: bool,
    },
    /// At the CR, then at the LF, after a string.
    BytesEnd,
    BytesFeed,
}

/// Walks over replies. It keeps no bytes but the beginning of an error, so its memory is fixed, whatever a server sends.
#[derive(Debug)]
pub(crate) struct Scanner {
    state: State,
    /// Values of the current reply that have not ended.
    open: u64,
    /// The current reply, once its own first line is known.
    top: Option<Reply>,
    /// Whether what is read is a push message, which answers no request.
    push: bool,
    number: u64,
    negative: bool,
    digits: u8,
    line: u32,
    /// Bytes of the top string that have been seen.
    seen: u64,
    failed: bool,
    error: ErrorText,
}

impl Scanner {
    pub(crate) const fn new() -> Scanner {
        Scanner {
            state: State::Type,
            open: 1,
            top: None,
            push: false,
            number: 0,
            negative: false,
            digits: 0,
            line: 0,
            seen: 0,
            failed: false,
            error: ErrorText::new(),
        }
    }

    /// The first error of the last reply that had one.
    pub(crate) fn error(&self) -> &ErrorText {
        &self.error
    }

    /// Whether no reply has begun, or what has begun is a push message and no reply.
    pub(crate) fn is_at_rest_or_in_push(&self) -> bool {
        self.push || (self.state == State::Type && self.open == 1)
    }

    /// Whether a reply has begun and not ended.
    #[cfg(test)]
    pub(crate) fn is_inside(&self) -> bool {
        self.state != State::Type || self.open != 1 || self.top.is_some()
    }

    /// Walks on over `input`, to the end of a reply or of the input. Push messages are passed over.
    #[inline]
    pub(crate) fn feed<S: Sink>(&mut self, input: &[u8], sink: &mut S) -> Result<Scanned, ProtocolError> {
        let mut at = 0;
        while let Some(&byte) = input.get(at) {
            match self.state {
                State::Type => {
                    at += 1;
                    self.begin(byte)?;
                }
                State::Number(line) => {
                    at += 1;
                    self.digit(byte, line)?;
                }
                State::Text(line) => at += self.text(&input[at..], line)?,
                State::Feed(line) => {
                    at += 1;
                    if byte != b'\n' {
                        return Err(ProtocolError::LineEnd);
                    }
                    if let Some(reply) = self.end_line(line)? {
                        return Ok(Scanned::Reply(at, reply));
                    }
                }
                State::Bytes { left, error } => {
                    let piece = &input[at..];
                    let piece = &piece[..piece.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
                    if error {
                        if self.failed && self.seen == 0 {
                            self.error.push(piece);
                        }
                    } else if self.open == 1 && matches!(self.top, Some(Reply { kind: Kind::Bulk, .. })) {
                        sink.bytes(self.seen, piece);
                        self.seen += piece.len() as u64;
                    }
                    at += piece.len();
                    let left = left - piece.len() as u64;
                    self.state = if left == 0 { State::BytesEnd } else { State::Bytes { left, error } };
                }
                State::BytesEnd => {
                    at += 1;
                    if byte != b'\r' {
                        return Err(ProtocolError::LineEnd);
                    }
                    self.state = State::BytesFeed;
                }
                State::BytesFeed => {
                    at += 1;
                    if byte != b'\n' {
                        return Err(ProtocolError::LineEnd);
                    }
                    if let Some(reply) = self.end_value() {
                        return Ok(Scanned::Reply(at, reply));
                    }
                }
            }
        }
        Ok(Scanned::More)
    }

    #[inline]
    fn begin(&mut self, byte: u8) -> Result<(), ProtocolError> {
        self.number = 0;
        self.negative = false;
        self.digits = 0;
        self.line = 0;
        self.state = match byte {
            b'+' => State::Text(Line::Simple),
            b'-' => State::Text(Line::Error),
            b':' => State::Number(Line::Integer),
            b'$' | b'=' => State::Number(Line::Bulk),
            b'*' | b'~' => State::Number(Line::Aggregate { multiple: 1, counts: true }),
            b'%' => State::Number(Line::Aggregate { multiple: 2, counts: true }),
            b'_' => State::Text(Line::Null),
            b'#' => State::Text(Line::Boolean),
            b',' | b'(' => State::Text(Line::Number),
            b'!' => State::Number(Line::BlobError),
            b'|' => State::Number(Line::Aggregate { multiple: 2, counts: false }),
            b'>' => {
                if self.open != 1 || self.top.is_some() || self.push {
                    return Err(ProtocolError::Push);
                }
                self.push = true;
                State::Number(Line::Aggregate { multiple: 1, counts: true })
            }
            other => return Err(ProtocolError::Type(other)),
        };
        if matches!(self.state, State::Text(Line::Error) | State::Number(Line::BlobError)) && !self.failed {
            self.error.clear();
        }
        Ok(())
    }
}
