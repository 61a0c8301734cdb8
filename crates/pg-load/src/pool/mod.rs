//! A deadpool of connections, shared by the sessions of a worker.

mod status;

pub use status::PoolStatus;

use crate::{Error, Server, classify::classify, connection::Way, settings::Settings};
use deadpool_postgres::{Hook, Manager, ManagerConfig, Object, RecyclingMethod, Runtime, Timeouts};
use load_core::{ConfigError, Failure};
use std::{
    cell::RefCell,
    fmt,
    future::Future,
    ops::{Deref, DerefMut},
    pin::Pin,
    rc::{Rc, Weak},
    sync::PoisonError,
    time::Duration,
};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Config};

/// What is done with a connection that comes back to the pool before it is lent again; deadpool's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Recycling {
    /// Looks whether it is closed; costs nothing.
    #[default]
    Fast,
    /// A round trip before each use.
    Verified,
    /// A round trip that also resets the session, but for prepared statements.
    Clean,
}

/// Settings of a `deadpool_postgres` pool.
///
/// A connection is served by the worker that opened it, so each worker has a pool of its own of this size. For a single
/// pool run the load on one worker. Waiting for a connection is the step `pool_wait` of an operation, and within its
/// response time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    size: usize,
    wait: Duration,
    recycling: Recycling,
}

impl Pool {
    /// A pool of so many connections for each worker. A session waits for one at most 30 s unless told otherwise.
    ///
    /// # Errors
    /// When the size is 0.
    pub fn new(size: usize) -> Result<Pool, ConfigError> {
        if size == 0 {
            return Err(ConfigError::invalid("pool.size", size, "at least one connection"));
        }
        Ok(Pool { size, wait: Duration::from_secs(30), recycling: Recycling::default() })
    }

    /// Sets how long a session waits for a connection; after that the operation fails with class `pool`.
    ///
    /// # Errors
    /// When the limit is 0.
    pub fn wait_timeout(mut self, limit: Duration) -> Result<Pool, ConfigError> {
        self.wait = Settings::limit("pool.wait_timeout", limit)?;
        Ok(self)
    }

    /// Sets what is done with a connection that comes back.
    pub fn recycling(mut self, recycling: Recycling) -> Pool {
        self.recycling = recycling;
        self
    }

    /// Connections for each worker.
    pub fn size(&self) -> usize {
        self.size
    }
}

/// The pool of one worker.
pub(crate) struct WorkerPool {
    pool: deadpool_postgres::Pool,
    way: Way,
}

thread_local! {
    /// The pools of this thread's workloads. A pool dies with its last session, before its runtime does.
    static POOLS: RefCell<Vec<(u64, Weak<WorkerPool>)>> = const { RefCell::new(Vec::new()) };
}

impl WorkerPool {
    /// This worker's pool for the workload, made if it is the first time. `statements` are prepared on each connection.
    pub(crate) fn of_worker(
        settings: &Settings,
        pool: &Pool,
        statements: Vec<String>,
    ) -> Result<Rc<WorkerPool>, Error> {
        let id = settings.found.id;
        let known = POOLS.with_borrow(|pools| {
            pools
                .iter()
                .find(|(i, pool)| *i == id && pool.strong_count() > 0)
                .and_then(|(_, pool)| pool.upgrade())
        });
        if let Some(known) = known {
            return Ok(known);
        }
        let made = Rc::new(WorkerPool::make(&settings.server, pool, statements)?);
        settings.found.pools.lock().unwrap_or_else(PoisonError::into_inner).push(made.pool.weak());
        POOLS.with_borrow_mut(|pools| {
            pools.retain(|(_, pool)| pool.strong_count() > 0);
            pools.push((id, Rc::downgrade(&made)));
        });
        Ok(made)
    }

    fn make(server: &Server, pool: &Pool, statements: Vec<String>) -> Result<WorkerPool, Error> {
        let way = Way::to(server)?;
        let recycling_method = match pool.recycling {
            Recycling::Fast => RecyclingMethod::Fast,
            Recycling::Verified => RecyclingMethod::Verified,
            Recycling::Clean => RecyclingMethod::Clean,
        };
        let manager = Manager::from_connect(
            way.config().clone(),
            Connector(way.clone()),
            ManagerConfig { recycling_method },
        );
        let limit = Some(server.connect_timeout());
        let timeouts = Timeouts { wait: Some(pool.wait), create: limit, recycle: limit };
        let mut builder = deadpool_postgres::Pool::builder(manager)
            .max_size(pool.size)
            .runtime(Runtime::Tokio1)
            .timeouts(timeouts);
        if !statements.is_empty() {
            builder = builder.post_create(Hook::async_fn(move |client, _| {
                let statements = statements.clone();
                Box::pin(async move {
                    for sql in statements {
                        client.prepare_cached(&sql).await.map_err(deadpool_postgres::HookError::Backend)?;
                    }
                    Ok(())
                })
            }));
        }
        let pool = builder.build().map_err(|e| ConfigError::invalid("pool", pool.size, e.to_string()))?;
        Ok(WorkerPool { pool, way })
    }

    /// A connection, waited for as long as the pool's limits allow.
    pub(crate) async fn lend(&self) -> Result<Lent<'_>, Failure> {
        match self.pool.get().await {
            Ok(object) => Ok(Lent { pool: self, object: Some(object), returns: false }),
            Err(error) => {
                let mut failure = Failure::from(error);
                failure.classify(&[classify]);
                Err(failure)
            }
        }
    }
}

impl fmt::Debug for WorkerPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkerPool({:?})", self.pool.status())
    }
}

/// Opens the pool's connections as all others are opened.
struct Connector(Way);

impl deadpool_postgres::Connect for Connector {
    fn connect(
        &self,
        _: &Config,
    ) -> Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), tokio_postgres::Error>> + Send + '_>>
    {
        Box::pin(async { Ok(self.0.open().await?.into_parts()) })
    }
}

/// A connection out of the pool. It goes back only when [`good`](Lent::good) was said: one whose statement was not waited
/// for to its end is cancelled and thrown away, for the next user would wait for that statement.
pub(crate) struct Lent<'a> {
    pool: &'a WorkerPool,
    object: Option<Object>,
    returns: bool,
}

impl Lent<'_> {
    /// It may go back to the pool.
    pub(crate) fn good(mut self) {
        self.returns = true;
    }
}

impl Deref for Lent<'_> {
    type Target = Object;

    fn deref(&self) -> &Object {
        self.object.as_ref().expect("there until dropped")
    }
}

impl DerefMut for Lent<'_> {
    fn deref_mut(&mut self) -> &mut Object {
        self.object.as_mut().expect("there until dropped")
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if self.returns {
            return;
        }
        if let Some(object) = self.object.take() {
            if !object.is_closed() {
                self.pool.way.canceller(&object).cancel_in_background();
            }
            drop(Object::take(object));
        }
    }
}
