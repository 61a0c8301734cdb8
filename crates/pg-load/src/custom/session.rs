//! Sessions of the workloads of closures.

use super::tries::{Next, Tries, count};
use crate::{Connection, pool::WorkerPool, tries::closed_before};
use load_core::{Failure, Op, Outcome, Session};
use std::{fmt, rc::Rc};
use tokio_postgres::Client;

/// A session of [`custom`](crate::custom()).
pub struct CustomSession<S, F> {
    pub(super) connection: Option<Connection>,
    pub(super) ready: S,
    pub(super) call: F,
    pub(super) tries: Tries,
    /// The closure was not waited for to its end.
    pub(super) busy: bool,
}

impl<S, F> Session for CustomSession<S, F>
where
    S: 'static,
    F: AsyncFn(&mut Client, &mut S, &mut Op) -> Outcome + 'static,
{
    async fn call(&mut self, op: &mut Op) -> Outcome {
        let CustomSession { connection, ready, call, tries, busy } = self;
        let Some(connection) = connection else { return Err(closed_before(None)) };
        if connection.client().is_closed() {
            return Err(closed_before(connection.lost()));
        }
        *busy = true;
        let mut used = 1;
        let outcome = loop {
            let rng = op.rng().clone();
            let client = connection.client_mut();
            let outcome = tries.limited(call(client, ready, op)).await;
            match tries.leave(connection.client(), outcome, used).await {
                Next::Again => {
                    *op.rng() = rng;
                    used += 1;
                }
                Next::Done(outcome) => break outcome,
            }
        };
        count(op, used);
        *busy = outcome.as_ref().is_err_and(Failure::needs_reconnect);
        outcome
    }

    async fn close(mut self) {
        if let Some(connection) = self.connection.take() {
            connection.close().await;
        }
    }
}

impl<S, F> Drop for CustomSession<S, F> {
    fn drop(&mut self) {
        if let Some(connection) = &self.connection
            && self.busy
            && !connection.client().is_closed()
        {
            connection.canceller().cancel_in_background();
        }
    }
}

/// A session of [`custom_pooled`](crate::custom_pooled).
pub struct CustomPooledSession<F> {
    pub(super) pool: Rc<WorkerPool>,
    pub(super) call: F,
    pub(super) tries: Tries,
}

impl<F> Session for CustomPooledSession<F>
where
    F: AsyncFn(&mut deadpool_postgres::Client, &mut Op) -> Outcome + 'static,
{
    async fn call(&mut self, op: &mut Op) -> Outcome {
        let CustomPooledSession { pool, call, tries } = self;
        let mut lent = pool.lend().await?;
        op.mark("pool_wait");
        let mut used = 1;
        let outcome = loop {
            let rng = op.rng().clone();
            let outcome = tries.limited(call(&mut lent, op)).await;
            match tries.leave(&lent, outcome, used).await {
                Next::Again => {
                    *op.rng() = rng;
                    used += 1;
                }
                Next::Done(outcome) => break outcome,
            }
        };
        count(op, used);
        if !outcome.as_ref().is_err_and(Failure::needs_reconnect) {
            lent.good();
        }
        outcome
    }
}

impl<S, F> fmt::Debug for CustomSession<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomSession").field("connection", &self.connection).finish_non_exhaustive()
    }
}

impl<F> fmt::Debug for CustomPooledSession<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomPooledSession").field("pool", &self.pool).finish_non_exhaustive()
    }
}
