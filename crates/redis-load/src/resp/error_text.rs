//! The text of an error reply, kept without allocating.

use std::fmt;

/// Longer texts are cut: the first word and a sentence are enough to count and to explain.
const KEPT: usize = 160;

/// The text of an error reply.
#[derive(Clone, Copy)]
pub(crate) struct ErrorText {
    bytes: [u8; KEPT],
    len: u8,
    full: bool,
}

impl ErrorText {
    pub(crate) const fn new() -> ErrorText {
        ErrorText { bytes: [0; KEPT], len: 0, full: false }
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.full = false;
    }

    /// Adds bytes of the line, as far as there is room.
    pub(crate) fn push(&mut self, text: &[u8]) {
        let used = usize::from(self.len);
        let room = text.len().min(KEPT - used);
        self.bytes[used..used + room].copy_from_slice(&text[..room]);
        self.len += room as u8;
        self.full |= room < text.len();
    }

    fn kept(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// The first word, by which errors are told apart: `MOVED`, `OOM`, `ERR`.
    pub(crate) fn first_word(&self) -> &[u8] {
        let kept = self.kept();
        &kept[..kept.iter().position(|b| !b.is_ascii_graphic()).unwrap_or(kept.len())]
    }

    /// The text for people, control characters replaced.
    pub(crate) fn text(&self) -> String {
        let clean: String = String::from_utf8_lossy(self.kept())
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        if self.full { format!("{clean}...") } else { clean }
    }
}

impl fmt::Debug for ErrorText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text(), f)
    }
}
