//! Workloads of closures over the client.

mod session;
mod tries;

pub use session::{CustomPooledSession, CustomSession};
pub use tries::commit;

use crate::{
    Error, Pool, Server,
    pool::{PoolStatus, WorkerPool},
    settings::Settings,
};
use load_core::{ConfigError, Failure, Op, Outcome, SessionId, Workload};
use std::{fmt, marker::PhantomData, time::Duration};
use tokio_postgres::Client;
use tries::{Tries, classified};

/// A workload of two closures: `prepare` gets each new connection and makes what `call` needs of it (prepared statements),
/// `call` does one operation. Write `async |client, ready, op|`, not `|client, ready, op| async move`.
///
/// ```no_run
/// use pg_load::{Server, custom, tokio_postgres::Client};
/// let server = Server::parse("postgres://bench@127.0.0.1/bench")?;
/// let pages = custom(
///     &server,
///     async |client: &Client| Ok(client.prepare("SELECT body FROM page WHERE id = $1").await?),
///     async |client, select, op| {
///         let id = (op.seq() % 1000) as i32;
///         let row = client.query_one(&*select, &[&id]).await?;
///         op.bytes_in(row.try_get::<_, &[u8]>(0)?.len());
///         Ok(())
///     },
/// )?;
/// # Ok::<(), pg_load::Error>(())
/// ```
///
/// After a failure that leaves the connection usable, `ROLLBACK` is sent, so that no aborted transaction is in the next
/// operation's way. A closure that succeeds has ended its transaction itself, best by [`commit`]: what it leaves open goes on
/// in the next operation, and may be lost though it counts as done.
///
/// # Errors
/// [`Error::Config`]: settings of the server that cannot be meant.
pub fn custom<S, P, F>(server: &Server, prepare: P, call: F) -> Result<Custom<S, P, F>, Error>
where
    S: 'static,
    P: AsyncFn(&Client) -> Result<S, Failure> + Send + Sync + 'static,
    F: AsyncFn(&mut Client, &mut S, &mut Op) -> Outcome + Clone + Send + Sync + 'static,
{
    Ok(Custom { settings: Settings::new(server)?, prepare, call, ready: PhantomData })
}

/// The same with a connection out of a pool for each operation. The client is `deadpool_postgres`'s, whose
/// `prepare_cached` keeps statements for each connection. Waiting for it is the step `pool_wait`.
///
/// ```no_run
/// use pg_load::{Pool, Server, custom_pooled};
/// let server = Server::parse("postgres://bench@127.0.0.1/bench")?;
/// let pages = custom_pooled(&server, Pool::new(8)?, async |client, op| {
///     let select = client.prepare_cached("SELECT body FROM page WHERE id = $1").await?;
///     op.timed("select", client.query_one(&select, &[&1])).await?;
///     Ok(())
/// })?;
/// # Ok::<(), pg_load::Error>(())
/// ```
///
/// # Errors
/// As [`custom`].
pub fn custom_pooled<F>(server: &Server, pool: Pool, call: F) -> Result<CustomPooled<F>, Error>
where
    F: AsyncFn(&mut deadpool_postgres::Client, &mut Op) -> Outcome + Clone + Send + Sync + 'static,
{
    let settings = Settings { pool: Some(pool), ..Settings::new(server)? };
    Ok(CustomPooled { settings, call })
}

/// See [`custom`].
pub struct Custom<S, P, F> {
    settings: Settings,
    prepare: P,
    call: F,
    ready: PhantomData<fn() -> S>,
}

/// See [`custom_pooled`].
pub struct CustomPooled<F> {
    settings: Settings,
    call: F,
}

macro_rules! setters {
    ($($generics:ident),*; $name:ident) => {
        impl<$($generics),*> $name<$($generics),*> {
            /// Sets how often an operation is tried at most: again after a serialization failure (SQLSTATE 40001) or a
            /// deadlock (40P01), with the random numbers as they were; 1 unless told otherwise.
            ///
            /// # Errors
            /// When it is 0.
            pub fn max_tries(mut self, tries: u32) -> Result<Self, ConfigError> {
                if tries == 0 {
                    return Err(ConfigError::invalid("max_tries", tries, "at least 1"));
                }
                self.settings.max_tries = tries;
                Ok(self)
            }

            /// Sets the limit of each try of the closure; 30 s unless told otherwise, `None` for ever. When it is over, what
            /// runs is cancelled on the server and the connection thrown away.
            ///
            /// # Errors
            /// When the limit is 0.
            pub fn timeout(mut self, limit: impl Into<Option<Duration>>) -> Result<Self, ConfigError> {
                self.settings.statement_timeout = limit.into().map(|l| Settings::limit("timeout", l)).transpose()?;
                Ok(self)
            }
        }

        impl<$($generics),*> fmt::Debug for $name<$($generics),*> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.settings.server)
            }
        }
    };
}

setters!(S, P, F; Custom);
setters!(F; CustomPooled);

impl<F> CustomPooled<F> {
    /// The state of the workload's pools as a source, for a sampler.
    pub fn pool_status(&self) -> PoolStatus {
        PoolStatus(self.settings.found.clone())
    }
}

impl<S, P, F> Workload for Custom<S, P, F>
where
    S: 'static,
    P: AsyncFn(&Client) -> Result<S, Failure> + Send + Sync + 'static,
    F: AsyncFn(&mut Client, &mut S, &mut Op) -> Outcome + Clone + Send + Sync + 'static,
{
    type Session = CustomSession<S, F>;

    async fn connect(&self, id: &SessionId, op: &mut Op) -> Result<CustomSession<S, F>, Failure> {
        let opened = async {
            let connection = self.settings.server.connect().await?;
            op.mark("connect");
            self.settings.look(&connection, id, None, op).await?;
            op.mark("look");
            Ok(connection)
        };
        let connection = opened.await.map_err(|e| classified(self.settings.explain(e, id).into()))?;
        let ready = (self.prepare)(connection.client()).await.map_err(classified)?;
        op.mark("prepare");
        let tries = Tries::new(&self.settings);
        Ok(CustomSession { connection: Some(connection), ready, call: self.call.clone(), tries, busy: false })
    }

    fn describe(&self) -> String {
        "custom PostgreSQL workload, one connection for each session".into()
    }
}

impl<F> Workload for CustomPooled<F>
where
    F: AsyncFn(&mut deadpool_postgres::Client, &mut Op) -> Outcome + Clone + Send + Sync + 'static,
{
    type Session = CustomPooledSession<F>;

    async fn connect(&self, id: &SessionId, op: &mut Op) -> Result<CustomPooledSession<F>, Failure> {
        if !self.settings.is_checked() {
            let looked = async {
                let connection = self.settings.server.connect().await?;
                self.settings.look(&connection, id, None, op).await?;
                connection.close().await;
                Ok(())
            };
            looked.await.map_err(|e| classified(self.settings.explain(e, id).into()))?;
            op.mark("look");
        } else {
            self.settings.recall(id, None, op);
        }
        let pool = self.settings.pool.as_ref().expect("set when made");
        let pool =
            WorkerPool::of_worker(&self.settings, pool, Vec::new()).map_err(|e| classified(e.into()))?;
        pool.lend().await?.good();
        op.mark("connect");
        Ok(CustomPooledSession { pool, call: self.call.clone(), tries: Tries::new(&self.settings) })
    }

    fn describe(&self) -> String {
        let size = self.settings.pool.as_ref().map_or(0, Pool::size);
        format!("custom PostgreSQL workload, pool of {size} for each worker")
    }
}
