//! The workloads: what is executed, how, and on which connections.

use crate::{
    Connection, Error, Pool, Protocol, Script, Server,
    classify::classify,
    execute::Scratch,
    pool::{PoolStatus, WorkerPool},
    script::Int,
    session::{Link, PgSession},
    settings::Settings,
    tries::can_be_retried,
};
use load_core::{ConfigError, Failure, Op, SessionId, Workload};
#[cfg(target_os = "linux")]
use load_core::{NullTargetError, Nulled};
use std::{fmt, sync::Arc, time::Duration};

/// A workload of a [`Script`]: each operation executes its statements once, to the end.
///
/// ```no_run
/// use pg_load::{Postgres, Protocol, Server};
/// use std::time::Duration;
/// let server = Server::parse("postgres://bench@127.0.0.1/bench")?;
/// let tpcb = Postgres::tpcb(&server, 10)?
///     .protocol(Protocol::Prepared)?
///     .max_tries(5)?
///     .statement_timeout(Duration::from_secs(5))?;
/// # Ok::<(), pg_load::Error>(())
/// ```
///
/// Each session has a connection of its own, as pgbench's clients have, unless [`pool`](Postgres::pool) says otherwise.
#[derive(Clone)]
pub struct Postgres {
    shared: Arc<Scripted>,
}

/// What all sessions read.
#[derive(Debug, Clone)]
pub(crate) struct Scripted {
    pub(crate) settings: Settings,
    pub(crate) script: Script,
    pub(crate) protocol: Protocol,
    pub(crate) pipelined: bool,
    /// Whether each statement's time is a step.
    pub(crate) steps: bool,
}

impl Postgres {
    /// pgbench's TPC-B-like transaction on data of this scale; see [`Script::tpcb`].
    ///
    /// # Errors
    /// [`Error::Config`]: a scale of 0, or settings of the server that cannot be meant.
    pub fn tpcb(server: &Server, scale: u32) -> Result<Postgres, Error> {
        Postgres::script(server, Script::tpcb(scale)?)
    }

    /// pgbench's `simple-update`; see [`Script::simple_update`].
    ///
    /// # Errors
    /// As [`tpcb`](Postgres::tpcb).
    pub fn simple_update(server: &Server, scale: u32) -> Result<Postgres, Error> {
        Postgres::script(server, Script::simple_update(scale)?)
    }

    /// pgbench's `select-only`; see [`Script::select_only`].
    ///
    /// # Errors
    /// As [`tpcb`](Postgres::tpcb).
    pub fn select_only(server: &Server, scale: u32) -> Result<Postgres, Error> {
        Postgres::script(server, Script::select_only(scale)?)
    }

    /// Statements of your own.
    ///
    /// # Errors
    /// [`Error::Config`]: no statement, a transaction that is left open, or settings of the server that cannot be meant.
    pub fn script(server: &Server, script: Script) -> Result<Postgres, Error> {
        script.validate()?;
        let settings = Settings::new(server)?;
        let shared =
            Scripted { settings, script, protocol: Protocol::default(), pipelined: false, steps: false };
        Ok(Postgres { shared: Arc::new(shared) }.with(|_| ())?)
    }

    fn with(mut self, change: impl FnOnce(&mut Scripted)) -> Result<Postgres, ConfigError> {
        let shared = Arc::make_mut(&mut self.shared);
        change(shared);
        // The one statement of an operation that does nothing else takes what the operation takes.
        let tells = shared.script.statements.len() > 1 || shared.settings.pool.is_some();
        shared.steps = tells && !shared.pipelined && shared.script.has_room_for_steps();
        let Scripted { settings, script, protocol, pipelined, .. } = &*self.shared;
        if *pipelined && !protocol.can_pipeline() {
            return Err(ConfigError::invalid("pipelined", true, "the simple protocol cannot"));
        }
        if settings.max_tries > 1 && !can_be_retried(script, *pipelined) {
            let why = "pipelined, only a script that is one transaction can be tried again";
            return Err(ConfigError::invalid("max_tries", settings.max_tries, why));
        }
        Ok(self)
    }

