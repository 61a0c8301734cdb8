//! The two traits that a workload implements.

use crate::{ConfigError, Failure, NullTargetError, Nulled, Op, Outcome};
use std::{future::Future, sync::Arc, time::Duration};

/// A kind of work. One value is shared by all workers; it makes a [`Session`] for each connection's worth of load.
///
/// Write `async fn connect` in your `impl`: nothing here needs to be `Send` but the workload itself, as a session is
/// born, lives and dies on one thread.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a workload",
    note = "implement `Workload`, or use `workload(async |op| ..)` or `with_session(async |id| .., async |conn, op| ..)` \
            (async closures: `async |op|`, not `|op| async move`)"
)]
pub trait Workload: Send + Sync + 'static {
    /// What does the calls; may be `!Send`, and so may its futures.
    type Session: Session;

    /// Opens a session, on the worker where it will live. Called again when a session is lost
    /// ([`Failure::reconnect`]), after a back-off that starts at 1 ms and is bounded.
    ///
    /// Connecting is counted and timed apart from operations; steps marked on `op` show how long its parts took. They stand
    /// among the stream's steps in the record, so give them names that operations do not use.
    ///
    /// # Errors
    /// A [`Failure`] says why not. When no session of a stream connects, the run does not start.
    fn connect(&self, id: &SessionId, op: &mut Op) -> impl Future<Output = Result<Self::Session, Failure>>;

    /// What the workload does, in a few words for reports and for the plan's hash: `"GET /index.html, keep-alive"`.
    /// Without addresses and ports, which differ from run to run (say those as a fact), and without secrets.
    fn describe(&self) -> String {
        "custom workload".into()
    }

    /// Checks the workload's settings. Plans ask before anything connects.
    ///
    /// # Errors
    /// Names the first setting that cannot be meant, and its value.
    fn validate(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    /// This workload pointed at a null target: a server of this process, on a thread of its own, that does nothing but
    /// answer, so that an operation takes `delay` on top of what it costs the client (zero: as fast as can be). An
    /// operation that asks several times splits the delay. It is how the engine measures what this client can do
    /// ([calibration](crate::guide::reading_a_verdict)), so the session must do the same work as it does against the
    /// real server, and `describe` must say the same.
    ///
    /// `None`, the default: there is no null target, and the rules that need one are "not measured". Protocol crates
    /// bring theirs; [`calibrated`](crate::calibrated) gives one to a workload of one's own.
    ///
    /// # Errors
    /// When the target could not be started.
    fn null_target(&self, delay: Duration) -> Result<Option<Nulled<Self>>, NullTargetError>
    where
        Self: Sized,
    {
        let _ = delay;
        Ok(None)
    }
}

/// One connection's worth of work: one operation at a time.
///
/// For each operation the engine asks [`prepare`](Session::prepare), then [`call`](Session::call), and in a closed loop
/// [`think`](Session::think). A panic in any of them is caught and counted as a failure of class
/// [`Panic`](crate::Class::Panic), of the operation that ran (code `"in an operation"`), or among the failed connects when
/// none did (in `connect`, `prepare`, `close`: `"outside of an operation"`), and a new session follows. The first message
/// is the failure's example. That needs `panic = "unwind"`, the default, in the profile of the program.
pub trait Session: 'static {
    /// One operation. The engine times it, from just before the call to its end.
    ///
    /// A future that is dropped before its end (the drain limit) must leave nothing behind that counts.
    fn call(&mut self, op: &mut Op) -> impl Future<Output = Outcome>;

    /// Untimed work for the next operation, done before the session waits for its arrival: [`Op::rng`] may be used,
    /// [`Op::seq`] is not known yet. In a closed loop it falls between two operations.
    fn prepare(&mut self, op: &mut Op) {
        let _ = op;
    }

    /// How long a user of this session would think before the next operation. Asked after each operation of a closed
    /// loop; the pause counts neither as in flight nor in any time of an operation. In an open loop the schedule says
    /// when operations start, and this is not asked. See [`think`](crate::think).
    fn think(&mut self, op: &mut Op) -> Option<Duration> {
        let _ = op;
        None
    }

    /// Ends the session in good order.
    fn close(self) -> impl Future<Output = ()>
    where
        Self: Sized,
    {
        async {}
    }
}

/// A workload that several streams share.
impl<W: Workload> Workload for Arc<W> {
    type Session = W::Session;

    async fn connect(&self, id: &SessionId, op: &mut Op) -> Result<W::Session, Failure> {
        W::connect(self, id, op).await
    }

    fn describe(&self) -> String {
        W::describe(self)
    }

    fn validate(&self) -> Result<(), ConfigError> {
        W::validate(self)
    }

    fn null_target(&self, delay: Duration) -> Result<Option<Nulled<Self>>, NullTargetError> {
        Ok(W::null_target(self, delay)?.map(|nulled| nulled.map(Arc::new)))
    }
}

/// Which session is being opened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionId {
    index: usize,
    total: usize,
    worker: usize,
    seed: u64,
}

impl SessionId {
    /// For engines and for tests of workloads.
    pub fn new(index: usize, total: usize, worker: usize, seed: u64) -> SessionId {
        SessionId { index, total, worker, seed }
    }

    /// The number of the session in its stream, from 0. Sessions that [`Overload::Expand`](crate::Overload::Expand) adds
    /// have numbers from [`total`](SessionId::total) on.
    pub fn index(&self) -> usize {
        self.index
    }

    /// How many sessions the stream was asked to have.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The number of the worker on which it lives.
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// The seed of its random numbers.
    pub fn seed(&self) -> u64 {
        self.seed
    }
}
