//! Replies as trees, for the few commands whose answers are read.

use super::ProtocolError;

/// Deeper nesting than any command gives is refused, so that hostile replies cannot exhaust the stack.
const DEEPEST: usize = 16;

/// A reply as a tree. RESP2 and RESP3 give the same where both can say it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// A string, simple, plain or verbatim (without its format).
    Bytes(Vec<u8>),
    /// An error's text.
    Error(String),
    /// An integer; booleans are 0 and 1.
    Integer(i64),
    /// A double or big number, as text.
    Number(String),
    /// No value.
    Null,
    /// An array, set, or a map's keys and values in turn.
    List(Vec<Value>),
}

impl Value {
    pub(crate) fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub(crate) fn as_text(&self) -> Option<String> {
        self.as_bytes().map(|b| String::from_utf8_lossy(b).into_owned())
    }

    pub(crate) fn as_integer(&self) -> Option<i64> {
        match self {
            Value::Integer(n) => Some(*n),
            Value::Bytes(text) => std::str::from_utf8(text).ok()?.parse().ok(),
            _ => None,
        }
    }

    pub(crate) fn into_list(self) -> Option<Vec<Value>> {
        match self {
            Value::List(values) => Some(values),
            _ => None,
        }
    }

    /// The pairs of a map, or of an array that stands for one.
    pub(crate) fn into_pairs(self) -> Option<Vec<(Value, Value)>> {
        let mut pairs = Vec::new();
        let mut values = self.into_list()?.into_iter();
        while let (Some(key), Some(value)) = (values.next(), values.next()) {
            pairs.push((key, value));
        }
        Some(pairs)
    }
}

/// Reads one reply that is complete in `frame`, as a [`Scanner`](super::Scanner) has found; push messages and attributes
/// before it are passed over.
pub(crate) fn decode(frame: &[u8]) -> Result<Value, ProtocolError> {
    let mut reader = Reader { rest: frame };
    loop {
        match reader.value(0)? {
            Read::Value(value) => return Ok(value),
            Read::Aside => {}
        }
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

enum Read {
    Value(Value),
    /// A push message or an attribute.
    Aside,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], ProtocolError> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(ProtocolError::Length)?;
        self.rest = rest;
        Ok(taken)
    }

    fn line(&mut self) -> Result<&'a [u8], ProtocolError> {
        let end = self.rest.iter().position(|b| *b == b'\r').ok_or(ProtocolError::LineEnd)?;
        let line = self.take(end)?;
        self.take(2)?;
        Ok(line)
    }

    /// A length; `None` for -1.
    fn length(&mut self) -> Result<Option<usize>, ProtocolError> {
        let text = std::str::from_utf8(self.line()?).map_err(|_| ProtocolError::Number)?;
        match text.parse::<i64>().map_err(|_| ProtocolError::Number)? {
            -1 => Ok(None),
            n => usize::try_from(n).map(Some).map_err(|_| ProtocolError::Length),
        }
    }

    fn text(&mut self) -> Result<String, ProtocolError> {
        Ok(String::from_utf8_lossy(self.line()?).into_owned())
    }

    fn string(&mut self) -> Result<Option<&'a [u8]>, ProtocolError> {
        let Some(length) = self.length()? else { return Ok(None) };
        let bytes = self.take(length)?;
        self.take(2)?;
        Ok(Some(bytes))
    }

    fn list(&mut self, multiple: usize, depth: usize) -> Result<Value, ProtocolError> {
        let Some(entries) = self.length()? else { return Ok(Value::Null) };
        let count = entries.checked_mul(multiple).ok_or(ProtocolError::Length)?;
        // Each value takes three bytes at least, which bounds what a false count can make us set aside.
        let mut values = Vec::with_capacity(count.min(self.rest.len() / 3));
        while values.len() < count {
            if let Read::Value(value) = self.value(depth + 1)? {
                values.push(value);
            }
        }
        Ok(Value::List(values))
    }

    fn value(&mut self, depth: usize) -> Result<Read, ProtocolError> {
        if depth > DEEPEST {
            return Err(ProtocolError::TooDeep(DEEPEST));
        }
        let value = match self.take(1)?[0] {
            b'+' => Value::Bytes(self.line()?.to_vec()),
            b'-' => Value::Error(self.text()?),
            b':' => Value::Integer(self.text()?.parse().map_err(|_| ProtocolError::Number)?),
            b'#' => Value::Integer(i64::from(self.line()? == b"t")),
            b',' | b'(' => Value::Number(self.text()?),
            b'_' => {
                self.line()?;
                Value::Null
            }
            b'$' => self.string()?.map_or(Value::Null, |b| Value::Bytes(b.to_vec())),
            b'=' => {
                let bytes = self.string()?.ok_or(ProtocolError::Length)?;
                Value::Bytes(bytes.get(4..).ok_or(ProtocolError::Length)?.to_vec())
            }
            b'!' => {
                let bytes = self.string()?.ok_or(ProtocolError::Length)?;
                Value::Error(String::from_utf8_lossy(bytes).into_owned())
            }
            b'*' | b'~' => self.list(1, depth)?,
            b'%' => self.list(2, depth)?,
            b'>' => return self.list(1, depth).map(|_| Read::Aside),
            b'|' => return self.list(2, depth).map(|_| Read::Aside),
            other => return Err(ProtocolError::Type(other)),
        };
        Ok(Read::Value(value))
    }
}
