//! Stopping a statement on the server.

#[cfg(feature = "tls")]
use crate::server::Tls;
use futures_util::future::join_all;
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::time::timeout;
use tokio_postgres::{CancelToken, NoTls};

const LIMIT: Duration = Duration::from_secs(1);

/// Stops what a connection's server process is doing, by a connection of its own.
#[derive(Clone)]
pub(crate) struct Canceller {
    token: CancelToken,
    #[cfg(feature = "tls")]
    tls: Option<Tls>,
}

impl Canceller {
    pub(crate) fn new(token: CancelToken, #[cfg(feature = "tls")] tls: Option<Tls>) -> Canceller {
        Canceller {
            token,
            #[cfg(feature = "tls")]
            tls,
        }
    }

    /// Asks the server to stop; gives up after a second. That it was asked does not mean that it has stopped.
    pub(crate) async fn cancel(self) {
        let cancelled = async {
            #[cfg(feature = "tls")]
            if let Some(tls) = self.tls {
                return self.token.cancel_query(tls).await;
            }
            self.token.cancel_query(NoTls).await
        };
        match timeout(LIMIT, cancelled).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(error = %crate::classify::reason(&error), "could not cancel"),
            Err(_) => tracing::debug!("could not cancel: no answer"),
        }
    }

    /// The same where it cannot be waited for, as when a session is dropped in the middle of a statement: its runtime may be
    /// about to end. One thread, which lives as long as there is something to cancel, serves the whole process.
    pub(crate) fn cancel_in_background(self) {
        let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.cancellers.push(self);
        if !waiting.served {
            let thread = std::thread::Builder::new().name("pg-cancel".into()).spawn(serve);
            waiting.served = thread.is_ok();
        }
    }
}

struct Waiting {
    cancellers: Vec<Canceller>,
    served: bool,
}

static WAITING: Mutex<Waiting> = Mutex::new(Waiting { cancellers: Vec::new(), served: false });

fn serve() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    loop {
        let batch = {
            let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
            if waiting.cancellers.is_empty() {
                waiting.served = false;
                return;
            }
            std::mem::take(&mut waiting.cancellers)
        };
        if let Ok(runtime) = &runtime {
            runtime.block_on(join_all(batch.into_iter().map(Canceller::cancel)));
        }
    }
}
