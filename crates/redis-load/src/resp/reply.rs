//! What is known of a reply that was walked over.

/// The type of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A simple string, such as `+OK`.
    Simple,
    /// An error, simple or as a blob.
    Error,
    /// An integer.
    Integer(i64),
    /// A string of bytes, plain or verbatim.
    Bulk,
    /// No value: RESP3's null, RESP2's null string or null array.
    Null,
    /// RESP3's boolean.
    Boolean(bool),
    /// RESP3's double or big number.
    Number,
    /// An array, set or map.
    Aggregate,
}

/// One reply that was walked over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reply {
    /// Its type.
    pub(crate) kind: Kind,
    /// Bytes of a string; elements of an aggregate (a map has two for each entry).
    pub(crate) len: u64,
    /// Whether it is an error or has one inside, as the result of a transaction may.
    pub(crate) failed: bool,
}

impl Reply {
    /// Nothing was there: null, or an aggregate without elements (as ZPOPMIN answers).
    pub(crate) fn is_empty(&self) -> bool {
        match self.kind {
            Kind::Null => true,
            Kind::Aggregate => self.len == 0,
            _ => false,
        }
    }
}
