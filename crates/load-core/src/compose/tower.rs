//! Any tower service as a workload.

use crate::{Failure, Op, Outcome, Session, SessionId, Workload};
use std::{error::Error, fmt, future::poll_fn, marker::PhantomData};
use tower_service::Service;

/// A workload from any [`tower_service::Service`]: `make` makes a session's service, `request` makes each request,
/// and a response is a success. With [`response`](Tower::response) it is looked at.
///
/// Each operation waits until the service is ready, which is recorded as the step `"ready"` (a limit, a pool or a
/// reconnect shows there), then makes the request and calls. The making of the request is timed, so keep it cheap.
/// `request` is cloned for each session and may keep state.
///
/// ```
/// use load_core::{Failure, Op, SessionId, tower};
/// use std::{convert::Infallible, future::{Ready, ready}, task::{Context, Poll}};
///
/// struct Echo;
/// impl tower_service::Service<u64> for Echo {
///     type Response = u64;
///     type Error = Infallible;
///     type Future = Ready<Result<u64, Infallible>>;
///     fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> { Poll::Ready(Ok(())) }
///     fn call(&mut self, n: u64) -> Self::Future { ready(Ok(n)) }
/// }
///
/// let echo = tower(async |_: &SessionId| Ok(Echo), |op: &mut Op| op.seq())
///     .response(async |n, op| if n == op.seq() { Ok(()) } else { Err(Failure::check("another number")) });
/// ```
pub fn tower<S, Q, M, R>(make: M, request: R) -> Tower<S, Q, M, R, Ignore>
where
    S: Service<Q, Error: Into<Box<dyn Error + Send + Sync>>> + 'static,
    Q: 'static,
    M: AsyncFn(&SessionId) -> Result<S, Failure> + Send + Sync + 'static,
    R: FnMut(&mut Op) -> Q + Clone + Send + Sync + 'static,
{
    Tower { make, request, response: Ignore, types: PhantomData }
}

/// See [`tower`].
pub struct Tower<S, Q, M, R, L> {
    make: M,
    request: R,
    response: L,
    types: PhantomData<fn(Q) -> S>,
}

/// A session of [`tower`].
pub struct TowerSession<S, Q, R, L> {
    service: S,
    request: R,
    response: L,
    types: PhantomData<fn(Q)>,
}

/// Takes any response for a success.
#[derive(Debug, Clone, Copy)]
pub struct Ignore;

/// Asks a closure what a response is.
#[derive(Clone)]
pub struct Ask<F>(F);

impl<S: Service<Q>, Q, M, R> Tower<S, Q, M, R, Ignore> {
    /// Looks at each response: reads its body, counts its bytes, says whether it is a success. It is a part of the
    /// operation, so its time counts.
    pub fn response<F>(self, look: F) -> Tower<S, Q, M, R, Ask<F>>
    where
        F: AsyncFn(S::Response, &mut Op) -> Outcome + Clone + Send + Sync + 'static,
    {
        Tower { make: self.make, request: self.request, response: Ask(look), types: PhantomData }
    }
}

impl<S, Q, M, R, L> fmt::Debug for Tower<S, Q, M, R, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tower")
    }
}

impl<S, Q, R, L> fmt::Debug for TowerSession<S, Q, R, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TowerSession")
    }
}

impl<F> fmt::Debug for Ask<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ask")
    }
}

impl<S, Q, M, R, L> Workload for Tower<S, Q, M, R, L>
where
    S: Service<Q, Error: Into<Box<dyn Error + Send + Sync>>> + 'static,
    Q: 'static,
    M: AsyncFn(&SessionId) -> Result<S, Failure> + Send + Sync + 'static,
    R: FnMut(&mut Op) -> Q + Clone + Send + Sync + 'static,
    L: Look<S::Response>,
{
    type Session = TowerSession<S, Q, R, L>;

    async fn connect(&self, id: &SessionId, _: &mut Op) -> Result<Self::Session, Failure> {
        let service = (self.make)(id).await?;
        let (request, response) = (self.request.clone(), self.response.clone());
        Ok(TowerSession { service, request, response, types: PhantomData })
    }

    fn describe(&self) -> String {
        "tower service".into()
    }
}

impl<S, Q, R, L> Session for TowerSession<S, Q, R, L>
where
    S: Service<Q, Error: Into<Box<dyn Error + Send + Sync>>> + 'static,
    Q: 'static,
    R: FnMut(&mut Op) -> Q + 'static,
    L: Look<S::Response>,
{
    async fn call(&mut self, op: &mut Op) -> Outcome {
        let ready = poll_fn(|context| self.service.poll_ready(context)).await;
        op.mark("ready");
        // A service that fails to become ready is to be thrown away, says the trait's contract.
        ready.map_err(|e| Failure::boxed(e.into()).reconnect())?;
        let request = (self.request)(op);
        let response = self.service.call(request).await.map_err(|e| Failure::boxed(e.into()))?;
        self.response.look(response, op).await
    }
}

/// What becomes of a response: [`Ignore`] or [`Ask`]. Nothing else looks.
pub trait Look<T>: sealed::Sealed + Clone + Send + Sync + 'static {
    #[doc(hidden)]
    fn look(&self, response: T, op: &mut Op) -> impl Future<Output = Outcome>;
}

impl<T> Look<T> for Ignore {
    async fn look(&self, _: T, _: &mut Op) -> Outcome {
        Ok(())
    }
}

impl<T, F: AsyncFn(T, &mut Op) -> Outcome + Clone + Send + Sync + 'static> Look<T> for Ask<F> {
    async fn look(&self, response: T, op: &mut Op) -> Outcome {
        (self.0)(response, op).await
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Ignore {}
    impl<F> Sealed for super::Ask<F> {}
}
