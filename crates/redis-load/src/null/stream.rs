//! What the null target listens on and reads from: the same kind of stream as the real server's.

use crate::{Target, target::Endpoint};
use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher, Hasher},
    io::{self, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    os::{
        fd::{AsFd, BorrowedFd},
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener, UnixStream},
    },
    path::PathBuf,
};

#[derive(Debug)]
pub(super) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
    #[cfg(feature = "tls")]
    Tls(TcpListener, super::tls::Server),
}

impl Listener {
    /// Listens at a free place of the kind that `target` is, and says where.
    pub(super) fn like(target: &Target) -> io::Result<(Listener, Endpoint)> {
        if matches!(target.endpoint, Endpoint::Unix(_)) {
            // An abstract name: in no directory, and gone with the process whatever happens.
            let name = format!("openloop-null-{:016x}", RandomState::new().build_hasher().finish());
            let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
            listener.set_nonblocking(true)?;
            return Ok((Listener::Unix(listener), Endpoint::Unix(PathBuf::from(format!("\0{name}")))));
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let endpoint =
            Endpoint::Tcp { host: Ipv4Addr::LOCALHOST.to_string(), port: listener.local_addr()?.port() };
        #[cfg(feature = "tls")]
        if target.tls {
            return Ok((
                Listener::Tls(listener, super::tls::Server::new().map_err(io::Error::other)?),
                endpoint,
            ));
        }
        Ok((Listener::Tcp(listener), endpoint))
    }

    pub(super) fn accept(&self) -> io::Result<Stream> {
        let tcp = |listener: &TcpListener| {
            let (stream, _) = listener.accept()?;
            stream.set_nonblocking(true)?;
            stream.set_nodelay(true)?;
            Ok::<TcpStream, io::Error>(stream)
        };
        match self {
            Listener::Tcp(listener) => Ok(Stream::Tcp(tcp(listener)?)),
            Listener::Unix(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                Ok(Stream::Unix(stream))
            }
            #[cfg(feature = "tls")]
            Listener::Tls(listener, server) => Ok(Stream::Tls(Box::new(server.accept(tcp(listener)?)?))),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Listener::Tcp(listener) => listener.as_fd(),
            Listener::Unix(listener) => listener.as_fd(),
            #[cfg(feature = "tls")]
            Listener::Tls(listener, _) => listener.as_fd(),
        }
    }
}

pub(super) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    #[cfg(feature = "tls")]
    Tls(Box<super::tls::Stream>),
}

impl Stream {
    /// Bytes have been read from the socket that the reader has not seen: no event will tell.
    pub(super) fn has_more(&mut self) -> bool {
        match self {
            Stream::Tcp(_) | Stream::Unix(_) => false,
            #[cfg(feature = "tls")]
            Stream::Tls(stream) => super::tls::has_more(stream),
        }
    }

    /// Bytes have been taken from the writer that the socket has not taken.
    pub(super) fn holds_back(&self) -> bool {
        match self {
            Stream::Tcp(_) | Stream::Unix(_) => false,
            #[cfg(feature = "tls")]
            Stream::Tls(stream) => stream.conn.wants_write(),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Tcp(stream) => stream.as_fd(),
            Stream::Unix(stream) => stream.as_fd(),
            #[cfg(feature = "tls")]
            Stream::Tls(stream) => stream.sock.as_fd(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(buffer),
            Stream::Unix(stream) => stream.read(buffer),
            #[cfg(feature = "tls")]
            Stream::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.write(bytes),
            Stream::Unix(stream) => stream.write(bytes),
            #[cfg(feature = "tls")]
            Stream::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Tcp(_) | Stream::Unix(_) => Ok(()),
            #[cfg(feature = "tls")]
            Stream::Tls(stream) => stream.flush(),
        }
    }
}
