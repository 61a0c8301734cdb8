//! Why what came is not taken.

/// A simple string or error line may be this long; Redis's own are far shorter.
pub(super) const LONGEST_LINE: u32 = 64 * 1024;

/// What came was not RESP, or not an answer to what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ProtocolError {
    #[error("a reply begins with byte {0:#04x}, which is no type of RESP")]
    Type(u8),
    #[error("a number in a reply is malformed or out of range")]
    Number,
    #[error("a line in a reply does not end with CR LF")]
    LineEnd,
    #[error("a line in a reply is longer than {LONGEST_LINE} bytes")]
    LineTooLong,
    #[error("an aggregate in a reply has an impossible length")]
    Length,
    #[error("a push message came inside a reply")]
    Push,
    #[error("bytes came that no request had asked for")]
    Unasked,
    #[error("a reply is larger than {0} bytes")]
    TooLarge(usize),
    #[error("a reply is nested deeper than {0} levels")]
    TooDeep(usize),
    #[error("the reply is not of the kind that the command gives")]
    Kind,
}

impl ProtocolError {
    /// A few words, for counting.
    pub(crate) fn code(self) -> &'static str {
        match self {
            ProtocolError::Type(_) => "unknown type",
            ProtocolError::Number => "bad number",
            ProtocolError::LineEnd | ProtocolError::LineTooLong => "bad line",
            ProtocolError::Length => "bad length",
            ProtocolError::Push => "push inside a reply",
            ProtocolError::Unasked => "unasked reply",
            ProtocolError::TooLarge(_) => "too large",
            ProtocolError::TooDeep(_) => "too deep",
            ProtocolError::Kind => "unexpected kind",
        }
    }
}
