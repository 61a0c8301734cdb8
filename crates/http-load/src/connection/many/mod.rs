//! HTTP/2: connections that sessions share.

mod body;
mod exchange;
mod fault;
mod pool;

use super::{Stream, Traffic, Wire};
use bytes::Bytes;
use h2::{
    Ping,
    client::{Connection, SendRequest},
};
use hyper::http::uri::Scheme;
use load_core::Failure;
pub(crate) use pool::Seat;
use std::{
    cell::Cell,
    future::Future,
    pin::{Pin, pin},
    rc::Rc,
    task::Poll,
};
use tokio::task::JoinHandle;

/// How much a server may send before it is asked for more: large enough not to be the limit on a local network.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;

/// An open connection, driven by a task of its own.
///
/// The `h2` crate is used as it is: the layer over it in hyper runs each request as a task and does not say why a request
/// was turned away.
pub(crate) struct Live {
    send: SendRequest<Bytes>,
    traffic: Rc<Traffic>,
    /// What of the traffic was given to operations already.
    counted: (Cell<u64>, Cell<u64>),
    answers: Cell<u64>,
    scheme: Scheme,
    driver: JoinHandle<()>,
}

impl Live {
    pub(crate) async fn over(stream: Stream) -> Result<Live, Failure> {
        let scheme = if stream.is_tls() { Scheme::HTTPS } else { Scheme::HTTP };
        let (wire, traffic) = Wire::new(stream);
        let shaken = h2::client::Builder::new()
            .enable_push(false)
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .handshake(wire)
            .await;
        let (send, mut connection) = shaken.map_err(|e| fault::of("connect", &e).reconnect())?;
        // Over TLS both have agreed to speak HTTP/2; else it is seen when the server answers in it.
        if scheme == Scheme::HTTP {
            spoken(&mut connection).await?;
        }
        let driver = tokio::task::spawn_local(async move {
            // How it ended is told to those who use it.
            let _ = connection.await;
        });
        let counted = (Cell::new(0), Cell::new(0));
        Ok(Live { send, traffic, counted, answers: Cell::new(0), scheme, driver })
    }

    /// Bytes read and written that no operation has been told of yet. Operations on one connection cannot be told apart on
    /// the wire: whichever ends next is told, so that the sum is right.
    fn count(&self) -> (u64, u64) {
        let new = |now: &Cell<u64>, counted: &Cell<u64>| now.get() - counted.replace(now.get());
        (new(&self.traffic.read, &self.counted.0), new(&self.traffic.written, &self.counted.1))
    }
}

/// Waits for the server to answer in HTTP/2.
async fn spoken(connection: &mut Connection<Wire, Bytes>) -> Result<(), Failure> {
    let Some(mut ping) = connection.ping_pong() else { return Ok(()) };
    let mut answered = pin!(ping.ping(Ping::opaque()));
    std::future::poll_fn(|cx| {
        // The connection first: it knows better than the ping why there is no answer.
        if let Poll::Ready(ended) = Pin::new(&mut *connection).poll(cx) {
            return Poll::Ready(Err(fault::not_spoken(ended.err())));
        }
        answered.as_mut().poll(cx).map_ok(drop).map_err(|e| fault::not_spoken(Some(e)))
    })
    .await
}
