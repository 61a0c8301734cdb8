//! A workload whose type is chosen at run time.

use crate::{ConfigError, Failure, NullTargetError, Nulled, Op, Outcome, Session, SessionId, Workload};
use std::{fmt, pin::Pin, sync::Arc, time::Duration};

/// Any workload under one type, for a choice made at run time: by a flag, or one of a list. Itself a workload; clones
/// share it.
///
/// Each operation costs one allocation, for its future; some 25 ns.
///
/// ```
/// use load_core::{BoxWorkload, mix, workload};
/// let heavy = std::env::args().any(|a| a == "--heavy");
/// let work = if heavy {
///     BoxWorkload::new(mix()
///         .arm("all", 1, workload(async |op| { op.units(1000); Ok(()) }))
///         .arm("one", 9, workload(async |_| Ok(()))))
/// } else {
///     BoxWorkload::new(workload(async |_| Ok(())))
/// };
/// ```
#[derive(Clone)]
pub struct BoxWorkload(Arc<dyn AnyWorkload>);

impl BoxWorkload {
    /// Boxes a workload.
    pub fn new(workload: impl Workload) -> BoxWorkload {
        BoxWorkload(Arc::new(workload))
    }
}

impl fmt::Debug for BoxWorkload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BoxWorkload({})", self.0.describe())
    }
}

impl Workload for BoxWorkload {
    type Session = BoxSession;

    async fn connect(&self, id: &SessionId, op: &mut Op) -> Result<BoxSession, Failure> {
        self.0.connect(id, op).await
    }

    fn describe(&self) -> String {
        self.0.describe()
    }

    fn validate(&self) -> Result<(), ConfigError> {
        self.0.validate()
    }

    fn null_target(&self, delay: Duration) -> Result<Option<Nulled<Self>>, NullTargetError> {
        self.0.null_target(delay)
    }
}

/// A session of a [`BoxWorkload`].
pub struct BoxSession(Box<dyn AnySession>);

impl fmt::Debug for BoxSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxSession")
    }
}

impl Session for BoxSession {
    async fn call(&mut self, op: &mut Op) -> Outcome {
        self.0.call(op).await
    }

    fn prepare(&mut self, op: &mut Op) {
        self.0.prepare(op);
    }

    fn think(&mut self, op: &mut Op) -> Option<Duration> {
        self.0.think(op)
    }

    async fn close(self) {
        self.0.close().await;
    }
}

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// [`Workload`] with its futures boxed, so that it can be a trait object.
trait AnyWorkload: Send + Sync {
    fn connect<'a>(&'a self, id: &'a SessionId, op: &'a mut Op) -> Boxed<'a, Result<BoxSession, Failure>>;
    fn describe(&self) -> String;
    fn validate(&self) -> Result<(), ConfigError>;
    fn null_target(&self, delay: Duration) -> Result<Option<Nulled<BoxWorkload>>, NullTargetError>;
}

impl<W: Workload> AnyWorkload for W {
    fn connect<'a>(&'a self, id: &'a SessionId, op: &'a mut Op) -> Boxed<'a, Result<BoxSession, Failure>> {
        Box::pin(async move { Ok(BoxSession(Box::new(W::connect(self, id, op).await?))) })
    }

    fn describe(&self) -> String {
        W::describe(self)
    }

    fn validate(&self) -> Result<(), ConfigError> {
        W::validate(self)
    }

    fn null_target(&self, delay: Duration) -> Result<Option<Nulled<BoxWorkload>>, NullTargetError> {
        Ok(W::null_target(self, delay)?.map(|nulled| nulled.map(BoxWorkload::new)))
    }
}

trait AnySession {
    fn call<'a>(&'a mut self, op: &'a mut Op) -> Boxed<'a, Outcome>;
    fn prepare(&mut self, op: &mut Op);
    fn think(&mut self, op: &mut Op) -> Option<Duration>;
    fn close(self: Box<Self>) -> Boxed<'static, ()>;
}

impl<S: Session> AnySession for S {
    fn call<'a>(&'a mut self, op: &'a mut Op) -> Boxed<'a, Outcome> {
        Box::pin(S::call(self, op))
    }

    fn prepare(&mut self, op: &mut Op) {
        S::prepare(self, op);
    }

    fn think(&mut self, op: &mut Op) -> Option<Duration> {
        S::think(self, op)
    }

    fn close(self: Box<Self>) -> Boxed<'static, ()> {
        Box::pin(S::close(*self))
    }
}
