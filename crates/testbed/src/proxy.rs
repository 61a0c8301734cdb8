//! A TCP proxy that does to connections what bad networks do.

mod pump;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::Error;
use crate::local::Local;
use crate::timer::Timer;

/// One end of the connections that a [`FaultProxy`] forwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Side {
    /// Who connected to the proxy.
    Client,
    /// Whom the proxy connected to.
    Server,
}

/// A TCP proxy on 127.0.0.1, within this process, whose faults can be switched while connections are open. Stopped,
/// with its connections, on drop.
///
/// Each method takes effect at once, on open connections as on new ones, and may be called from any thread.
#[derive(Debug)]
pub struct FaultProxy {
    local: Local,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    faults: watch::Sender<Faults>,
    open: AtomicU64,
}

/// What is wrong at the moment. The counters tell connections that something happened once.
#[derive(Debug, Clone, Copy, Default)]
struct Faults {
    delay: Duration,
    bytes_per_second: Option<u64>,
    blackhole: bool,
    refuse: bool,
    resets: u64,
    closed_to_client: u64,
    closed_to_server: u64,
}

impl FaultProxy {
    /// Starts a proxy to `upstream` with no fault.
    ///
    /// # Errors
    /// [`Error::Io`] if there is no port or thread for it. Whether `upstream` answers is not asked.
    pub fn start(upstream: SocketAddr) -> Result<Self, Error> {
        let shared = Arc::new(Shared { faults: watch::Sender::default(), open: AtomicU64::new(0) });
        let for_thread = Arc::clone(&shared);
        let local = Local::start("fault proxy", 0, move |listener, timer| {
            serve(listener, timer, for_thread, upstream)
        })?;
        Ok(Self { local, shared })
    }

    /// Where clients connect.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.local.addr()
    }

    /// Connections that are open now.
    #[must_use]
    pub fn open(&self) -> u64 {
        self.shared.open.load(Ordering::Relaxed)
    }

    /// Everything, also the end of a connection, arrives this much later, each way. The order and the rate stay.
    pub fn delay(&self, delay: Duration) {
        self.set(|faults| faults.delay = delay);
    }

    /// Lets through so many bytes per second for each connection and direction; 0 is taken for 1.
    pub fn throttle(&self, bytes_per_second: u64) {
        self.set(|faults| faults.bytes_per_second = Some(bytes_per_second.max(1)));
    }

    /// While `on`, nothing gets through and nothing is closed, as if packets were lost. Afterwards what was held is
    /// delivered, as TCP would by sending it again.
    pub fn blackhole(&self, on: bool) {
        self.set(|faults| faults.blackhole = on);
    }

    /// While `on`, new connections are reset at once; open ones go on.
    pub fn refuse(&self, on: bool) {
        self.set(|faults| faults.refuse = on);
    }

    /// Resets (RST) both sides of all open connections.
    pub fn reset_all(&self) {
        self.set(|faults| faults.resets += 1);
    }

    /// Ends the stream towards `side` on all open connections (FIN) and throws away what still comes for it; the other
    /// direction goes on.
    pub fn half_close(&self, side: Side) {
        self.set(|faults| match side {
            Side::Client => faults.closed_to_client += 1,
            Side::Server => faults.closed_to_server += 1,
        });
    }

    /// Ends all faults; what is already reset or half closed stays so.
    pub fn heal(&self) {
        self.set(|faults| {
            let Faults { resets, closed_to_client, closed_to_server, .. } = *faults;
            *faults = Faults { resets, closed_to_client, closed_to_server, ..Faults::default() };
        });
    }

    fn set(&self, change: impl FnOnce(&mut Faults)) {
        self.shared.faults.send_modify(change);
    }
}

async fn serve(listener: TcpListener, timer: Timer, shared: Arc<Shared>, upstream: SocketAddr) {
    loop {
        let Ok((client, _)) = listener.accept().await else {
            timer.sleep_until(std::time::Instant::now() + Duration::from_millis(10)).await;
            continue;
        };
        let faults = shared.faults.subscribe();
        if faults.borrow().refuse {
            let _ = client.set_zero_linger();
            continue;
        }
        let (timer, shared) = (timer.clone(), Arc::clone(&shared));
        tokio::task::spawn_local(async move {
            let _open = Open::new(shared);
            let Ok(server) = TcpStream::connect(upstream).await else {
                let _ = client.set_zero_linger();
                return;
            };
            pump::connection(client, server, faults, &timer).await;
        });
    }
}

struct Open(Arc<Shared>);

impl Open {
    fn new(shared: Arc<Shared>) -> Self {
        shared.open.fetch_add(1, Ordering::Relaxed);
        Self(shared)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}
