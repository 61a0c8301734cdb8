//! A database that is there for a run and gone after it.

mod make;
mod owner;
mod remove;
mod sweep;

pub use sweep::{LeftDatabase, SweptDatabases};

use crate::{Error, Server, connection::within};
use load_core::{ConfigError, record::Check};
use make::Unfinished;
use owner::Owner;
use remove::remove;
use std::{
    fmt,
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

/// Every name of a temporary database begins so.
const PREFIX: &str = "openloop_";
/// Limit for making or dropping one.
const LIMIT: Duration = Duration::from_secs(60);
/// Limit for dropping one that was not dropped by name.
const LAST_LIMIT: Duration = Duration::from_secs(10);

/// A database with a name of its own on a server of yours, which belongs to this process.
///
/// Drop it by [`remove`](TemporaryDatabase::remove), which says whether it is gone. One that is only dropped (on the way
/// out of an error or a panic) is removed too, blocking for at most ten seconds. What a killed process left is removed when
/// the next one is made, or by [`sweep`](TemporaryDatabase::sweep): who made a database stands in its comment. Nothing
/// else on the server is touched.
///
/// Ctrl-C kills a program that does not listen for it, and the database waits for the next one. To drop it at once, listen,
/// stop the run by its stopper, and come to the end as ever; a [`create`](TemporaryDatabase::create) that is dropped half-way
/// leaves nothing.
pub struct TemporaryDatabase {
    admin: Server,
    server: Server,
    name: String,
    held: Held,
}

/// What there is to remove when it is dropped.
enum Held {
    /// Perhaps nothing yet.
    Making(Unfinished),
    Ours,
    /// It is gone, or was tried and said.
    Nothing,
}

impl TemporaryDatabase {
    /// Makes one. `admin` is a database on the same server to connect to meanwhile, such as `postgres`; its role must be
    /// allowed to make databases. Removes what dead processes left, and says so by `tracing::warn`.
    ///
    /// # Errors
    /// [`Error::Connect`], [`Error::Statement`], [`Error::Timeout`].
    pub async fn create(admin: &Server) -> Result<TemporaryDatabase, Error> {
        TemporaryDatabase::make(admin, &owner::run_id()).await
    }

    /// The same with a run id of yours in its name.
    ///
    /// # Errors
    /// As [`create`](TemporaryDatabase::create); [`Error::Config`] unless the id is 1 to 32 lower-case letters and digits.
    pub async fn create_for_run(admin: &Server, run_id: &str) -> Result<TemporaryDatabase, Error> {
        let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        if !(1..=32).contains(&run_id.len()) || !run_id.bytes().all(good) {
            let why = "1 to 32 lower-case letters and digits";
            return Err(ConfigError::invalid("run_id", run_id, why).into());
        }
        TemporaryDatabase::make(admin, run_id).await
    }

    async fn make(admin: &Server, run_id: &str) -> Result<TemporaryDatabase, Error> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("{PREFIX}{run_id}_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let connection = admin.connect().await?;
        match sweep::sweep(&connection).await {
            Ok(swept) if swept.is_empty() => {}
            Ok(swept) => tracing::warn!("{}", swept.to_string().trim_end()),
            // What others left must not keep this run from working.
            Err(error) => tracing::warn!(%error, "databases that earlier runs left could not be looked for"),
        }
        let comment = Owner::this_process(run_id).to_comment();
        let made = make::make(admin, &connection, name.clone(), comment);
        let made = within(&format!("making database {name}"), LIMIT, made).await;
        connection.close().await;
        made
    }

    /// Removes the databases of processes that have ended without doing so. Those of living processes, of other machines,
    /// and all that do not bear our mark are left alone.
    ///
    /// # Errors
    /// [`Error::Connect`], [`Error::Statement`]. What could not be removed is no error, it is in the result.
    pub async fn sweep(admin: &Server) -> Result<SweptDatabases, Error> {
        let connection = admin.connect().await?;
        let swept = sweep::sweep(&connection).await;
        connection.close().await;
        swept
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How to connect to it.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Drops it, with whoever is still connected to it, and looks whether it is gone. The answer is the check
    /// `cleanup.postgres` for the record; when it did not pass, its detail says what is in the way, and the next run tries
    /// again.
    pub async fn remove(mut self) -> Check {
        let start = Instant::now();
        let removed =
            within(&format!("dropping database {}", self.name), LIMIT, remove(&self.admin, &self.name)).await;
        // Either way: trying again at once would not help.
        self.held = Held::Nothing;
        let (passed, detail) = match removed {
            Ok(()) => (true, format!("database {} is dropped", self.name)),
            Err(error) => (false, format!("database {} is left over: {error}", self.name)),
        };
        Check::new("cleanup.postgres", passed, start.elapsed().as_nanos() as u64, detail)
    }
}

impl fmt::Debug for TemporaryDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TemporaryDatabase({})", self.server)
    }
}

impl Drop for TemporaryDatabase {
    fn drop(&mut self) {
        let unfinished = match std::mem::replace(&mut self.held, Held::Nothing) {
            Held::Nothing => return,
            Held::Ours => None,
            Held::Making(unfinished) => Some(unfinished),
        };
        // A thread, for this one may be inside a runtime, or unwinding.
        let (admin, name) = (self.admin.clone(), self.name.clone());
        let run = move || -> Result<(), String> {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(|e| e.to_string())?;
            let removal = async {
                match unfinished {
                    Some(unfinished) => unfinished.remove(&admin, &name).await,
                    None => remove(&admin, &name).await,
                }
            };
            runtime.block_on(within("dropping it", LAST_LIMIT, removal)).map_err(|e| e.to_string())
        };
        let done =
            std::thread::Builder::new().name("pg-cleanup".into()).spawn(run).map(|thread| thread.join());
        match done {
            Ok(Ok(Ok(()))) => tracing::debug!(database = self.name, "dropped"),
            Ok(Ok(Err(error))) => {
                tracing::error!(database = self.name, error, "left over; the next run will drop it")
            }
            _ => tracing::error!(database = self.name, "left over; the next run will drop it"),
        }
    }
}