    /// Sets how statements are sent; prepared unless told otherwise.
    ///
    /// # Errors
    /// When it is `Simple` and the statements are [`pipelined`](Postgres::pipelined).
    pub fn protocol(self, protocol: Protocol) -> Result<Postgres, ConfigError> {
        self.with(|s| s.protocol = protocol)
    }

    /// Sends all statements of an operation at once instead of waiting for each answer. What comes out is comparable only
    /// with pgbench's own `\startpipeline`, which syncs once for all of them where this does after each. Statements have
    /// no steps then.
    ///
    /// # Errors
    /// With the simple protocol, and when more than one try is allowed of a script that is not a single transaction.
    pub fn pipelined(self, yes: bool) -> Result<Postgres, ConfigError> {
        self.with(|s| s.pipelined = yes)
    }

    /// Sets how often a transaction is tried at most: again after a serialization failure (SQLSTATE 40001) or a deadlock
    /// (40P01), with the same values, as pgbench's `--max-tries` does; 1 unless told otherwise. The operation's time runs
    /// from the first try; what failed tries took is its step `failed_tries`. Counters: `retried` (operations) and
    /// `retries`.
    ///
    /// # Errors
    /// When it is 0, or pipelined and the script is not a single transaction.
    pub fn max_tries(self, tries: u32) -> Result<Postgres, ConfigError> {
        if tries == 0 {
            return Err(ConfigError::invalid("max_tries", tries, "at least 1"));
        }
        self.with(|s| s.settings.max_tries = tries)
    }

    /// Sets pgbench's `--latency-limit`: operations that succeed later than this after they were due (their response time:
    /// with what they waited for a session) count as `late`, and none is tried again after it. Skipping what is late
    /// before it starts is the load's business: `Overload::SkipLate`.
    ///
    /// # Errors
    /// When the limit is 0.
    pub fn latency_limit(self, limit: Duration) -> Result<Postgres, ConfigError> {
        let limit = Settings::limit("latency_limit", limit)?;
        self.with(|s| s.settings.latency_limit = Some(limit))
    }

    /// Sets the limit of each statement (pipelined: of all together); 30 s unless told otherwise, `None` for ever. When it
    /// is over the statement is cancelled on the server, its connection thrown away, and the operation failed with class
    /// `timeout` and unknown outcome.
    ///
    /// # Errors
    /// When the limit is 0.
    pub fn statement_timeout(self, limit: impl Into<Option<Duration>>) -> Result<Postgres, ConfigError> {
        let limit = limit.into().map(|l| Settings::limit("statement_timeout", l)).transpose()?;
        self.with(|s| s.settings.statement_timeout = limit)
    }

    /// The state of the workload's pools as a source, for a sampler; all zeros without a [`pool`](Postgres::pool).
    pub fn pool_status(&self) -> PoolStatus {
        PoolStatus(self.shared.settings.found.clone())
    }

    /// The same workload on another server.
    ///
    /// # Errors
    /// [`Error::Config`]: settings of the server that cannot be meant.
    pub fn against(&self, server: &Server) -> Result<Postgres, Error> {
        let mut shared = (*self.shared).clone();
        let Settings { server, found, .. } = Settings::new(server)?;
        shared.settings = Settings { server, found, ..shared.settings };
        Ok(Postgres { shared: Arc::new(shared) })
    }

    pub(crate) fn script_ref(&self) -> &Script {
        &self.shared.script
    }

    /// How often an operation waits for the server.
    pub(crate) fn round_trips(&self) -> u32 {
        let Scripted { script, pipelined, .. } = &*self.shared;
        if *pipelined { 1 } else { u32::try_from(script.statements.len()).unwrap_or(u32::MAX).max(1) }
    }

    /// Takes a connection out of a pool for each operation, instead of one connection for each session.
    ///
    /// # Errors
    /// None so far.
    pub fn pool(self, pool: Pool) -> Result<Postgres, ConfigError> {
        self.with(|s| s.settings.pool = Some(pool))
    }
}

