//! fred's frames as what is known of a reply.

use crate::{
    Protocol,
    resp::{ErrorText, Kind, Reply},
};
use fred::types::Resp3Frame;

/// A reply, its error, and the bytes that it took on the wire.
pub(super) struct Known {
    pub(super) reply: Reply,
    pub(super) error: ErrorText,
    pub(super) wire: usize,
}

pub(super) fn known(frame: &Resp3Frame, protocol: Protocol) -> Known {
    let mut error = ErrorText::new();
    let mut failed = false;
    let wire = walk(frame, protocol, &mut |text| {
        if !failed {
            error.push(text);
        }
        failed = true;
    });
    let reply = |kind, len: usize| Reply { kind, len: len as u64, failed };
    let reply = match frame {
        Resp3Frame::BlobString { data, .. } => reply(Kind::Bulk, data.len()),
        Resp3Frame::VerbatimString { data, .. } => reply(Kind::Bulk, data.len() + 4),
        Resp3Frame::SimpleString { data, .. } => reply(Kind::Simple, data.len()),
        Resp3Frame::SimpleError { data, .. } => reply(Kind::Error, data.len()),
        Resp3Frame::BlobError { data, .. } => reply(Kind::Error, data.len()),
        Resp3Frame::Boolean { data, .. } => reply(Kind::Boolean(*data), 0),
        Resp3Frame::Null => reply(Kind::Null, 0),
        Resp3Frame::Number { data, .. } => reply(Kind::Integer(*data), 0),
        Resp3Frame::Double { .. } | Resp3Frame::BigNumber { .. } => reply(Kind::Number, 0),
        Resp3Frame::Array { data, .. } | Resp3Frame::Push { data, .. } => reply(Kind::Aggregate, data.len()),
        Resp3Frame::Set { data, .. } => reply(Kind::Aggregate, data.len()),
        Resp3Frame::Map { data, .. } => reply(Kind::Aggregate, 2 * data.len()),
        Resp3Frame::Hello { .. } | Resp3Frame::ChunkedString(_) => reply(Kind::Simple, 0),
    };
    Known { reply, error, wire }
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

/// Bytes of a reply on the wire, attributes left out; shows errors to `on_error`.
fn walk(frame: &Resp3Frame, protocol: Protocol, on_error: &mut impl FnMut(&[u8])) -> usize {
    let blob = |length: usize| 5 + digits(length) + length;
    let line = |length: usize| 3 + length;
    match frame {
        Resp3Frame::BlobString { data, .. } => blob(data.len()),
        Resp3Frame::VerbatimString { data, .. } => blob(data.len() + 4),
        Resp3Frame::SimpleString { data, .. } => line(data.len()),
        Resp3Frame::SimpleError { data, .. } => {
            on_error(data.as_bytes());
            line(data.len())
        }
        Resp3Frame::BlobError { data, .. } => {
            on_error(data);
            blob(data.len())
        }
        Resp3Frame::Boolean { .. } => line(1),
        // RESP2 has a string of length -1.
        Resp3Frame::Null => {
            if protocol == Protocol::Resp2 {
                5
            } else {
                3
            }
        }
        Resp3Frame::Number { data, .. } => line(data.to_string().len()),
        Resp3Frame::Double { data, .. } => line(data.to_string().len()),
        Resp3Frame::BigNumber { data, .. } => line(data.len()),
        Resp3Frame::Array { data, .. } | Resp3Frame::Push { data, .. } => {
            line(digits(data.len())) + data.iter().map(|f| walk(f, protocol, on_error)).sum::<usize>()
        }
        Resp3Frame::Set { data, .. } => {
            line(digits(data.len())) + data.iter().map(|f| walk(f, protocol, on_error)).sum::<usize>()
        }
        Resp3Frame::Map { data, .. } => {
            let mut sum = line(digits(data.len()));
            for (key, value) in data {
                sum += walk(key, protocol, on_error) + walk(value, protocol, on_error);
            }
            sum
        }
        Resp3Frame::Hello { .. } => 0,
        Resp3Frame::ChunkedString(data) => blob(data.len()),
    }
}
