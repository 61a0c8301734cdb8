//! What a line comes to when it has ended, and where values and replies end.

use super::{Line, Scanner, State};
use crate::resp::{Kind, ProtocolError, Reply};

impl Scanner {
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
    pub(super) fn end_line(&mut self, line: Line) -> Result<Option<Reply>, ProtocolError> {
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
    pub(super) fn end_value(&mut self) -> Option<Reply> {
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
