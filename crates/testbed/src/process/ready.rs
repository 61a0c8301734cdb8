//! Ways to find out whether a server answers. Each asks once, and waits at most a second for the answer.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// How long one attempt may take.
const ATTEMPT: Duration = Duration::from_secs(1);
/// An answer longer than this is not looked at further.
const ANSWER: u64 = 64 * 1024;

/// A question that a server answers when it is ready. It gets the server's process id, so that another server on the
/// same port is not taken for it.
#[derive(Clone)]
pub(crate) struct Probe(Arc<dyn Fn(u32) -> io::Result<()> + Send + Sync>);

impl Probe {
    pub(crate) fn new(ask: impl Fn(u32) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self(Arc::new(ask))
    }

    pub(crate) fn ask(&self, pid: u32) -> io::Result<()> {
        (self.0)(pid)
    }
}

/// An answer that is not the one expected of our own server.
pub(crate) fn unexpected(answer: &[u8]) -> io::Error {
    let shown = String::from_utf8_lossy(&answer[..answer.len().min(80)]);
    io::Error::other(format!("the answer was {shown:?}"))
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Probe")
    }
}

/// A connection for one question, with time limits set.
///
/// # Errors
/// If nobody accepts it within a second.
pub fn connect(addr: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&addr, ATTEMPT)?;
    stream.set_read_timeout(Some(ATTEMPT))?;
    stream.set_write_timeout(Some(ATTEMPT))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Sends `request` on a fresh connection and returns what comes back until the server closes it.
///
/// # Errors
/// If nobody accepts, or the server neither answers nor closes within a second.
pub fn exchange(addr: SocketAddr, request: &[u8]) -> io::Result<Vec<u8>> {
    let mut stream = connect(addr)?;
    stream.write_all(request)?;
    let mut answer = Vec::new();
    stream.take(ANSWER).read_to_end(&mut answer)?;
    Ok(answer)
}

/// Asks an HTTP server for `path`; returns the status and the body. For small answers: chunked bodies are returned as
/// they came.
///
/// # Errors
/// If the server does not answer within a second or what it answers is not HTTP/1.
pub fn http_get(addr: SocketAddr, path: &str) -> io::Result<(u16, Vec<u8>)> {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\n\r\n");
    let answer = exchange(addr, request.as_bytes())?;
    let bad = || io::Error::new(io::ErrorKind::InvalidData, "the answer is not HTTP/1");
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").ok_or_else(bad)?;
    let head = std::str::from_utf8(&answer[..end]).map_err(|_| bad())?;
    let status =
        head.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse().ok()).ok_or_else(bad)?;
    Ok((status, answer[end + 4..].to_vec()))
}
