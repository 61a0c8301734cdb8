//! The stream under a connection, and how many bytes went over it.

use super::Stream;
use std::{
    cell::Cell,
    io::{self, IoSlice},
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes of HTTP that one connection has read and written, heads and framing included.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) read: Cell<u64>,
    pub(crate) written: Cell<u64>,
    /// How often reading came to something: bytes, the end, or an error.
    pub(crate) events: Cell<u64>,
}

/// A stream that counts.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: Stream,
    traffic: Rc<Traffic>,
}

impl Wire {
    pub(crate) fn new(stream: Stream) -> (Wire, Rc<Traffic>) {
        let traffic = Rc::new(Traffic::default());
        (Wire { stream, traffic: Rc::clone(&traffic) }, traffic)
    }

    fn wrote(&self, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(n)) = result {
            self.traffic.written.set(self.traffic.written.get() + n as u64);
        }
        result
    }
}

impl AsyncRead for Wire {
    #[inline]
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(cx, buf);
        if result.is_ready() {
            let n = buf.filled().len() - before;
            self.traffic.read.set(self.traffic.read.get() + n as u64);
            self.traffic.events.set(self.traffic.events.get() + 1);
        }
        result
    }
}

impl AsyncWrite for Wire {
    #[inline]
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.wrote(result)
    }

    #[inline]
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.wrote(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
