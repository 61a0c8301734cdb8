//! What every workload of this crate can be told, and what its sessions find out together.

use crate::{Connection, Error, Pgbench, Pool, Server};
use deadpool_postgres::WeakPool;
use load_core::{ConfigError, Op, SessionId};
use std::{
    fmt,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

/// Limit of a statement unless told otherwise.
pub const STATEMENT_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) server: Server,
    pub(crate) statement_timeout: Option<Duration>,
    pub(crate) max_tries: u32,
    pub(crate) latency_limit: Option<Duration>,
    pub(crate) pool: Option<Pool>,
    pub(crate) found: Arc<Found>,
}

/// What the first sessions find out for all.
#[derive(Default)]
pub(crate) struct Found {
    /// Tells workloads apart where they share a thread.
    pub(crate) id: u64,
    checked: AtomicBool,
    /// The pools of all workers, to look at; locked when one is made, never for an operation.
    pub(crate) pools: Mutex<Vec<WeakPool>>,
    room: OnceLock<Room>,
    /// The server's version, and whether TLS is used.
    seen: OnceLock<(String, bool)>,
    /// What was warned of.
    warned: Mutex<Vec<String>>,
}

impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Found").field("room", &self.room).finish_non_exhaustive()
    }
}

/// How many connections the server lets in.
#[derive(Debug, Clone, Copy)]
struct Room {
    limit: i64,
    reserved: i64,
    used: i64,
}

impl Settings {
    pub(crate) fn new(server: &Server) -> Result<Settings, Error> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        server.validate()?;
        let found = Found { id: NEXT.fetch_add(1, Ordering::Relaxed), ..Found::default() };
        Ok(Settings {
            server: server.clone(),
            statement_timeout: Some(STATEMENT_TIMEOUT),
            max_tries: 1,
            latency_limit: None,
            pool: None,
            found: Arc::new(found),
        })
    }

    pub(crate) fn limit(field: &str, limit: Duration) -> Result<Duration, ConfigError> {
        if limit.is_zero() {
            return Err(ConfigError::invalid(field, "0 s", "a limit is above zero"));
        }
        Ok(limit)
    }

    /// Connections that all sessions will hold together.
    fn wanted(&self, id: &SessionId) -> usize {
        self.pool.as_ref().map_or(id.total(), |pool| pool.size())
    }

    /// Whether the data and the room for connections have been looked at.
    pub(crate) fn is_checked(&self) -> bool {
        self.found.checked.load(Ordering::Relaxed)
    }

    /// What is known of a connection, for the record, and (the first time) whether the server has what is needed.
    ///
    /// Sessions that connect at the same time each look: it takes some milliseconds before the load.
    pub(crate) async fn look(
        &self,
        connection: &Connection,
        id: &SessionId,
        data: Option<(u32, bool)>,
        op: &mut Op,
    ) -> Result<(), Error> {
        let _ = self.found.seen.set((connection.server_version().to_owned(), connection.is_encrypted()));
        op.fact("postgres_version", connection.server_version());
        op.fact("postgres_tls", if connection.is_encrypted() { "on" } else { "off" });
        if connection.server_version().starts_with(crate::null::VERSION) {
            return Ok(());
        }
        if !self.is_checked() {
            let _ = self.found.room.set(room(connection).await?);
            if let Some((scale, _)) = data {
                Pgbench::scale(scale)?.check_on(connection.client()).await?;
            }
            self.found.checked.store(true, Ordering::Relaxed);
        }
        self.tell(id, data, op);
        Ok(())
    }

    /// The same, of what was seen before, for a session that opens no connection to look at.
    pub(crate) fn recall(&self, id: &SessionId, data: Option<(u32, bool)>, op: &mut Op) {
        if let Some((version, encrypted)) = self.found.seen.get() {
            op.fact("postgres_version", version.as_str());
            op.fact("postgres_tls", if *encrypted { "on" } else { "off" });
        }
        self.tell(id, data, op);
    }

    /// What so many sessions mean for the server and the data: another number of them, another answer.
    fn tell(&self, id: &SessionId, data: Option<(u32, bool)>, op: &mut Op) {
        let wanted = self.wanted(id) as i64;
        if let Some(room) = self.found.room.get().filter(|room| wanted > room.limit - room.reserved) {
            let said = format!(
                "{wanted} connections are wanted; max_connections is {}, of which {} are reserved",
                room.limit, room.reserved
            );
            self.warn_once("postgres_connections", said, op);
        }
        if let Some((scale, true)) = data
            && wanted > i64::from(scale)
        {
            let said = format!(
                "{wanted} connections work on {scale} branch{}: transactions wait for each other's row locks, and that is \
                 what is measured",
                if scale == 1 { "" } else { "es" }
            );
            self.warn_once("postgres_contention", said, op);
        }
    }

    /// Once for all sessions, of which many connect at the same time.
    fn warn_once(&self, fact: &'static str, said: String, op: &mut Op) {
        let mut warned = self.found.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if !warned.contains(&said) {
            tracing::warn!("{said}");
            warned.push(said.clone());
        }
        op.fact(fact, said);
    }

    /// Tells what stands behind "too many clients", once that is known.
    pub(crate) fn explain(&self, error: Error, id: &SessionId) -> Error {
        match (error.sqlstate(), self.found.room.get()) {
            (Some("53300"), Some(&Room { limit, reserved, used })) => {
                let free = (limit - reserved - used).max(0);
                Error::TooManySessions { asked: self.wanted(id), free, limit, reserved, used }
            }
            _ => error,
        }
    }
}

async fn room(connection: &Connection) -> Result<Room, Error> {
    // Our own sessions may be among those in use: they bear the same name, and are not counted.
    let sql = "select current_setting('max_connections')::bigint, \
                      current_setting('superuser_reserved_connections')::bigint \
                      + coalesce(nullif(current_setting('reserved_connections', true), ''), '0')::bigint, \
                      (select count(*) from pg_stat_activity where backend_type = 'client backend' \
                       and application_name <> current_setting('application_name'))";
    let row = connection.client().query_typed_one(sql, &[]).await;
    let row = row.map_err(Error::statement("asking for the limit of connections"))?;
    Ok(Room { limit: row.get(0), reserved: row.get(1), used: row.get(2) })
}
