//! A server that costs next to nothing, to learn what the client can do.

mod delay;
#[cfg(feature = "http2")]
mod http2;
mod scan;
mod serve;
#[cfg(feature = "tls")]
mod tls;

use bytes::Bytes;
use delay::Delay;
use serve::{Canned, Under};
use std::{
    fmt, io,
    net::{Ipv4Addr, SocketAddr},
    thread::JoinHandle,
    time::Duration,
};
use tokio::{
    net::{TcpListener, TcpSocket},
    sync::oneshot,
};

/// A whole load's sessions may connect at the same moment.
const BACKLOG: u32 = 16 * 1024;

/// A canned-reply HTTP/1.1 server on a thread of its own, on a free port of 127.0.0.1; gone when dropped.
///
/// The rate that a workload reaches [`against`](crate::Http::against) it is what client and machine can do at best. It
/// answers every request with the same bytes, at once or after a delay; `HEAD` without the body. Bodies of requests are read and
/// forgotten, connections kept unless the request says `Connection: close`.
///
/// ```
/// use http_load::{Http, NullTarget};
/// use std::time::Duration;
///
/// let page = Http::get("http://127.0.0.1:8080/page")?.expect_status(200)?;
/// let target = NullTarget::start(Duration::ZERO)?;
/// let same_but_free = page.against(target.address());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct NullTarget {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl NullTarget {
    /// Answers `200 OK` with eight headers and 612 bytes, as nginx does with its first page, `delay` after the request has
    /// come (some 50 µs more on Linux, up to 2 ms more elsewhere); at once when it is zero.
    ///
    /// # Errors
    /// When no port can be listened on or no thread be started.
    pub fn start(delay: Duration) -> io::Result<NullTarget> {
        NullTarget::answering(usual_reply(), delay)
    }

    /// As [`start`](NullTarget::start), for `https`. Its certificate is nobody's: clients must take any, as those of
    /// [`against`](crate::Http::against) do.
    ///
    /// # Errors
    /// As [`start`](NullTarget::start).
    #[cfg(feature = "tls")]
    #[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
    pub fn start_tls(delay: Duration) -> io::Result<NullTarget> {
        let acceptor = tls::acceptor("http/1.1").map_err(io::Error::other)?;
        NullTarget::run(Canned::new(usual_reply())?, delay, Under::Tls(acceptor))
    }

    /// Answers with these bytes, head and body, which must be a complete answer with a `Content-Length`.
    ///
    /// # Errors
    /// As [`start`](NullTarget::start), and of kind `InvalidInput` when there is no empty line in the reply.
    pub fn answering(reply: impl Into<Bytes>, delay: Duration) -> io::Result<NullTarget> {
        NullTarget::run(Canned::new(reply.into())?, delay, Under::Plain)
    }

    /// As [`start`](NullTarget::start), for HTTP/2 without TLS.
    ///
    /// # Errors
    /// As [`start`](NullTarget::start).
    #[cfg(feature = "http2")]
    #[cfg_attr(docsrs, doc(cfg(feature = "http2")))]
    pub fn start_http2(delay: Duration) -> io::Result<NullTarget> {
        NullTarget::run(Canned::new(usual_reply())?, delay, Under::Http2)
    }

    /// As [`start`](NullTarget::start), for HTTP/2 over TLS.
    ///
    /// # Errors
    /// As [`start`](NullTarget::start).
    #[cfg(all(feature = "http2", feature = "tls"))]
    #[cfg_attr(docsrs, doc(cfg(all(feature = "http2", feature = "tls"))))]
    pub fn start_http2_tls(delay: Duration) -> io::Result<NullTarget> {
        let acceptor = tls::acceptor("h2").map_err(io::Error::other)?;
        NullTarget::run(Canned::new(usual_reply())?, delay, Under::Http2Tls(acceptor))
    }

    fn run(canned: Canned, delay: Duration, under: Under) -> io::Result<NullTarget> {
        let (stop, stopped) = oneshot::channel();
        let (ready, address) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new().name("null target".into()).spawn(move || {
            let runtime = match tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build_local(Default::default())
            {
                Ok(runtime) => runtime,
                Err(e) => return drop(ready.send(Err(e))),
            };
            runtime.block_on(async move {
                let made = listen().and_then(|listener| {
                    let delay = if delay.is_zero() { None } else { Some(Delay::new(delay)?) };
                    Ok((listener.local_addr()?, listener, delay))
                });
                let serving = match made {
                    Ok((address, listener, delay)) => {
                        let _ = ready.send(Ok(address));
                        serve::serve(listener, canned, delay, under)
                    }
                    Err(e) => return drop(ready.send(Err(e))),
                };
                let mut serving = std::pin::pin!(serving);
                let mut stopped = std::pin::pin!(stopped);
                std::future::poll_fn(|cx| {
                    let _ = serving.as_mut().poll(cx);
                    stopped.as_mut().poll(cx).map(drop)
                })
                .await;
            });
        })?;
        let address = address.recv().unwrap_or_else(|_| Err(io::Error::other("its thread ended")))?;
        Ok(NullTarget { address, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for NullTarget {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for NullTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NullTarget").field("address", &self.address).finish()
    }
}

fn listen() -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
    socket.listen(BACKLOG)
}

fn usual_reply() -> Bytes {
    let mut reply = String::from(
        "HTTP/1.1 200 OK\r\nServer: null/1.0\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\
         Content-Type: text/html\r\nContent-Length: 612\r\n\
         Last-Modified: Thu, 01 Jan 1970 00:00:00 GMT\r\nConnection: keep-alive\r\n\
         ETag: \"00000000-264\"\r\nAccept-Ranges: bytes\r\n\r\n",
    );
    reply.extend(std::iter::repeat_n('x', 612));
    reply.into()
}
