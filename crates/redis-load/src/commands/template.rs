//! A command encoded once, with the places where each request differs.

use super::{Command, Part, Prefix, Value};
use crate::{
    keys::{DIGITS, Sampler, write_digits},
    resp::{push_bulk, push_header, push_length},
};
use rand::Rng;

/// A place that is written anew for each request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spot {
    /// 12 digits of a number drawn like a key; `key` if it is one.
    Digits { at: usize, key: bool },
    /// The last digits of the key before it, as many as the stamp has.
    Stamp { at: usize, len: usize },
}

/// An encoded command.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    pub(crate) bytes: Vec<u8>,
    pub(crate) spots: Vec<Spot>,
    /// Where random bytes are to be: place and length.
    randoms: Vec<(usize, usize)>,
    /// Where the shared value is to be sent.
    pub(crate) cuts: Vec<usize>,
    /// How many numbers are drawn for one request.
    pub(crate) draws: u64,
}

impl Template {
    pub(crate) fn new(command: &Command, prefix: Option<Prefix>, key_space: u64, value: &Value) -> Template {
        let mut template = Template {
            bytes: Vec::new(),
            spots: Vec::new(),
            randoms: Vec::new(),
            cuts: Vec::new(),
            draws: 0,
        };
        if command.inline {
            for part in &command.parts {
                if let Part::Literal(bytes) = part {
                    template.bytes.extend_from_slice(bytes);
                }
            }
            template.bytes.extend_from_slice(b"\r\n");
            return template;
        }
        push_header(&mut template.bytes, command.parts.len());
        let prefix = prefix.as_ref().map_or(&b""[..], Prefix::bytes);
        for part in &command.parts {
            template.push(part, prefix, key_space, value);
        }
        template
    }

    fn push(&mut self, part: &Part, prefix: &[u8], key_space: u64, value: &Value) {
        match part {
            Part::Literal(bytes) => push_bulk(&mut self.bytes, bytes),
            Part::Key(stem) => self.push_digits(&[prefix, stem.as_bytes()].concat(), true),
            Part::Name(name) => push_bulk(&mut self.bytes, &[prefix, name.as_bytes()].concat()),
            Part::Element => self.push_digits(b"element:", false),
            Part::Score if key_space == 1 => push_bulk(&mut self.bytes, b"0"),
            Part::Score | Part::Number => self.push_digits(b"", false),
            Part::Value => self.push_value(value),
        }
    }

    fn push_digits(&mut self, before: &[u8], key: bool) {
        push_bulk(&mut self.bytes, &[before, &[b'0'; DIGITS]].concat());
        self.spots.push(Spot::Digits { at: self.bytes.len() - DIGITS - 2, key });
        self.draws += 1;
    }

    fn push_value(&mut self, value: &Value) {
        push_length(&mut self.bytes, b'$', value.size);
        let at = self.bytes.len();
        if value.random {
            self.bytes.resize(at + value.size, b'x');
            self.randoms.push((at, value.size));
        } else {
            if value.stamp > 0 {
                self.bytes.resize(at + value.stamp, b'0');
                self.spots.push(Spot::Stamp { at, len: value.stamp });
            }
            if value.shared {
                self.cuts.push(self.bytes.len());
            } else {
                self.bytes.extend_from_slice(&value.bytes);
            }
        }
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// Makes the random values of one request, whose bytes are `request`.
    #[inline]
    pub(crate) fn make_values(&self, request: &mut [u8], rng: &mut impl Rng) {
        for &(at, len) in &self.randoms {
            rng.fill_bytes(&mut request[at..at + len]);
        }
    }

    /// Writes the keys of one request, and all that follows from them; gives the number of the first.
    #[inline]
    pub(crate) fn write_keys(&self, request: &mut [u8], keys: &mut Sampler, rng: &mut impl Rng) -> u64 {
        let (mut first, mut last) = (None, 0);
        for spot in &self.spots {
            match *spot {
                Spot::Digits { at, key } => {
                    let number = keys.draw(rng);
                    if let Some(place) = request[at..].first_chunk_mut() {
                        write_digits(place, number);
                    }
                    if key {
                        last = number;
                        first.get_or_insert(number);
                    }
                }
                Spot::Stamp { at, len } => {
                    let mut digits = [0; DIGITS];
                    write_digits(&mut digits, last);
                    request[at..at + len].copy_from_slice(&digits[DIGITS - len..]);
                }
            }
        }
        first.unwrap_or(0)
    }
}
