//! Hostile and fragmented replies: no panic, no memory that grows, and cuts that change nothing.
#![no_main]

// The parser is private to the crate and depends on nothing else of it.
#[allow(dead_code, unused_imports)]
#[path = "../../src/resp/mod.rs"]
mod resp;

use libfuzzer_sys::fuzz_target;
use resp::{ProtocolError, Reply, Scanned, Scanner, decode};

fn scan<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Result<Vec<Reply>, ProtocolError> {
    let (mut scanner, mut replies) = (Scanner::new(), Vec::new());
    for mut piece in pieces {
        while !piece.is_empty() {
            match scanner.feed(piece, &mut ())? {
                Scanned::Reply(used, reply) => {
                    replies.push(reply);
                    piece = &piece[used..];
                }
                Scanned::More => break,
            }
        }
    }
    Ok(replies)
}

fuzz_target!(|input: &[u8]| {
    let Some((size, replies)) = input.split_first() else { return };
    let whole = scan([replies].into_iter());
    assert_eq!(scan(replies.chunks(usize::from(*size).max(1))), whole);
    let mut scanner = Scanner::new();
    if let Ok(Scanned::Reply(used, _)) = scanner.feed(replies, &mut ()) {
        let _ = decode(&replies[..used]);
    }
});
