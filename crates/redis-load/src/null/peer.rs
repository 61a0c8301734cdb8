//! One connection of the null target.

use super::{answers::Answers, stream::Stream};
use crate::resp::{Scanned, Scanner};
use std::io::{self, Read, Write};

/// The head of a request that tells what it asks: verb, key, and LRANGE's range fit.
const HEAD: usize = 96;

pub(super) struct Peer {
    pub(super) stream: Stream,
    scanner: Scanner,
    /// The head of the request that is being read.
    head: [u8; HEAD],
    head_len: usize,
    /// In a request of the inline protocol.
    inline: bool,
    /// Answers that wait for the socket.
    out: Vec<u8>,
    sent: usize,
}

impl Peer {
    pub(super) fn new(stream: Stream) -> Peer {
        Peer {
            stream,
            scanner: Scanner::new(),
            head: [0; HEAD],
            head_len: 0,
            inline: false,
            out: Vec::new(),
            sent: 0,
        }
    }

    /// Reads what one look at the socket gives; adds answers to `answers`. `false` when the connection has ended.
    pub(super) fn read(
        &mut self,
        buffer: &mut [u8],
        with: &Answers,
        answers: &mut Vec<u8>,
    ) -> io::Result<bool> {
        loop {
            match self.stream.read(buffer) {
                Ok(0) => return Ok(false),
                Ok(read) => self.requests(&buffer[..read], with, answers)?,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
                Err(error) => return Err(error),
            }
            if !self.stream.has_more() {
                return Ok(true);
            }
        }
    }

    fn requests(&mut self, mut bytes: &[u8], with: &Answers, answers: &mut Vec<u8>) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.head_len == 0 {
                self.inline = bytes[0] != b'*';
            }
            let used = if self.inline {
                bytes.iter().position(|b| *b == b'\n').map(|end| end + 1)
            } else {
                match self.scanner.feed(bytes, &mut ()) {
                    Ok(Scanned::Reply(used, _)) => Some(used),
                    Ok(Scanned::More) => None,
                    Err(error) => return Err(io::Error::other(error)),
                }
            };
            let of_this = &bytes[..used.unwrap_or(bytes.len())];
            let room = of_this.len().min(HEAD - self.head_len);
            self.head[self.head_len..self.head_len + room].copy_from_slice(&of_this[..room]);
            self.head_len += room;
            let Some(used) = used else { break };
            with.push(&self.head[..self.head_len], answers);
            self.head_len = 0;
            bytes = &bytes[used..];
        }
        Ok(())
    }

    /// Whether answers wait for the socket.
    pub(super) fn is_waiting(&self) -> bool {
        !self.out.is_empty() || self.stream.holds_back()
    }

    /// Sends answers, as far as the socket takes them; `true` when all are sent.
    pub(super) fn write(&mut self, answers: &[u8]) -> io::Result<bool> {
        if self.out.is_empty() {
            let sent = write(&mut self.stream, answers)?;
            self.out.extend_from_slice(&answers[sent..]);
        } else {
            self.out.extend_from_slice(answers);
            self.sent += write(&mut self.stream, &self.out[self.sent..])?;
            if self.sent == self.out.len() {
                self.out.clear();
                self.sent = 0;
            }
        }
        Ok(!self.is_waiting())
    }
}

fn write(stream: &mut Stream, mut bytes: &[u8]) -> io::Result<usize> {
    let all = bytes.len();
    // What was held back before goes first.
    match stream.flush() {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(0),
        flushed => flushed?,
    }
    while !bytes.is_empty() {
        match stream.write(bytes) {
            Ok(0) => break,
            Ok(sent) => bytes = &bytes[sent..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(all - bytes.len())
}
