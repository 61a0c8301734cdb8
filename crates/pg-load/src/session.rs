//! A session of a script's workload.

use crate::{
    Connection, Protocol,
    classify::Meaning,
    execute::Scratch,
    pool::WorkerPool,
    tries::{Transaction, closed_before},
    workload::Scripted,
};
use load_core::{Failure, Op, Outcome, Session};
use std::{fmt, rc::Rc, sync::Arc};
use tokio_postgres::Statement;

/// One session: a connection, or the right to ask a pool for one.
pub struct PgSession {
    work: Arc<Scripted>,
    link: Link,
    scratch: Scratch,
    /// A statement was sent whose answer nobody waited for.
    busy: bool,
}

#[derive(Debug)]
pub(crate) enum Link {
    Own { connection: Box<Connection>, prepared: Vec<Statement> },
    Pooled { pool: Rc<WorkerPool>, prepared: Vec<Statement> },
    Closed,
}

impl PgSession {
    pub(crate) fn new(work: Arc<Scripted>, link: Link, scratch: Scratch) -> PgSession {
        PgSession { work, link, scratch, busy: false }
    }
}

impl Session for PgSession {
    async fn call(&mut self, op: &mut Op) -> Outcome {
        let PgSession { work, link, scratch, busy } = self;
        work.script.draw(op.rng(), &mut scratch.values);
        let started = if work.is_timed() { op.clock().now() } else { 0 };
        match link {
            Link::Own { connection, prepared } => {
                let client = connection.client();
                if client.is_closed() {
                    return Err(closed_before(connection.lost()));
                }
                *busy = true;
                let outcome = Transaction { work, client, prepared, scratch }.run(op, started).await;
                *busy = is_unusable(&outcome);
                outcome
            }
            Link::Pooled { pool, prepared } => {
                let lent = pool.lend().await?;
                let lent_at = op.clock().now();
                op.step("pool_wait", lent_at - started);
                prepared.clear();
                if work.protocol == Protocol::Prepared {
                    for statement in &work.script.statements {
                        // Prepared when the connection was opened; a look into the cache is all.
                        let known = lent.prepare_cached(&statement.sql).await;
                        prepared.push(known.map_err(|e| Meaning::of(&e).failure(e))?);
                    }
                }
                let outcome = Transaction { work, client: &lent, prepared, scratch }.run(op, lent_at).await;
                prepared.clear();
                if !is_unusable(&outcome) {
                    lent.good();
                }
                outcome
            }
            Link::Closed => Err(closed_before(None)),
        }
    }

    async fn close(mut self) {
        // Nothing is left for `drop` to do.
        let link = std::mem::replace(&mut self.link, Link::Closed);
        if let Link::Own { connection, prepared } = link {
            drop(prepared);
            connection.close().await;
        }
    }
}

/// A session that ends in the middle of a statement leaves nothing running on the server.
impl Drop for PgSession {
    fn drop(&mut self) {
        if let Link::Own { connection, .. } = &self.link
            && self.busy
            && !connection.client().is_closed()
        {
            connection.canceller().cancel_in_background();
        }
    }
}

/// Whether the connection is lost, or the server may still be at it.
fn is_unusable(outcome: &Outcome) -> bool {
    outcome.as_ref().is_err_and(Failure::needs_reconnect)
}

impl fmt::Debug for PgSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PgSession").field("link", &self.link).finish_non_exhaustive()
    }
}
