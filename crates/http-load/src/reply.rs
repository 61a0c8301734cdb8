//! What an answer must be to count as a success.

use crate::status::{self, Statuses};
use bytes::Bytes;
use hyper::{HeaderMap, StatusCode};
use load_core::{Class, Failure, Outcome};
use memchr::memmem::Finder;
use std::{fmt, sync::Arc};

/// As much of a body as is kept for a check.
pub(crate) const KEPT_BODY: usize = 16 << 20;

/// A complete answer, for a check of your own.
#[derive(Debug)]
pub struct Reply<'a> {
    pub(crate) status: StatusCode,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a [u8],
    pub(crate) body_bytes: u64,
}

impl Reply<'_> {
    /// The status.
    pub fn status(&self) -> u16 {
        self.status.as_u16()
    }

    /// The first header of this name (lower case), when it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body; of one that is larger than 16 MiB, that much.
    pub fn body(&self) -> &[u8] {
        self.body
    }

    /// The length of the body in bytes.
    pub fn body_bytes(&self) -> u64 {
        self.body_bytes
    }
}

type Custom = Arc<dyn Fn(&Reply<'_>) -> Outcome + Send + Sync>;

/// All that is asked of an answer.
#[derive(Clone, Default)]
pub(crate) struct Checks {
    pub(crate) statuses: Statuses,
    pub(crate) length: Option<u64>,
    pub(crate) contains: Vec<Contains>,
    pub(crate) custom: Vec<Custom>,
}

#[derive(Clone)]
pub(crate) struct Contains(Arc<Finder<'static>>);

impl Contains {
    pub(crate) fn new(bytes: &Bytes) -> Contains {
        Contains(Arc::new(Finder::new(bytes).into_owned()))
    }
}

impl Checks {
    /// Nothing is asked of it.
    pub(crate) fn none() -> Checks {
        let mut statuses = Statuses::none();
        statuses.add(100, 999).expect("a valid range");
        Checks { statuses, ..Checks::default() }
    }

    /// Whether the body must be kept.
    pub(crate) fn need_body(&self) -> bool {
        !self.contains.is_empty() || !self.custom.is_empty()
    }

    #[inline]
    pub(crate) fn judge(&self, reply: &Reply<'_>) -> Outcome {
        if !self.statuses.contains(reply.status()) {
            return Err(Failure::new(Class::Status, status::code(reply.status())));
        }
        if self.length.is_some_and(|length| length != reply.body_bytes) {
            return Err(Failure::check("length of the body"));
        }
        if self.contains.iter().any(|wanted| wanted.0.find(reply.body).is_none()) {
            return Err(Failure::check("missing in the body"));
        }
        self.custom.iter().try_for_each(|check| check(reply))
    }
}

impl fmt::Debug for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checks")
            .field("statuses", &self.statuses)
            .field("length", &self.length)
            .field("contains", &self.contains.len())
            .field("custom", &self.custom.len())
            .finish()
    }
}
