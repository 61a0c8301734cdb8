//! A workload made ready: what all its sessions share.

use crate::{
    Command, Keys, Payload, Target,
    commands::{Batch, Menu, Reads, Template, Value},
    isolation::SpaceInfo,
    keys::Sampler,
};
use std::sync::Arc;

/// Commands on the menu up to which a pipeline counts each of them: an operation can add to eight counters.
const COUNTED_COMMANDS: usize = 3;

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) target: Target,
    pub(crate) space: Option<Arc<SpaceInfo>>,
    pub(crate) commands: Vec<(Command, u32)>,
    pub(crate) keys: Keys,
    pub(crate) payload: Payload,
    pub(crate) value: Value,
    pub(crate) depth: usize,
    /// Commands in all, when there is a limit.
    pub(crate) total: Option<u64>,
    pub(crate) menu: Arc<Menu>,
    /// Whether hits and misses are counted.
    pub(crate) reads: bool,
}

impl Plan {
    pub(crate) fn new(
        target: Target,
        space: Option<Arc<SpaceInfo>>,
        commands: Vec<(Command, u32)>,
        keys: Keys,
        payload: Payload,
        depth: usize,
        total: Option<u64>,
    ) -> Plan {
        let value = payload.value();
        let prefix = space.as_ref().map(|s| s.prefix);
        let templates = commands
            .iter()
            .map(|(c, weight)| (Template::new(c, prefix, keys.space(), &value), *weight))
            .collect();
        let reads = commands.iter().any(|(command, _)| command.reads != Reads::Nothing);
        let menu = Arc::new(Menu::new(templates));
        Plan { target, space, commands, keys, payload, value, depth, total, menu, reads }
    }

    pub(crate) fn batch(&self) -> Batch {
        Batch::new(Arc::clone(&self.menu), self.value.clone(), self.depth)
    }

    pub(crate) fn sampler(&self) -> Sampler {
        self.keys.sampler()
    }

    /// Requests of the operation with this number: the depth of the pipeline, fewer at the end of a limit.
    #[inline]
    pub(crate) fn count(&self, seq: u64) -> usize {
        match self.total {
            None => self.depth,
            Some(total) => {
                let left = total.saturating_sub(seq.saturating_mul(self.depth as u64));
                self.depth.min(usize::try_from(left).unwrap_or(usize::MAX))
            }
        }
    }

    /// The commands with their weights.
    pub(crate) fn commands_text(&self) -> String {
        match self.commands.as_slice() {
            [(one, _)] => one.name.to_owned(),
            many => {
                let all: Vec<String> =
                    many.iter().map(|(c, weight)| format!("{}:{weight}", c.name)).collect();
                all.join(" ")
            }
        }
    }

    pub(crate) fn is_mix(&self) -> bool {
        self.commands.len() > 1
    }

    /// Whether each command of a pipeline is counted by its name.
    pub(crate) fn counts_commands(&self) -> bool {
        self.is_mix() && self.depth > 1 && self.commands.len() <= COUNTED_COMMANDS
    }

    /// About how many bytes the answers of one operation have.
    pub(crate) fn expected_bytes(&self) -> usize {
        // A string has a line before and a line end after it.
        let one = self.payload.size() + 16;
        let most = self.commands.iter().map(|(command, _)| match (command.reads, command.name) {
            (_, "lrange_100") => 100 * one,
            (_, "lrange_300") => 300 * one,
            (_, "lrange_500") => 500 * one,
            (_, "lrange_600") => 600 * one,
            (Reads::Nothing, _) => 32,
            _ => one,
        });
        most.max().unwrap_or(0).saturating_mul(self.depth)
    }
}
