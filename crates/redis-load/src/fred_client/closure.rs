//! A closure over a fred client.

use super::Connected;
use crate::{Redis, Target};
use fred::clients::Client;
use load_core::{Failure, Op, Outcome, Session, SessionId, Workload};
use std::fmt;

impl Redis {
    /// A workload of your own on a [fred] client: each session has one, connected with settings for measuring.
    ///
    /// Keys are the closure's business: take them from [`Space::key`](crate::Space::key), which makes them the run's own.
    ///
    /// ```no_run
    /// use redis_load::{Redis, Target, fred::prelude::*};
    ///
    /// # fn space() -> redis_load::Space { unimplemented!() }
    /// let space = space();
    /// let board = space.key("board");
    /// let load = Redis::with_fred(space.target(), async move |client, op| {
    ///     let added: i64 = client.zadd(&board, None, None, false, false, (op.seq() as f64, op.seq())).await?;
    ///     op.count("added", added as u64);
    ///     Ok(())
    /// });
    /// ```
    pub fn with_fred<F>(target: &Target, call: F) -> FredLoad<F>
    where
        F: AsyncFnMut(&Client, &mut Op) -> Outcome + Clone + Send + Sync + 'static,
    {
        FredLoad { target: target.clone(), call }
    }
}

/// A closure over a fred client, as a workload. See [`Redis::with_fred`].
#[derive(Clone)]
pub struct FredLoad<F> {
    target: Target,
    call: F,
}

impl<F> fmt::Debug for FredLoad<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FredLoad").field("target", &self.target).finish_non_exhaustive()
    }
}

impl<F> Workload for FredLoad<F>
where
    F: AsyncFnMut(&Client, &mut Op) -> Outcome + Clone + Send + Sync + 'static,
{
    type Session = FredSession<F>;

    fn describe(&self) -> String {
        format!("redis closure, {} client, {}", crate::Client::Fred, self.target.spoken())
    }

    async fn connect(&self, _: &SessionId, op: &mut Op) -> Result<FredSession<F>, Failure> {
        op.fact("client", crate::Client::Fred.to_string());
        op.fact("protocol", self.target.spoken());
        op.fact("server", self.target.to_string());
        op.fact("timed", "the whole of the closure, queues of the client fred among it");
        let connected = Connected::open(&self.target, op).await?;
        Ok(FredSession { connected, call: self.call.clone() })
    }
}

/// A session of [`FredLoad`].
pub struct FredSession<F> {
    connected: Connected,
    call: F,
}

impl<F> fmt::Debug for FredSession<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FredSession")
    }
}

impl<F: AsyncFnMut(&Client, &mut Op) -> Outcome + 'static> Session for FredSession<F> {
    async fn call(&mut self, op: &mut Op) -> Outcome {
        if self.connected.is_lost() {
            return Err(Connected::lost_before());
        }
        (self.call)(&self.connected.client, op).await
    }
}
