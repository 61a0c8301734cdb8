//! Walking over replies where they lie.

use super::{ErrorText, Kind, Reply};

/// A simple string or error line may be this long; Redis's own are far shorter.
const LONGEST_LINE: u32 = 64 * 1024;

/// What came was not RESP, or not an answer to what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ProtocolError {
    #[error("a reply begins with byte {0:#04x}, which is no type of RESP")]
    Type(u8),
    #[error("a number in a reply is malformed or out of range")]
    Number,
    #[error("a line in a reply does not end with CR LF")]
    LineEnd,
    #[error("a line in a reply is longer than {LONGEST_LINE} bytes")]
    LineTooLong,
    #[error("an aggregate in a reply has an impossible length")]
    Length,
    #[error("a push message came inside a reply")]
    Push,
    #[error("bytes came that no request had asked for")]
    Unasked,
    #[error("a reply is larger than {0} bytes")]
    TooLarge(usize),
    #[error("a reply is nested deeper than {0} levels")]
    TooDeep(usize),
    #[error("the reply is not of the kind that the command gives")]
    Kind,
}

impl ProtocolError {
    /// A few words, for counting.
    pub(crate) fn code(self) -> &'static str {
        match self {
            ProtocolError::Type(_) => "unknown type",
            ProtocolError::Number => "bad number",
            ProtocolError::LineEnd | ProtocolError::LineTooLong => "bad line",
            ProtocolError::Length => "bad length",
            ProtocolError::Push => "push inside a reply",
            ProtocolError::Unasked => "unasked reply",
            ProtocolError::TooLarge(_) => "too large",
            ProtocolError::TooDeep(_) => "too deep",
            ProtocolError::Kind => "unexpected kind",
        }
    }
}

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

/// A line whose number or text ends a scalar or opens a string or an aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Simple,
    Error,
    Integer,
    Null,
    Boolean,
    Number,
    Bulk,
    BlobError,
    /// `multiple`: values for each counted entry; `counts`: whether it stands for an element (an attribute does not).
    Aggregate {
        multiple: u64,
        counts: bool,
    },
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

    #[inline]
    fn digit(&mut self, byte: u8, line: Line) -> Result<(), ProtocolError> {
        match byte {
            b'0'..=b'9' if self.digits < 20 => {
                self.digits += 1;
                self.number = self
                    .number
                    .checked_mul(10)
                    .and_then(|n| n.checked_add(u64::from(byte - b'0')))
                    .ok_or(ProtocolError::Number)?;
            }
            b'-' if self.digits == 0 && !self.negative => self.negative = true,
            b'+' if self.digits == 0 && self.line == 0 => self.line = 1,
            b'\r' if self.digits > 0 => self.state = State::Feed(line),
            _ => return Err(ProtocolError::Number),
        }
        Ok(())
    }

    /// Walks over the text of a line; gives how many bytes it took, the CR included.
    #[inline]
    fn text(&mut self, input: &[u8], line: Line) -> Result<usize, ProtocolError> {
        let end = input.iter().position(|b| *b == b'\r' || *b == b'\n');
        let text = &input[..end.unwrap_or(input.len())];
        self.line = self.line.saturating_add(u32::try_from(text.len()).unwrap_or(u32::MAX));
        if self.line > LONGEST_LINE {
            return Err(ProtocolError::LineTooLong);
        }
        match line {
            Line::Error if !self.failed => self.error.push(text),
            Line::Boolean => {
                for &byte in text {
                    self.number = u64::from(byte);
                }
            }
            _ => {}
        }
        match end {
            None => Ok(input.len()),
            Some(end) if input[end] == b'\r' => {
                self.state = State::Feed(line);
                Ok(end + 1)
            }
            Some(_) => Err(ProtocolError::LineEnd),
        }
    }

    fn signed(&self) -> Result<i64, ProtocolError> {
        let magnitude = i128::from(self.number);
        i64::try_from(if self.negative { -magnitude } else { magnitude }).map_err(|_| ProtocolError::Number)
    }

    /// The length that a line gives; `None` for -1, RESP2's null.
    fn length(&self) -> Result<Option<u64>, ProtocolError> {
        match (self.negative, self.number) {
            (false, n) if i64::try_from(n).is_ok() => Ok(Some(n)),
            (true, 1) => Ok(None),
            _ => Err(ProtocolError::Length),
        }
    }

    #[inline]
    fn end_line(&mut self, line: Line) -> Result<Option<Reply>, ProtocolError> {
        match line {
            Line::Simple => self.scalar(Kind::Simple, u64::from(self.line)),
            Line::Integer => {
                let value = self.signed()?;
                self.scalar(Kind::Integer(value), 0)
            }
            Line::Error => {
                self.failed |= !self.push;
                self.scalar(Kind::Error, u64::from(self.line))
            }
            Line::Null if self.line == 0 => self.scalar(Kind::Null, 0),
            Line::Boolean if self.line == 1 && matches!(self.number as u8, b't' | b'f') => {
                self.scalar(Kind::Boolean(self.number as u8 == b't'), 0)
            }
            Line::Number if self.line > 0 => self.scalar(Kind::Number, u64::from(self.line)),
            Line::Null | Line::Boolean | Line::Number => Err(ProtocolError::Number),
            Line::Bulk | Line::BlobError => {
                let error = line == Line::BlobError;
                let Some(left) = self.length()? else {
                    return if error { Err(ProtocolError::Length) } else { self.scalar(Kind::Null, 0) };
                };
                self.seen = u64::from(error && self.failed);
                self.failed |= error && !self.push;
                self.set_top(if error { Kind::Error } else { Kind::Bulk }, left);
                self.state = if left == 0 { State::BytesEnd } else { State::Bytes { left, error } };
                Ok(None)
            }
            Line::Aggregate { multiple, counts } => self.aggregate(multiple, counts),
        }
    }

    fn aggregate(&mut self, multiple: u64, counts: bool) -> Result<Option<Reply>, ProtocolError> {
        let Some(entries) = self.length()? else {
            return if multiple == 1 && !self.push {
                self.scalar(Kind::Null, 0)
            } else {
                Err(ProtocolError::Length)
            };
        };
        let values = entries.checked_mul(multiple).ok_or(ProtocolError::Length)?;
        if counts {
            self.set_top(Kind::Aggregate, values);
        }
        self.open = self.open.checked_add(values).ok_or(ProtocolError::Length)?;
        self.state = State::Type;
        Ok(if counts { self.end_value() } else { None })
    }

    /// The reply itself is the value that is open alone; what an attribute before it holds is not.
    #[inline]
    fn set_top(&mut self, kind: Kind, len: u64) {
        if self.open == 1 && self.top.is_none() {
            self.top = Some(Reply { kind, len, failed: false });
        }
    }

    #[inline]
    fn scalar(&mut self, kind: Kind, len: u64) -> Result<Option<Reply>, ProtocolError> {
        self.set_top(kind, len);
        Ok(self.end_value())
    }

    #[inline]
    fn end_value(&mut self) -> Option<Reply> {
        self.state = State::Type;
        self.open -= 1;
        if self.open > 0 {
            return None;
        }
        self.open = 1;
        let failed = std::mem::take(&mut self.failed);
        let reply = self.top.take().map(|top| Reply { failed, ..top });
        if std::mem::take(&mut self.push) { None } else { reply }
    }
}
