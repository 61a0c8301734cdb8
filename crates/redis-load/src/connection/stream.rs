//! The three kinds of byte streams, behind one type that needs no boxing.

use super::outgoing::{Cursor, Outgoing};
use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpStream, UnixStream},
};

#[derive(Debug)]
pub(super) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    #[cfg(feature = "tls")]
    Tls(Box<tokio_rustls::client::TlsStream<TcpStream>>),
}

impl Stream {
    #[inline]
    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(buffer);
        ready!(match self {
            Stream::Tcp(stream) => Pin::new(stream).poll_read(cx, &mut buffer),
            Stream::Unix(stream) => Pin::new(stream).poll_read(cx, &mut buffer),
            #[cfg(feature = "tls")]
            Stream::Tls(stream) => Pin::new(stream).poll_read(cx, &mut buffer),
        })?;
        Poll::Ready(Ok(buffer.filled().len()))
    }

    #[inline]
    pub(super) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        request: Outgoing<'_>,
        cursor: &Cursor,
    ) -> Poll<io::Result<usize>> {
        match self {
            Stream::Tcp(stream) => write(Pin::new(stream), cx, request, cursor),
            Stream::Unix(stream) => write(Pin::new(stream), cx, request, cursor),
            #[cfg(feature = "tls")]
            Stream::Tls(stream) => write(Pin::new(stream), cx, request, cursor),
        }
    }

    /// Sends what the stream holds back; only TLS does.
    #[inline]
    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Stream::Tcp(_) | Stream::Unix(_) => {
                let _ = cx;
                Poll::Ready(Ok(()))
            }
            #[cfg(feature = "tls")]
            Stream::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }
}

#[inline]
fn write<S: AsyncWrite>(
    stream: Pin<&mut S>,
    cx: &mut Context<'_>,
    request: Outgoing<'_>,
    cursor: &Cursor,
) -> Poll<io::Result<usize>> {
    match request.single(cursor) {
        Some(bytes) => stream.poll_write(cx, bytes),
        None => {
            let (slices, used) = request.slices(cursor);
            stream.poll_write_vectored(cx, &slices[..used])
        }
    }
}
