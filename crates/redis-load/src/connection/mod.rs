//! One connection: requests out, replies walked over, all within a time limit.

mod ask;
mod connect;
mod handshake;
mod lost;
mod outgoing;
mod stream;
mod watchdog;

pub(crate) use lost::Lost;
pub(crate) use outgoing::Outgoing;

use crate::resp::{ErrorText, ProtocolError, Reply, Scanned, Scanner, Sink};
use outgoing::Cursor;
use std::{
    future::poll_fn,
    task::{Context, Poll},
    time::Duration,
};
use stream::Stream;
use watchdog::Watchdog;

/// Room for replies when nothing is known about them.
const SMALLEST_BUFFER: usize = 4 * 1024;
/// More than this at once gains nothing: larger replies are walked over piece by piece.
const LARGEST_BUFFER: usize = 256 * 1024;

/// Takes replies as they are walked over.
pub(crate) trait Receiver: Sink {
    /// The next reply has ended. `error` is its text when it failed.
    fn reply(&mut self, reply: Reply, error: &ErrorText);

    /// Bytes of replies as they came, before they are walked over.
    ///
    /// # Errors
    /// To give the connection up, as when there are too many.
    fn raw(&mut self, bytes: &[u8]) -> Result<(), ProtocolError> {
        let _ = bytes;
        Ok(())
    }
}

/// For when nothing may come.
struct Nobody;

impl Sink for Nobody {}

impl Receiver for Nobody {
    fn reply(&mut self, _: Reply, _: &ErrorText) {}
}

/// A connection on which the handshake is done.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: Stream,
    buffer: Box<[u8]>,
    scanner: Scanner,
    watchdog: Watchdog,
    /// Requests are out whose answers have not all come: after a time-out, or when an exchange was dropped. A late
    /// answer must never be taken for another's, so nothing more is sent.
    owing: bool,
}

/// How far an exchange has come; kept outside the future so that a failure can tell.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Exchanged {
    /// Bytes that the socket took.
    pub(crate) sent: u64,
    /// Bytes that came.
    pub(crate) received: u64,
    /// Replies that ended.
    pub(crate) replies: usize,
}

impl Connection {
    fn new(stream: Stream) -> Connection {
        Connection {
            stream,
            buffer: vec![0; SMALLEST_BUFFER].into_boxed_slice(),
            scanner: Scanner::new(),
            watchdog: Watchdog::new(),
            owing: false,
        }
    }

    /// Makes room for replies of about `expected` bytes, so that they come by one read.
    pub(crate) fn expect(&mut self, expected: usize) {
        // One byte more than is expected: a read that fills the buffer is followed by another that finds nothing.
        let size = (expected + 1).clamp(SMALLEST_BUFFER, LARGEST_BUFFER).next_power_of_two();
        if size > self.buffer.len() {
            self.buffer = vec![0; size].into_boxed_slice();
        }
    }

    /// Sends `request` and walks over `wanted` replies: one write and one read when all fits.
    ///
    /// `done` says how far it came, also when it fails.
    ///
    /// # Errors
    /// [`Lost`]; the connection is of no more use then.
    #[inline]
    pub(crate) async fn exchange<R: Receiver>(
        &mut self,
        request: Outgoing<'_>,
        wanted: usize,
        limit: Duration,
        receiver: &mut R,
        done: &mut Exchanged,
    ) -> Result<(), Lost> {
        if std::mem::replace(&mut self.owing, true) {
            return Err(Lost::Owing);
        }
        self.watchdog.start(limit);
        let mut cursor = Cursor::default();
        poll_fn(|cx| self.poll_exchange(cx, request, &mut cursor, wanted, receiver, done)).await?;
        self.owing = false;
        Ok(())
    }

    fn poll_exchange<R: Receiver>(
        &mut self,
        cx: &mut Context<'_>,
        request: Outgoing<'_>,
        cursor: &mut Cursor,
        wanted: usize,
        receiver: &mut R,
        done: &mut Exchanged,
    ) -> Poll<Result<(), Lost>> {
        // What came before the request answers nothing. The runtime knows whether anything has come, so that on a quiet
        // connection this asks nothing of the kernel.
        while done.sent == 0 {
            match self.stream.poll_read(cx, &mut self.buffer) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(Lost::ClosedBefore)),
                Poll::Ready(Ok(n)) => self.walk(n, 0, &mut Nobody, done).map_err(Lost::Protocol)?,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(Lost::Io(error))),
                Poll::Pending => break,
            }
        }
        loop {
            while !request.is_sent(cursor) {
                match self.stream.poll_write(cx, request, cursor) {
                    Poll::Ready(Ok(0)) => return Poll::Ready(Err(Lost::Closed)),
                    Poll::Ready(Ok(n)) => {
                        done.sent += n as u64;
                        request.advance(cursor, n);
                    }
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(Lost::Io(error))),
                    Poll::Pending => break,
                }
            }
            if request.is_sent(cursor) && !cursor.flushed {
                match self.stream.poll_flush(cx) {
                    Poll::Ready(Ok(())) => cursor.flushed = true,
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(Lost::Io(error))),
                    Poll::Pending => {}
                }
            }
            match self.stream.poll_read(cx, &mut self.buffer) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(Lost::Closed)),
                Poll::Ready(Ok(n)) => {
                    done.received += n as u64;
                    self.walk(n, wanted, receiver, done).map_err(Lost::Protocol)?;
                    if done.replies == wanted && request.is_sent(cursor) {
                        return Poll::Ready(Ok(()));
                    }
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(Lost::Io(error))),
                Poll::Pending => {
                    return if self.watchdog.has_expired(cx) {
                        Poll::Ready(Err(Lost::Timeout))
                    } else {
                        Poll::Pending
                    };
                }
            }
        }
    }

    /// Walks over the `read` bytes at the beginning of the buffer.
    #[inline]
    fn walk<R: Receiver>(
        &mut self,
        read: usize,
        wanted: usize,
        receiver: &mut R,
        done: &mut Exchanged,
    ) -> Result<(), ProtocolError> {
        let mut bytes = &self.buffer[..read];
        receiver.raw(bytes)?;
        while !bytes.is_empty() && done.replies < wanted {
            match self.scanner.feed(bytes, receiver)? {
                Scanned::Reply(used, reply) => {
                    receiver.reply(reply, self.scanner.error());
                    done.replies += 1;
                    bytes = &bytes[used..];
                }
                Scanned::More => return Ok(()),
            }
        }
        if bytes.is_empty() {
            return Ok(());
        }
        // After the last reply only push messages may come, and even a part of one shows what it is.
        match self.scanner.feed(bytes, &mut ())? {
            Scanned::More if self.scanner.is_at_rest_or_in_push() => Ok(()),
            _ => Err(ProtocolError::Unasked),
        }
    }
}
