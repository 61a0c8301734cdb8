//! Commands as fred takes them.

use crate::{
    commands::{Command, Part, Prefix, STAMP, Value},
    keys::{DIGITS, Sampler, write_digits},
    plan::Plan,
};
use bytes::Bytes;
use fred::types::{ClusterHash, CustomCommand};
use rand::Rng;
use std::collections::VecDeque;

/// An argument, made ready as far as it stays the same.
#[derive(Debug)]
enum Arg {
    Fixed(Bytes),
    Digits { before: Bytes, key: bool },
    Stamped,
    Random,
}

/// A command whose requests can be made.
#[derive(Debug)]
pub(super) struct Maker {
    pub(super) command: CustomCommand,
    args: Vec<Arg>,
    value: Value,
}

impl Maker {
    pub(super) fn new(command: &Command, plan: &Plan) -> Maker {
        let prefix = plan.space.as_ref().map(|space| space.prefix);
        let prefix = prefix.as_ref().map_or(&b""[..], Prefix::bytes);
        let value = plan.value.clone();
        let own = |name: &str| [prefix, name.as_bytes()].concat();
        let digits = |before: Vec<u8>, key| Arg::Digits { before: before.into(), key };
        let verb = match command.parts.first() {
            Some(Part::Literal(verb)) => String::from_utf8_lossy(verb).into_owned(),
            _ => command.name.to_uppercase(),
        };
        let args = command.parts.iter().skip(1).map(|part| match part {
            Part::Literal(bytes) => Arg::Fixed(bytes.clone().into()),
            Part::Key(stem) => digits(own(stem), true),
            Part::Name(name) => Arg::Fixed(own(name).into()),
            Part::Element => digits(b"element:".to_vec(), false),
            Part::Score if plan.keys.space() == 1 => Arg::Fixed(Bytes::from_static(b"0")),
            Part::Score | Part::Number => digits(Vec::new(), false),
            Part::Value if value.random => Arg::Random,
            Part::Value if value.stamp > 0 => Arg::Stamped,
            Part::Value => Arg::Fixed(Bytes::from_owner(value.bytes.clone())),
        });
        let args = args.collect();
        Maker { command: CustomCommand::new(verb, ClusterHash::FirstKey, false), args, value }
    }

    /// Makes the random values of one request.
    pub(super) fn make_values(&self, values: &mut VecDeque<Bytes>, rng: &mut impl Rng) {
        for _ in self.args.iter().filter(|arg| matches!(arg, Arg::Random)) {
            let mut bytes = vec![0; self.value.size];
            rng.fill_bytes(&mut bytes);
            values.push_back(bytes.into());
        }
    }

    /// The arguments of one request with the next of these values, and its first key.
    pub(super) fn make(
        &self,
        values: &mut VecDeque<Bytes>,
        keys: &mut Sampler,
        rng: &mut impl Rng,
    ) -> (Vec<fred::types::Value>, u64) {
        let (mut first, mut last) = (None, 0);
        let args = self.args.iter().map(|arg| {
            let bytes = match arg {
                Arg::Fixed(bytes) => bytes.clone(),
                Arg::Digits { before, key } => {
                    let number = keys.draw(rng);
                    if *key {
                        last = number;
                        first.get_or_insert(number);
                    }
                    let mut digits = [0; DIGITS];
                    write_digits(&mut digits, number);
                    let mut bytes = Vec::with_capacity(before.len() + DIGITS);
                    bytes.extend_from_slice(before);
                    bytes.extend_from_slice(&digits);
                    bytes.into()
                }
                Arg::Stamped => {
                    let mut digits = [0; STAMP];
                    write_digits(&mut digits, last);
                    [&digits[STAMP - self.value.stamp..], &self.value.bytes].concat().into()
                }
                Arg::Random => values.pop_front().unwrap_or_default(),
            };
            fred::types::Value::Bytes(bytes)
        });
        let args = args.collect();
        (args, first.unwrap_or(0))
    }
}
