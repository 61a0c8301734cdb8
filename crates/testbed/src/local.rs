//! A small TCP server on a thread of its own, gone on drop.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::thread::JoinHandle;

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::oneshot;

use crate::Error;
use crate::timer::Timer;

/// Connections that may wait to be accepted: a load generator opens its sessions all at once.
const BACKLOG: u32 = 4096;

/// The thread, and how to end it.
pub(crate) struct Local {
    addr: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Local {
    /// Listens on `port` of 127.0.0.1 (0: a free one) and runs `serve` there, which spawns a local task for each
    /// connection. They all end with the value returned.
    pub(crate) fn start<F, Fut>(name: &str, port: u16, serve: F) -> Result<Self, Error>
    where
        F: FnOnce(TcpListener, Timer) -> Fut + Send + 'static,
        Fut: Future<Output = ()>,
    {
        let (stop, stopped) = oneshot::channel();
        let (ready_tx, ready) = std::sync::mpsc::channel();
        let run = move || {
            let runtime = match tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build_local(Default::default())
            {
                Ok(runtime) => runtime,
                Err(error) => return drop(ready_tx.send(Err(error))),
            };
            runtime.block_on(async {
                match listen(port).and_then(|listener| Ok((listener.local_addr()?, listener, Timer::new()?)))
                {
                    Ok((addr, listener, timer)) => {
                        let _ = ready_tx.send(Ok(addr));
                        tokio::select! {
                            () = serve(listener, timer) => {}
                            _ = stopped => {}
                        }
                    }
                    Err(error) => drop(ready_tx.send(Err(error))),
                }
            });
        };
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run);
        let thread = thread.map_err(Error::io(format!("starting the thread of {name}")))?;
        let addr = ready
            .recv()
            .unwrap_or_else(|_| Err(io::Error::other("its thread ended")))
            .map_err(Error::io(format!("listening for {name} on port {port} of 127.0.0.1")))?;
        Ok(Self { addr, stop: Some(stop), thread: Some(thread) })
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }
}

fn listen(port: u16) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    // So that a test can start again where it was before.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind((Ipv4Addr::LOCALHOST, port).into())?;
    socket.listen(BACKLOG)
}

impl Drop for Local {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It panicked only if the program has a fault that a panic has already told.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local").field("addr", &self.addr).finish_non_exhaustive()
    }
}
