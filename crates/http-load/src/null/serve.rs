//! Saying the same to everybody.

use super::{delay::Delay, scan::Scanner};
use bytes::Bytes;
use std::{io, rc::Rc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// The one answer.
pub(super) struct Canned {
    pub(super) reply: Bytes,
    /// Where its body begins.
    pub(super) body: usize,
}

impl Canned {
    pub(super) fn new(reply: Bytes) -> io::Result<Canned> {
        match memchr::memmem::find(&reply, b"\r\n\r\n") {
            Some(end) => Ok(Canned { body: end + 4, reply }),
            None => Err(io::Error::new(io::ErrorKind::InvalidInput, "the reply has no end of its head")),
        }
    }
}

/// What connections speak, and over what.
#[derive(Clone)]
pub(super) enum Under {
    Plain,
    #[cfg(feature = "tls")]
    Tls(tokio_rustls::TlsAcceptor),
    #[cfg(feature = "http2")]
    Http2,
    #[cfg(all(feature = "http2", feature = "tls"))]
    Http2Tls(tokio_rustls::TlsAcceptor),
}

pub(super) async fn serve(listener: TcpListener, canned: Canned, delay: Option<Delay>, under: Under) {
    let canned = Rc::new(canned);
    loop {
        // Out of descriptors: the client notices, and later ones may be taken again.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let (canned, delay, under) = (Rc::clone(&canned), delay.clone(), under.clone());
        tokio::task::spawn_local(async move {
            // A client that goes away is none of its business.
            let _ = accepted(stream, &canned, delay.as_ref(), &under).await;
        });
    }
}

async fn accepted(
    stream: TcpStream,
    canned: &Rc<Canned>,
    delay: Option<&Delay>,
    under: &Under,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    match under {
        Under::Plain => connection(stream, canned, delay).await,
        #[cfg(feature = "tls")]
        Under::Tls(acceptor) => connection(acceptor.accept(stream).await?, canned, delay).await,
        #[cfg(feature = "http2")]
        Under::Http2 => super::http2::connection(stream, canned, delay).await,
        #[cfg(all(feature = "http2", feature = "tls"))]
        Under::Http2Tls(acceptor) => {
            super::http2::connection(acceptor.accept(stream).await?, canned, delay).await
        }
    }
}

async fn connection<S>(mut stream: S, canned: &Canned, delay: Option<&Delay>) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut scanner = Scanner::default();
    let mut held = vec![0; 16 * 1024];
    let mut filled = 0;
    let mut out = Vec::new();
    loop {
        if filled == held.len() {
            held.resize(2 * filled, 0);
        }
        match stream.read(&mut held[filled..]).await? {
            0 => return Ok(()),
            n => filled += n,
        }
        let mut done = 0;
        let mut close = false;
        while done < filled && !close {
            let (taken, asked) = scanner.next(&held[done..filled]);
            done += taken;
            match asked {
                Some(asked) => {
                    let end = if asked.head_only { canned.body } else { canned.reply.len() };
                    out.extend_from_slice(&canned.reply[..end]);
                    close = asked.close;
                }
                None if taken == 0 => break,
                None => {}
            }
        }
        held.copy_within(done..filled, 0);
        filled -= done;
        if !out.is_empty() {
            if let Some(delay) = delay {
                delay.wait().await;
            }
            stream.write_all(&out).await?;
            stream.flush().await?;
            out.clear();
        }
        if close {
            return stream.shutdown().await;
        }
    }
}
