//! Workloads from closures.

use crate::{Failure, Op, Outcome, Session, SessionId, Workload};
use std::{fmt, marker::PhantomData};

/// A workload without a connection: the closure is the operation. It is cloned for each session, so what it captures
/// by `move` is the session's own and may change.
///
/// Write `async |op|`, not `|op| async move { .. }`.
///
/// ```
/// use load_core::workload;
/// let mut calls = 0;
/// let counting = workload(async move |op| {
///     calls += 1;
///     op.units(calls);
///     Ok(())
/// });
/// ```
pub fn workload<F>(call: F) -> FnWorkload<F>
where
    F: AsyncFnMut(&mut Op) -> Outcome + Clone + Send + Sync + 'static,
{
    FnWorkload(call)
}

/// See [`workload`].
#[derive(Clone)]
pub struct FnWorkload<F>(F);

impl<F> fmt::Debug for FnWorkload<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FnWorkload")
    }
}

impl<F> Workload for FnWorkload<F>
where
    F: AsyncFnMut(&mut Op) -> Outcome + Clone + Send + Sync + 'static,
{
    type Session = FnSession<F>;

    async fn connect(&self, _: &SessionId, _: &mut Op) -> Result<FnSession<F>, Failure> {
        Ok(FnSession(self.0.clone()))
    }
}

/// A session of [`workload`].
pub struct FnSession<F>(F);

impl<F> fmt::Debug for FnSession<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FnSession")
    }
}

impl<F: AsyncFnMut(&mut Op) -> Outcome + 'static> Session for FnSession<F> {
    async fn call(&mut self, op: &mut Op) -> Outcome {
        (self.0)(op).await
    }
}

/// A workload of two closures: the first opens a session's connection, the second does one operation on it.
///
/// ```
/// use load_core::{SessionId, with_session};
/// let files = with_session(
///     async |id: &SessionId| Ok(format!("session {}", id.index())),
///     async |name, op| { op.bytes_out(name.len()); Ok(()) },
/// );
/// ```
pub fn with_session<S, C, F>(connect: C, call: F) -> WithSession<C, F, S>
where
    S: 'static,
    C: AsyncFn(&SessionId) -> Result<S, Failure> + Send + Sync + 'static,
    F: AsyncFn(&mut S, &mut Op) -> Outcome + Clone + Send + Sync + 'static,
{
    WithSession { connect, call, state: PhantomData }
}

/// See [`with_session`].
pub struct WithSession<C, F, S> {
    connect: C,
    call: F,
    state: PhantomData<fn() -> S>,
}

impl<C, F, S> fmt::Debug for WithSession<C, F, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WithSession")
    }
}

impl<S, C, F> Workload for WithSession<C, F, S>
where
    S: 'static,
    C: AsyncFn(&SessionId) -> Result<S, Failure> + Send + Sync + 'static,
    F: AsyncFn(&mut S, &mut Op) -> Outcome + Clone + Send + Sync + 'static,
{
    type Session = StateSession<S, F>;

    async fn connect(&self, id: &SessionId, _: &mut Op) -> Result<StateSession<S, F>, Failure> {
        Ok(StateSession { state: (self.connect)(id).await?, call: self.call.clone() })
    }
}

/// A session of [`with_session`].
pub struct StateSession<S, F> {
    state: S,
    call: F,
}

impl<S, F> fmt::Debug for StateSession<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateSession")
    }
}

impl<S: 'static, F: AsyncFn(&mut S, &mut Op) -> Outcome + 'static> Session for StateSession<S, F> {
    async fn call(&mut self, op: &mut Op) -> Outcome {
        (self.call)(&mut self.state, op).await
    }
}
