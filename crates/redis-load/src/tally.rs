//! What the answers of one operation come to.

use crate::{
    Protocol,
    classify::{self, Said},
    commands::{Reads, STAMP, Slot},
    connection::Receiver,
    hits::HitWatch,
    keys::write_digits,
    plan::Plan,
    resp::{ErrorText, Kind, Reply, Sink},
};
use load_core::{Failure, Op, Outcome};

/// Kinds of errors told apart in one pipeline; more are counted with the last.
const KINDS: usize = 4;
/// Commands of a mix that are counted by name.
const COMMANDS: usize = 3;

/// Counts the answers as they come.
pub(crate) struct Tally<'a> {
    plan: &'a Plan,
    slots: &'a [Slot],
    at: usize,
    good: u64,
    hits: u64,
    misses: u64,
    /// The string that passes is not what was written.
    altered: bool,
    first_error: Option<First>,
    errors: [(&'static str, u64); KINDS],
    commands: [u64; COMMANDS],
}

enum First {
    Reply(ErrorText),
    Altered,
}

impl<'a> Tally<'a> {
    #[inline]
    pub(crate) fn new(plan: &'a Plan, slots: &'a [Slot]) -> Tally<'a> {
        Tally {
            plan,
            slots,
            at: 0,
            good: 0,
            hits: 0,
            misses: 0,
            altered: false,
            first_error: None,
            errors: [("", 0); KINDS],
            commands: [0; COMMANDS],
        }
    }

    pub(crate) fn protocol(&self) -> Protocol {
        self.plan.target.protocol
    }

    /// The next answer is an error, known by its text alone.
    pub(crate) fn error_reply(&mut self, error: &ErrorText) {
        self.reply(Reply { kind: Kind::Error, len: 0, failed: true }, error);
    }

    /// The next answer never came.
    pub(crate) fn pass(&mut self) {
        self.at += 1;
        self.altered = false;
    }

    fn count_error(&mut self, counter: &'static str, first: First) {
        self.first_error.get_or_insert(first);
        let place = self.errors.iter().position(|(name, n)| *n == 0 || *name == counter).unwrap_or(KINDS - 1);
        self.errors[place] = (counter, self.errors[place].1 + 1);
    }

    /// Says it all on `op` and gives what the operation came to, when `count` requests were sent and all were answered.
    #[inline]
    pub(crate) fn finish(self, op: &mut Op, count: usize, watch: &mut HitWatch) -> Outcome {
        self.say(op, count);
        if self.plan.reads {
            watch.note(self.hits, self.misses, op);
        }
        if self.good == 0
            && let Some(first) = self.first_error
        {
            return Err(failure(first));
        }
        if self.plan.is_mix() && count == 1 {
            op.kind(self.plan.commands[self.slots[0].command].0.name);
        } else if self.hits + self.misses == 1 && count == 1 {
            op.kind(if self.hits == 1 { "hit" } else { "miss" });
        }
        Ok(())
    }

    /// What is known when not all were answered.
    #[inline]
    pub(crate) fn say(&self, op: &mut Op, count: usize) {
        op.units(self.good);
        op.failed_units(count as u64 - self.good);
        if self.hits > 0 {
            op.count("hits", self.hits);
        }
        if self.misses > 0 {
            op.count("misses", self.misses);
        }
        if self.plan.counts_commands() {
            for ((command, _), n) in self.plan.commands.iter().zip(self.commands) {
                if n > 0 {
                    op.count(command.name, n);
                }
            }
        }
        // A failed operation is counted by its class and code already.
        if self.good > 0 && self.first_error.is_some() {
            for (counter, n) in self.errors.iter().filter(|(_, n)| *n > 0) {
                op.count(counter, *n);
            }
        }
    }
}

fn failure(first: First) -> Failure {
    match first {
        First::Altered => {
            Failure::check("value").with_source(Said("the value is not the one that was written".into()))
        }
        First::Reply(error) => classify::reply_failure(&error),
    }
}

impl Sink for Tally<'_> {
    #[inline]
    fn bytes(&mut self, at: u64, piece: &[u8]) {
        if !self.plan.value.is_verified() {
            return;
        }
        let slot = self.slots[self.at];
        if self.plan.commands[slot.command].0.reads == Reads::Value {
            let mut digits = [0; STAMP];
            write_digits(&mut digits, slot.key);
            self.altered |= !self.plan.value.agrees(&digits, at, piece);
        }
    }
}

impl Receiver for Tally<'_> {
    #[inline]
    fn reply(&mut self, reply: Reply, error: &ErrorText) {
        let slot = self.slots[self.at];
        self.at += 1;
        let command = &self.plan.commands[slot.command].0;
        let altered = std::mem::take(&mut self.altered);
        if reply.failed {
            self.count_error(classify::counter(error.first_word()), First::Reply(*error));
            return;
        }
        if command.reads == Reads::Value && self.plan.value.is_verified() && reply.kind != Kind::Null {
            let whole = reply.kind == Kind::Bulk && reply.len == self.plan.value.size as u64;
            if altered || !whole {
                self.count_error("error.value", First::Altered);
                return;
            }
        }
        self.good += 1;
        if let Some(n) = self.commands.get_mut(slot.command) {
            *n += 1;
        }
        if command.reads != Reads::Nothing {
            if reply.is_empty() {
                self.misses += 1;
            } else {
                self.hits += 1;
            }
        }
    }
}