impl Scripted {
    /// Whether the clock has to be read when an operation begins.
    pub(crate) fn is_timed(&self) -> bool {
        let settings = &self.settings;
        self.steps || settings.pool.is_some() || settings.max_tries > 1 || settings.latency_limit.is_some()
    }

    async fn connect_own(&self, id: &SessionId, op: &mut Op) -> Result<Link, Error> {
        let connection = self.settings.server.connect().await?;
        op.mark("connect");
        self.settings.look(&connection, id, self.script.data, op).await?;
        op.mark("look");
        let prepared =
            if self.protocol == Protocol::Prepared { self.prepare(&connection).await? } else { vec![] };
        op.mark("prepare");
        Ok(Link::Own { connection: Box::new(connection), prepared })
    }

    async fn connect_pooled(&self, pool: &Pool, id: &SessionId, op: &mut Op) -> Result<Link, Failure> {
        if !self.settings.is_checked() {
            let connection = self.settings.server.connect().await?;
            self.settings.look(&connection, id, self.script.data, op).await?;
            if self.protocol == Protocol::Prepared {
                self.prepare(&connection).await?;
            }
            connection.close().await;
            op.mark("look");
        } else {
            self.settings.recall(id, self.script.data, op);
        }
        let prepares = self.protocol == Protocol::Prepared;
        let statements = self.script.statements.iter().filter(|_| prepares).map(|s| s.sql.clone()).collect();
        let pool = WorkerPool::of_worker(&self.settings, pool, statements)?;
        // A session that gets no connection at all is not open.
        pool.lend().await?.good();
        op.mark("connect");
        Ok(Link::Pooled { pool, prepared: Vec::new() })
    }

    async fn prepare(&self, connection: &Connection) -> Result<Vec<tokio_postgres::Statement>, Error> {
        let mut prepared = Vec::with_capacity(self.script.statements.len());
        for statement in &self.script.statements {
            let name = statement.name;
            let made = connection.client().prepare(&statement.sql).await;
            let made = made.map_err(|cause| Error::InScript { statement: name, cause })?;
            if let Some(position) = made.params().iter().position(|ty| !Int::fits(ty)) {
                let variable = self.script.variable_name(statement.parameters[position]).to_owned();
                let ty = made.params()[position].to_string();
                return Err(Error::Parameter { statement: name, position: position + 1, variable, ty });
            }
            prepared.push(made);
        }
        Ok(prepared)
    }
}

impl Workload for Postgres {
    type Session = PgSession;

    async fn connect(&self, id: &SessionId, op: &mut Op) -> Result<PgSession, Failure> {
        let shared = &self.shared;
        op.fact("postgres_protocol", shared.protocol.name());
        let link = match &shared.settings.pool {
            None => {
                shared.connect_own(id, op).await.map_err(|e| Failure::from(shared.settings.explain(e, id)))
            }
            Some(pool) => shared.connect_pooled(pool, id, op).await,
        };
        let link = link.map_err(|mut failure| {
            failure.classify(&[classify]);
            failure
        })?;
        Ok(PgSession::new(shared.clone(), link, Scratch::new(shared.settings.statement_timeout)))
    }

    fn describe(&self) -> String {
        self.shared.describe()
    }

    #[cfg(target_os = "linux")]
    fn null_target(&self, delay: Duration) -> Result<Option<Nulled<Postgres>>, NullTargetError> {
        self.nulled(delay).map(Some)
    }
}

impl Scripted {
    fn describe(&self) -> String {
        let Scripted { settings, script, protocol, pipelined, .. } = self;
        let mut text = script.name.clone();
        if let Some((scale, _)) = script.data {
            text = format!("{text}, scale {scale}");
        }
        text = format!("{text}, {}", protocol.name());
        if *pipelined {
            text.push_str(", pipelined");
        }
        if settings.max_tries > 1 {
            text = format!("{text}, at most {} tries", settings.max_tries);
        }
        match &settings.pool {
            Some(pool) => format!("{text}, pool of {} for each worker", pool.size()),
            None => format!("{text}, one connection for each session"),
        }
    }
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Postgres({}: {})", self.shared.settings.server, self.shared.describe())
    }
}
