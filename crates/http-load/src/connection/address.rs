//! From a host to a connected stream.

use super::Stream;
use crate::{HttpError, deadline::Deadline, fault, request::Target};
use load_core::{Class, Failure, Op};
use std::{fmt, io, net::SocketAddr, sync::Arc};
use tokio::{
    net::{TcpStream, lookup_host},
    sync::OnceCell,
    time::Instant,
};

/// Where a host is: its addresses are resolved once for all sessions of a workload and kept.
#[derive(Clone)]
pub(crate) struct Addresses(Arc<Inner>);

struct Inner {
    target: Target,
    place: Place,
}

enum Place {
    Tcp(OnceCell<Vec<SocketAddr>>),
    #[cfg(unix)]
    Unix(std::path::PathBuf),
}

impl Addresses {
    pub(crate) fn of(target: Target) -> Addresses {
        let resolved = target.address().map(|address| vec![address]);
        Addresses(Arc::new(Inner { target, place: Place::Tcp(OnceCell::new_with(resolved)) }))
    }

    /// Without resolving anything.
    pub(crate) fn known(target: Target, addresses: Vec<SocketAddr>) -> Addresses {
        Addresses(Arc::new(Inner { target, place: Place::Tcp(OnceCell::new_with(Some(addresses))) }))
    }

    /// A socket in the file system.
    #[cfg(unix)]
    pub(crate) fn unix(target: Target, path: std::path::PathBuf) -> Addresses {
        Addresses(Arc::new(Inner { target, place: Place::Unix(path) }))
    }

    pub(crate) fn target(&self) -> &Target {
        &self.0.target
    }

    /// Connects to the address number `first` (modulo their number), or else to the next that can be reached, and says which.
    ///
    /// Where there are several, one that does not answer may only use its share of the time that is left.
    pub(crate) async fn connect(
        &self,
        first: usize,
        op: &mut Op,
        deadline: &mut Deadline,
    ) -> Result<(Stream, usize), Failure> {
        let connected = match &self.0.place {
            Place::Tcp(resolved) => {
                let addresses = resolve(&self.0.target, resolved, op, deadline).await?;
                let (stream, number) = connect_tcp(addresses, first, deadline).await?;
                (Stream::Tcp(stream), number)
            }
            #[cfg(unix)]
            Place::Unix(path) => match deadline.within(tokio::net::UnixStream::connect(path)).await {
                Some(Ok(stream)) => (Stream::Unix(stream), 0),
                Some(Err(source)) => return Err(fault::connect(format!("unix:{}", path.display()), source)),
                None => return Err(fault::timed_out("connect", deadline.limit(), false)),
            },
        };
        op.mark("connect");
        Ok(connected)
    }

    /// The addresses as text, once they are known.
    pub(crate) fn shown(&self) -> Option<String> {
        match &self.0.place {
            Place::Tcp(resolved) => {
                let addresses: Vec<_> = resolved.get()?.iter().map(ToString::to_string).collect();
                Some(addresses.join(", "))
            }
            #[cfg(unix)]
            Place::Unix(path) => Some(format!("unix:{}", path.display())),
        }
    }
}

async fn resolve<'a>(
    target: &Target,
    resolved: &'a OnceCell<Vec<SocketAddr>>,
    op: &mut Op,
    deadline: &mut Deadline,
) -> Result<&'a [SocketAddr], Failure> {
    if let Some(known) = resolved.get() {
        return Ok(known);
    }
    let resolving = resolved.get_or_try_init(|| async {
        let mut found: Vec<SocketAddr> = Vec::new();
        for address in lookup_host(target.to_string()).await? {
            if !found.contains(&address) {
                found.push(address);
            }
        }
        if found.is_empty() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "no address"));
        }
        Ok(found)
    });
    match deadline.within(resolving).await {
        Some(Ok(addresses)) => {
            op.mark("resolve");
            Ok(addresses)
        }
        Some(Err(source)) => {
            let error = HttpError::Resolve { host: target.host.to_string(), source };
            Err(Failure::new(Class::Dns, "not resolved").with_source(error).reconnect())
        }
        None => Err(fault::timed_out("resolve", deadline.limit(), false)),
    }
}

async fn connect_tcp(
    addresses: &[SocketAddr],
    first: usize,
    deadline: &mut Deadline,
) -> Result<(TcpStream, usize), Failure> {
    let count = addresses.len();
    let mut last = None;
    for turn in 0..count {
        let number = (first + turn) % count;
        let address = addresses[number];
        let result = match (deadline.due(), count - turn) {
            (Some(due), left) if left > 1 => {
                let now = Instant::now();
                let share = now + due.saturating_duration_since(now) / left as u32;
                tokio::time::timeout_at(share, TcpStream::connect(address)).await.ok()
            }
            _ => deadline.within(TcpStream::connect(address)).await,
        };
        let failure = match result {
            Some(Ok(stream)) => match stream.set_nodelay(true) {
                Ok(()) => return Ok((stream, number)),
                Err(source) => fault::connect(address.to_string(), source),
            },
            Some(Err(source)) => fault::connect(address.to_string(), source),
            None => fault::timed_out("connect", deadline.limit(), false),
        };
        // Out of descriptors or ports: another address would only fail the same way.
        if failure.class() == Class::Local {
            return Err(failure);
        }
        last = Some(failure);
    }
    Err(last.expect("there is at least one address"))
}

impl fmt::Debug for Addresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shown() {
            Some(shown) => write!(f, "{} = {shown}", self.0.target),
            None => write!(f, "{}", self.0.target),
        }
    }
}
