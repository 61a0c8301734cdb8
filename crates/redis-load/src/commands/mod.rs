//! What is asked of the server: the commands of redis-benchmark, and any other.

mod batch;
mod listed;
mod payload;
mod prefix;
mod template;

pub(crate) use batch::{Batch, Menu, Slot};
pub use payload::Payload;
pub(crate) use payload::{STAMP, Value};
pub(crate) use prefix::Prefix;
pub(crate) use template::Template;

/// A command with its arguments. Where an argument stands for a key, it gets the run's own prefix and a number that is
/// drawn for each request.
///
/// ```
/// use redis_load::Command;
///
/// let get = Command::get();                                               // as redis-benchmark sends it
/// let part = Command::custom("GETRANGE").key().arg("0").arg("99").reads();  // any other
/// let score = Command::custom("ZINCRBY").named_key("board").arg("1").element();
/// # let _ = (get, part, score);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub(crate) name: &'static str,
    pub(crate) parts: Vec<Part>,
    pub(crate) inline: bool,
    pub(crate) reads: Reads,
}

/// One string of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// The same bytes every time.
    Literal(Vec<u8>),
    /// Prefix, stem, 12 digits.
    Key(&'static str),
    /// Prefix and a name.
    Name(String),
    /// `element:` and 12 digits.
    Element,
    /// 12 digits.
    Number,
    /// 12 digits, or `0` when there is but one key, as redis-benchmark does.
    Score,
    /// The payload.
    Value,
}

/// Whether a command reads something that may not be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// It does not.
    Nothing,
    /// An empty answer is a miss, any other a hit.
    Something,
    /// The same, and the answer is the value of the key.
    Value,
}

impl Command {
    /// Any command. The name is what the record calls it.
    pub fn custom(name: &'static str) -> Command {
        Command {
            name,
            parts: vec![Part::Literal(name.as_bytes().to_vec())],
            inline: false,
            reads: Reads::Nothing,
        }
    }

    fn with(mut self, part: Part) -> Command {
        self.parts.push(part);
        self
    }

    /// An argument that is the same every time.
    pub fn arg(self, bytes: impl AsRef<[u8]>) -> Command {
        self.with(Part::Literal(bytes.as_ref().to_vec()))
    }

    /// A key: the run's prefix and 12 digits, drawn by the workload's [`Keys`](crate::Keys); 16 bytes.
    pub fn key(self) -> Command {
        self.with(Part::Key(""))
    }

    /// A key that is the same every time: the run's prefix, a colon and this name.
    pub fn named_key(self, name: &str) -> Command {
        self.with(Part::Name(format!(":{name}")))
    }

    /// A member or field: `element:` and 12 digits, drawn like a key.
    pub fn element(self) -> Command {
        self.with(Part::Element)
    }

    /// A number of 12 digits, drawn like a key.
    pub fn number(self) -> Command {
        self.with(Part::Number)
    }

    /// The workload's [`Payload`].
    pub fn value(self) -> Command {
        self.with(Part::Value)
    }

    /// The command reads: an answer of null or of no elements counts as a miss, any other as a hit.
    pub fn reads(mut self) -> Command {
        self.reads = Reads::Something;
        self
    }

    /// The command gives the whole value of its key, which [`Payload::verified`] checks. Implies [`reads`](Command::reads).
    pub fn reads_value(mut self) -> Command {
        self.reads = Reads::Value;
        self
    }

    /// What the record calls it.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether it has a key, which needs a [`Space`](crate::Space).
    pub(crate) fn has_keys(&self) -> bool {
        self.parts.iter().any(|p| matches!(p, Part::Key(_) | Part::Name(_)))
    }
}

#[cfg(test)]
mod tests;
