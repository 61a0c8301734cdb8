//! From a host to a connected socket.

use crate::{HttpError, deadline::Deadline, fault, target::Target};
use load_core::{Class, Failure, Op};
use std::{fmt, io, net::SocketAddr, sync::Arc};
use tokio::{
    net::{TcpStream, lookup_host},
    sync::OnceCell,
    time::Instant,
};

/// The addresses of a host, resolved once for all sessions of a workload and kept.
#[derive(Clone)]
pub(crate) struct Addresses(Arc<Inner>);

struct Inner {
    target: Target,
    resolved: OnceCell<Vec<SocketAddr>>,
}

impl Addresses {
    pub(crate) fn of(target: Target) -> Addresses {
        let resolved = target.address().map(|address| vec![address]);
        Addresses(Arc::new(Inner { target, resolved: OnceCell::new_with(resolved) }))
    }

    /// Without resolving anything.
    pub(crate) fn known(target: Target, addresses: Vec<SocketAddr>) -> Addresses {
        Addresses(Arc::new(Inner { target, resolved: OnceCell::new_with(Some(addresses)) }))
    }

    pub(crate) fn target(&self) -> &Target {
        &self.0.target
    }

    async fn get(&self, op: &mut Op, deadline: &mut Deadline) -> Result<&[SocketAddr], Failure> {
        let Inner { target, resolved } = &*self.0;
        if let Some(known) = resolved.get() {
            return Ok(known);
        }
        let resolve = resolved.get_or_try_init(|| async {
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
        let Some(resolved) = deadline.within(resolve).await else {
            return Err(fault::timed_out("resolve", deadline.limit(), false));
        };
        match resolved {
            Ok(addresses) => {
                op.mark("resolve");
                Ok(addresses)
            }
            Err(source) => {
                let host = target.host.to_string();
                Err(Failure::new(Class::Dns, "not resolved")
                    .with_source(HttpError::Resolve { host, source })
                    .reconnect())
            }
        }
    }

    /// The addresses as text, once they are known.
    pub(crate) fn shown(&self) -> Option<String> {
        let addresses = self.0.resolved.get()?;
        Some(addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
    }

    /// Connects to the address number `first` (modulo their number), or else to the next that can be reached, and says which.
    ///
    /// Where there are several, one that does not answer may only use its share of the time that is left.
    pub(crate) async fn connect(
        &self,
        first: usize,
        op: &mut Op,
        deadline: &mut Deadline,
    ) -> Result<(TcpStream, usize), Failure> {
        let addresses = self.get(op, deadline).await?;
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
            match result {
                Some(Ok(stream)) => {
                    if let Err(source) = stream.set_nodelay(true) {
                        return Err(fault::connect(address, source));
                    }
                    op.mark("connect");
                    return Ok((stream, number));
                }
                Some(Err(source)) => {
                    let failure = fault::connect(address, source);
                    // Out of descriptors or ports: another address would only fail the same way.
                    if failure.class() == Class::Local {
                        return Err(failure);
                    }
                    last = Some(failure);
                }
                None => last = Some(fault::timed_out("connect", deadline.limit(), false)),
            }
        }
        Err(last.expect("there is at least one address"))
    }
}

impl fmt::Debug for Addresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shown() {
            Some(shown) => write!(f, "{} = {shown}", self.0.target),
            None => write!(f, "{}", self.0.target),
        }
    }
}
