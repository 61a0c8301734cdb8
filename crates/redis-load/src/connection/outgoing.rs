//! What is to be sent: bytes of the session's own, with one shared value wherever it belongs.

use std::io::IoSlice;

/// Pieces handed to one vectored write at most.
pub(super) const SLICES: usize = 16;

/// A request or a pipeline of them. A large value is not copied into each request of each session: `shared` is sent at
/// each of the `cuts`, which are positions in `own`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outgoing<'a> {
    own: &'a [u8],
    shared: &'a [u8],
    cuts: &'a [usize],
}

/// How far it was sent: pieces of `own` and `shared` alternate, beginning with `own`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cursor {
    piece: usize,
    offset: usize,
    /// Nothing is held back by the stream.
    pub(super) flushed: bool,
}

impl<'a> Outgoing<'a> {
    pub(crate) fn plain(own: &'a [u8]) -> Outgoing<'a> {
        Outgoing { own, shared: &[], cuts: &[] }
    }

    pub(crate) fn with_shared(own: &'a [u8], shared: &'a [u8], cuts: &'a [usize]) -> Outgoing<'a> {
        Outgoing { own, shared, cuts }
    }

    fn pieces(&self) -> usize {
        2 * self.cuts.len() + 1
    }

    fn piece(&self, number: usize) -> &'a [u8] {
        if number % 2 == 1 {
            return self.shared;
        }
        let cut = number / 2;
        let start = if cut == 0 { 0 } else { self.cuts[cut - 1] };
        let end = self.cuts.get(cut).copied().unwrap_or(self.own.len());
        &self.own[start..end]
    }

    #[inline]
    pub(super) fn is_sent(&self, cursor: &Cursor) -> bool {
        cursor.piece == self.pieces()
    }

    /// Moves on by what the socket took.
    #[inline]
    pub(super) fn advance(&self, cursor: &mut Cursor, mut by: usize) {
        while cursor.piece < self.pieces() {
            let left = self.piece(cursor.piece).len() - cursor.offset;
            if by < left {
                cursor.offset += by;
                return;
            }
            by -= left;
            cursor.piece += 1;
            cursor.offset = 0;
        }
    }

    /// The bytes to send when there is only one piece left.
    #[inline]
    pub(super) fn single(&self, cursor: &Cursor) -> Option<&'a [u8]> {
        (cursor.piece + 1 == self.pieces()).then(|| &self.piece(cursor.piece)[cursor.offset..])
    }

    /// The next pieces to send.
    pub(super) fn slices(&self, cursor: &Cursor) -> ([IoSlice<'a>; SLICES], usize) {
        let mut slices = [IoSlice::new(&[]); SLICES];
        let mut used = 0;
        for number in (cursor.piece..self.pieces()).take(SLICES) {
            let skip = if number == cursor.piece { cursor.offset } else { 0 };
            slices[used] = IoSlice::new(&self.piece(number)[skip..]);
            used += 1;
        }
        (slices, used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever portions the socket takes, what it gets is the whole in order.
        #[test]
        fn any_portions_give_the_whole(
            own in proptest::collection::vec(any::<u8>(), 1..60),
            shared in proptest::collection::vec(any::<u8>(), 0..10),
            cuts in proptest::collection::vec(0usize..60, 0..20),
            portions in proptest::collection::vec(1usize..30, 1..20),
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c % (own.len() + 1)).collect();
            cuts.sort_unstable();
            let mut whole = Vec::new();
            let mut from = 0;
            for cut in &cuts {
                whole.extend_from_slice(&own[from..*cut]);
                whole.extend_from_slice(&shared);
                from = *cut;
            }
            whole.extend_from_slice(&own[from..]);

            let request = Outgoing::with_shared(&own, &shared, &cuts);
            let (mut cursor, mut got, mut turn) = (Cursor::default(), Vec::new(), 0);
            while !request.is_sent(&cursor) {
                let offered: Vec<u8> = match request.single(&cursor) {
                    Some(bytes) => bytes.to_vec(),
                    None => {
                        let (slices, used) = request.slices(&cursor);
                        slices[..used].iter().flat_map(|s| s.to_vec()).collect()
                    }
                };
                let taken = offered.len().min(portions[turn % portions.len()]);
                turn += 1;
                got.extend_from_slice(&offered[..taken]);
                request.advance(&mut cursor, taken);
                prop_assert!(turn < 10_000);
            }
            prop_assert_eq!(got, whole);
        }
    }
}
