//! Opening a connection.

use super::{Connection, stream::Stream};
use crate::{Target, target::Endpoint};
use load_core::{Class, Failure, io_class};
use std::{cell::Cell, io, net::SocketAddr};
use tokio::{
    net::{TcpStream, UnixStream, lookup_host},
    time::{Instant, timeout_at},
};

/// The server took the connection, or its kernel did, and said nothing.
pub(super) const NO_HANDSHAKE: &str = "no answer to the handshake";

/// Where an opening has got to, for those who time its parts.
pub(crate) type Mark<'a> = &'a mut dyn FnMut(&'static str);

impl Connection {
    /// Connects and does the handshake, within the target's limit. `mark` is told as each part ends: `dns` (for names
    /// only), `connect`, `tls`, `handshake`.
    ///
    /// # Errors
    /// Says which part failed.
    pub(crate) async fn open(target: &Target, mark: Mark<'_>) -> Result<Connection, Failure> {
        let deadline = Instant::now() + target.connect_timeout;
        // What ended last tells what was waited for.
        let passed = Cell::new("");
        let opening = async {
            let mut mark = |part| {
                passed.set(part);
                mark(part);
            };
            let stream = open_stream(target, &mut mark).await?;
            let mut connection = Connection::new(stream);
            connection.handshake(target, target.connect_timeout).await?;
            mark("handshake");
            Ok(connection)
        };
        match timeout_at(deadline, opening).await {
            Ok(result) => result,
            Err(_) => Err(match (passed.get(), target.tls) {
                ("" | "dns", _) => Failure::new(Class::Connect, "timed out"),
                ("connect", true) => Failure::new(Class::Tls, "no answer to the TLS handshake"),
                _ => Failure::new(Class::Connect, NO_HANDSHAKE),
            }),
        }
    }

    /// For work around the load, where nobody times the parts.
    pub(crate) async fn open_quietly(target: &Target) -> Result<Connection, Failure> {
        Connection::open(target, &mut |_| ()).await
    }
}

async fn open_stream(target: &Target, mark: Mark<'_>) -> Result<Stream, Failure> {
    match &target.endpoint {
        Endpoint::Unix(path) => {
            let stream = UnixStream::connect(path).await.map_err(connect_failure)?;
            mark("connect");
            Ok(Stream::Unix(stream))
        }
        Endpoint::Tcp { host, port } => {
            let addresses = resolve(host, *port, mark).await?;
            let stream = connect_any(&addresses).await?;
            stream.set_nodelay(true)?;
            mark("connect");
            #[cfg(feature = "tls")]
            if target.tls {
                let stream = crate::tls::handshake(target, host, stream).await?;
                mark("tls");
                return Ok(Stream::Tls(Box::new(stream)));
            }
            Ok(Stream::Tcp(stream))
        }
    }
}

async fn resolve(host: &str, port: u16, mark: Mark<'_>) -> Result<Vec<SocketAddr>, Failure> {
    if let Ok(ip) = host.parse() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let found: io::Result<Vec<SocketAddr>> = lookup_host((host, port)).await.map(Iterator::collect);
    mark("dns");
    match found {
        Ok(addresses) if !addresses.is_empty() => Ok(addresses),
        Ok(_) => Err(Failure::new(Class::Dns, "no address")),
        Err(error) => Err(Failure::new(Class::Dns, "not found").with_source(error)),
    }
}

/// Tries one after the other, as `localhost` may be two addresses of which the server has one.
async fn connect_any(addresses: &[SocketAddr]) -> Result<TcpStream, Failure> {
    let mut last = Failure::new(Class::Dns, "no address");
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => last = connect_failure(error),
        }
    }
    Err(last)
}

/// A time-out while connecting is a failure to connect, not of an operation.
fn connect_failure(error: io::Error) -> Failure {
    let (class, code) = match io_class(&error) {
        (Class::Timeout | Class::Reset, code, _) => (Class::Connect, code),
        (class, code, _) => (class, code),
    };
    Failure::new(class, code).with_source(error)
}
