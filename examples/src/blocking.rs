//! The published mistake, on purpose: a synchronous client inside an asynchronous session. Each call holds its whole
//! worker, so that only as many requests are in flight as there are workers, whatever concurrency was asked for.

use openloop::{Class, Failure, Op, Outcome, Session, SessionId, Workload};
use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

/// GET requests on [`std::net::TcpStream`].
#[derive(Debug, Clone)]
pub struct BlockingGet {
    address: SocketAddr,
    request: String,
}

/// One connection of [`BlockingGet`].
#[derive(Debug)]
pub struct BlockingConnection {
    stream: TcpStream,
    request: String,
    buffer: Vec<u8>,
}

impl BlockingGet {
    /// For `http://address/path`.
    pub fn new(address: SocketAddr, path: &str) -> BlockingGet {
        BlockingGet { address, request: format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n") }
    }
}

impl Workload for BlockingGet {
    type Session = BlockingConnection;

    async fn connect(&self, _: &SessionId, _: &mut Op) -> Result<BlockingConnection, Failure> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        Ok(BlockingConnection { stream, request: self.request.clone(), buffer: vec![0; 64 * 1024] })
    }

    fn describe(&self) -> String {
        "GET by a blocking client inside an async session".into()
    }
}

impl Session for BlockingConnection {
    async fn call(&mut self, op: &mut Op) -> Outcome {
        self.stream.write_all(self.request.as_bytes())?;
        op.bytes_out(self.request.len());
        let mut have = 0;
        loop {
            let n = self.stream.read(&mut self.buffer[have..])?;
            if n == 0 {
                return Err(Failure::new(Class::Closed, "before the end of the answer")
                    .reconnect()
                    .unknown_outcome());
            }
            have += n;
            op.bytes_in(n);
            match length(&self.buffer[..have]) {
                Some(length) if have >= length => return Ok(()),
                None if have == self.buffer.len() => {
                    return Err(Failure::new(Class::Protocol, "head too large").reconnect());
                }
                Some(length) if length > self.buffer.len() => self.buffer.resize(length, 0),
                _ => {}
            }
        }
    }
}

/// How long the whole answer is, once its head is there.
fn length(answer: &[u8]) -> Option<usize> {
    let head = answer.windows(4).position(|w| w == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&answer[..head]).ok()?;
    let body = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    Some(head + body.unwrap_or(0))
}
