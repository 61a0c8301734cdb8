//! What each command would give.

use crate::{
    commands::Value,
    keys::DIGITS,
    plan::Plan,
    resp::{push_bulk, push_length},
};

/// Makes answers of the sizes that a real server would give.
#[derive(Debug)]
pub(super) struct Answers {
    value: Value,
    /// The value for random payloads.
    filler: Vec<u8>,
}

impl Answers {
    pub(super) fn new(plan: &Plan) -> Answers {
        let value = plan.value.clone();
        let filler = if value.random { vec![b'x'; value.size] } else { Vec::new() };
        Answers { value, filler }
    }

    /// Adds the answer to a request that begins with `head` (all of it, unless it is long).
    pub(super) fn push(&self, head: &[u8], out: &mut Vec<u8>) {
        let arguments = Arguments(head);
        let verb =
            if head.first() == Some(&b'*') { arguments.clone().nth(0).unwrap_or(b"") } else { b"PING" };
        match verb {
            b"PING" => out.extend_from_slice(b"+PONG\r\n"),
            b"GET" => self.push_value(arguments.clone().nth(1).unwrap_or(b""), out),
            b"LPOP" | b"RPOP" => self.push_value(b"", out),
            b"SPOP" => push_bulk(out, b"element:000000000042"),
            b"ZPOPMIN" => {
                push_length(out, b'*', 2);
                push_bulk(out, b"element:000000000042");
                push_bulk(out, b"42");
            }
            b"INCR" | b"LPUSH" | b"RPUSH" | b"SADD" | b"HSET" | b"ZADD" => out.extend_from_slice(b":1\r\n"),
            b"LRANGE" => {
                let last =
                    arguments.clone().nth(3).and_then(|n| std::str::from_utf8(n).ok()?.parse::<usize>().ok());
                let elements = last.map_or(0, |n| n.min(599) + 1);
                push_length(out, b'*', elements);
                for _ in 0..elements {
                    self.push_value(b"", out);
                }
            }
            b"XADD" => push_bulk(out, b"1526919030474-0"),
            b"HELLO" => out.extend_from_slice(b"%2\r\n+server\r\n+null\r\n+proto\r\n:3\r\n"),
            _ => out.extend_from_slice(b"+OK\r\n"),
        }
    }

    fn push_value(&self, key: &[u8], out: &mut Vec<u8>) {
        push_length(out, b'$', self.value.size);
        let digits = key.last_chunk::<DIGITS>().unwrap_or(b"000000000000");
        out.extend_from_slice(&digits[DIGITS - self.value.stamp..]);
        out.extend_from_slice(&self.value.bytes);
        out.extend_from_slice(&self.filler);
        out.extend_from_slice(b"\r\n");
    }
}

/// The strings of a request, as far as its head holds them.
#[derive(Clone)]
struct Arguments<'a>(&'a [u8]);

impl<'a> Iterator for Arguments<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let dollar = self.0.iter().position(|b| *b == b'$')?;
        let rest = &self.0[dollar + 1..];
        let line = rest.iter().position(|b| *b == b'\r')?;
        let length: usize = std::str::from_utf8(&rest[..line]).ok()?.parse().ok()?;
        let argument = rest.get(line + 2..line + 2 + length)?;
        self.0 = &rest[line + 2 + length..];
        Some(argument)
    }
}
