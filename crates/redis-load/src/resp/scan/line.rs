//! The lines that replies begin with: a type, then a number or text.

use super::{Scanner, State};
use crate::resp::{ProtocolError, protocol_error::LONGEST_LINE};

/// A line whose number or text ends a scalar or opens a string or an aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
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

impl Scanner {
    #[inline]
    pub(super) fn digit(&mut self, byte: u8, line: Line) -> Result<(), ProtocolError> {
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
    pub(super) fn text(&mut self, input: &[u8], line: Line) -> Result<usize, ProtocolError> {
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
}
