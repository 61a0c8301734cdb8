//! The requests of one operation, one after the other in one buffer.

use super::{Template, Value};
use crate::{connection::Outgoing, keys::Sampler};
use rand::{Rng, RngExt};
use std::sync::Arc;

/// Encoded commands with weights, shared by all sessions of a workload.
#[derive(Debug)]
pub(crate) struct Menu {
    pub(crate) templates: Vec<Template>,
    /// Sums of the weights up to each command.
    sums: Vec<u32>,
}

impl Menu {
    pub(crate) fn new(templates: Vec<(Template, u32)>) -> Menu {
        let mut sum = 0;
        let (templates, sums) = templates
            .into_iter()
            .map(|(template, weight)| {
                sum += weight;
                (template, sum)
            })
            .unzip();
        Menu { templates, sums }
    }

    #[inline]
    pub(crate) fn choose(&self, rng: &mut impl Rng) -> usize {
        let Some(total) = self.sums.last() else { return 0 };
        let number = rng.random_range(0..*total);
        self.sums.iter().position(|sum| number < *sum).unwrap_or(0)
    }
}

impl Menu {
    /// Bytes of a request on the wire.
    pub(crate) fn wire_len(&self, command: usize, shared: usize) -> usize {
        let template = &self.templates[command];
        template.bytes.len() + template.cuts.len() * shared
    }
}

/// One request in the buffer.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Slot {
    /// Which command of the menu.
    pub(crate) command: usize,
    /// Its first key.
    pub(crate) key: u64,
    start: usize,
}

impl Slot {
    /// A request that is in no buffer.
    pub(crate) fn of(command: usize, key: u64) -> Slot {
        Slot { command, key, start: 0 }
    }
}

/// The buffer of one session. It is laid out once and patched for each operation; with several commands on the menu it is
/// laid out anew, into the same memory.
#[derive(Debug)]
pub(crate) struct Batch {
    menu: Arc<Menu>,
    value: Value,
    own: Vec<u8>,
    cuts: Vec<usize>,
    pub(crate) slots: Vec<Slot>,
}

impl Batch {
    /// Room for `depth` requests.
    pub(crate) fn new(menu: Arc<Menu>, value: Value, depth: usize) -> Batch {
        let longest = menu.templates.iter().map(|t| t.bytes.len()).max().unwrap_or(0);
        let cuts = menu.templates.iter().map(|t| t.cuts.len()).max().unwrap_or(0);
        let mut batch = Batch {
            own: Vec::with_capacity(longest * depth),
            cuts: Vec::with_capacity(cuts * depth),
            slots: vec![Slot::default(); depth],
            menu,
            value,
        };
        batch.lay_out(|| 0);
        batch
    }

    /// Puts a command into each slot.
    #[inline]
    fn lay_out(&mut self, mut choose: impl FnMut() -> usize) {
        self.own.clear();
        self.cuts.clear();
        for slot in &mut self.slots {
            *slot = Slot { command: choose(), key: 0, start: self.own.len() };
            let template = &self.menu.templates[slot.command];
            self.cuts.extend(template.cuts.iter().map(|cut| slot.start + cut));
            self.own.extend_from_slice(&template.bytes);
        }
    }

    /// The first half of making the next requests, which no operation's number has a part in: chooses commands, makes values.
    #[inline]
    pub(crate) fn make(&mut self, rng: &mut impl Rng) {
        if self.menu.templates.len() > 1 {
            let menu = Arc::clone(&self.menu);
            self.lay_out(|| menu.choose(rng));
        }
        if self.value.random {
            for slot in &self.slots {
                self.menu.templates[slot.command].make_values(&mut self.own[slot.start..], rng);
            }
        }
    }

    /// The second half: draws keys.
    #[inline]
    pub(crate) fn draw_keys(&mut self, keys: &mut Sampler, rng: &mut impl Rng) {
        for slot in &mut self.slots {
            let template = &self.menu.templates[slot.command];
            slot.key = template.write_keys(&mut self.own[slot.start..], keys, rng);
        }
    }

    /// How many numbers one batch draws at most: where the next batch of a sequence begins.
    pub(crate) fn draws(&self) -> u64 {
        let most = self.menu.templates.iter().map(|t| t.draws).max().unwrap_or(0);
        most * self.slots.len() as u64
    }

    /// What is to be sent for the first `count` requests.
    #[inline]
    pub(crate) fn outgoing(&self, count: usize) -> Outgoing<'_> {
        if count >= self.slots.len() {
            return Outgoing::with_shared(&self.own, &self.value.bytes, &self.cuts);
        }
        let end = self.slots[count].start;
        let cuts = self.cuts.partition_point(|cut| *cut < end);
        Outgoing::with_shared(&self.own[..end], &self.value.bytes, &self.cuts[..cuts])
    }

    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    #[cfg(test)]
    pub(crate) fn fill(&mut self, keys: &mut Sampler, rng: &mut impl Rng) {
        self.make(rng);
        self.draw_keys(keys, rng);
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.own
    }
}
