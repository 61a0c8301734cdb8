//! Saying the same to everybody.

use super::{delay::Delay, scan::Scanner};
use bytes::Bytes;
use std::{io, rc::Rc, time::Duration};
use tokio::net::{TcpListener, TcpStream};

/// The one answer.
pub(super) struct Canned {
    reply: Bytes,
    /// Where its body begins.
    body: usize,
}

impl Canned {
    pub(super) fn new(reply: Bytes) -> io::Result<Canned> {
        match memchr::memmem::find(&reply, b"\r\n\r\n") {
            Some(end) => Ok(Canned { body: end + 4, reply }),
            None => Err(io::Error::new(io::ErrorKind::InvalidInput, "the reply has no end of its head")),
        }
    }
}

pub(super) async fn serve(listener: TcpListener, canned: Canned, delay: Option<Delay>) {
    let canned = Rc::new(canned);
    loop {
        // Out of descriptors: the client notices, and later ones may be taken again.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let (canned, delay) = (Rc::clone(&canned), delay.clone());
        tokio::task::spawn_local(async move {
            // A client that goes away is none of its business.
            let _ = connection(&stream, &canned, delay.as_ref()).await;
        });
    }
}

async fn connection(stream: &TcpStream, canned: &Canned, delay: Option<&Delay>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut scanner = Scanner::default();
    let mut held = vec![0; 16 * 1024];
    let mut filled = 0;
    let mut out = Vec::new();
    loop {
        if filled == held.len() {
            held.resize(2 * filled, 0);
        }
        match stream.try_read(&mut held[filled..]) {
            Ok(0) => return Ok(()),
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                stream.readable().await?;
                continue;
            }
            Err(e) => return Err(e),
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
            send(stream, &out).await?;
            out.clear();
        }
        if close {
            return Ok(());
        }
    }
}

async fn send(stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match stream.try_write(bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => stream.writable().await?,
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
