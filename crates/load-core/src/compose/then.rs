//! Two workloads, one after the other, as one operation.

use crate::{ConfigError, Failure, NullTargetError, Nulled, Op, Outcome, Session, SessionId, Workload};
use std::{fmt, time::Duration};

/// `first` and then `second` as one operation, which succeeds when both do and ends with the first failure. A session
/// has a session of each; a longer sequence is `then(then(a, b), c)`.
///
/// What both say is said of the one operation: bytes and counters add up, of [units](Op::units) and [kinds](Op::kind)
/// the last said counts. Give the parts names by [`named`](Then::named) to keep their steps apart and to have the
/// time of each part.
///
/// ```
/// use load_core::{then, workload};
/// let login = workload(async |op| { op.mark("hash"); Ok(()) });
/// let fetch = workload(async |op| { op.mark("parse"); Ok(()) });
/// // Steps: "login/hash", "login", "fetch/parse", "fetch".
/// let visit = then(login, fetch).named("login", "fetch");
/// ```
pub fn then<A: Workload, B: Workload>(first: A, second: B) -> Then<A, B> {
    Then { first, second, names: None }
}

/// See [`then`].
#[derive(Clone)]
pub struct Then<A, B> {
    first: A,
    second: B,
    names: Option<[&'static str; 2]>,
}

impl<A, B> Then<A, B> {
    /// Names the parts: the time of each is a step of that name, and what a part says by name stands under it.
    pub fn named(self, first: &'static str, second: &'static str) -> Then<A, B> {
        Then { names: Some([first, second]), ..self }
    }
}

impl<A, B> fmt::Debug for Then<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Then").field("names", &self.names).finish_non_exhaustive()
    }
}

impl<A: Workload, B: Workload> Workload for Then<A, B> {
    type Session = ThenSession<A::Session, B::Session>;

    async fn connect(&self, id: &SessionId, op: &mut Op) -> Result<Self::Session, Failure> {
        let Some(names) = self.names else {
            let first = self.first.connect(id, op).await?;
            op.restart_marks();
            let second = self.second.connect(id, op).await?;
            return Ok(ThenSession { first, second, names: None, prepared: false });
        };
        let first = self.first.connect(id, op.within(names[0]).op).await;
        let first = first.map_err(|failure| failure.in_part(names[0]))?;
        op.restart_marks();
        let second = self.second.connect(id, op.within(names[1]).op).await;
        let second = second.map_err(|failure| failure.in_part(names[1]))?;
        Ok(ThenSession { first, second, names: self.names, prepared: false })
    }

    fn describe(&self) -> String {
        format!("{}, then {}", self.first.describe(), self.second.describe())
    }

    fn validate(&self) -> Result<(), ConfigError> {
        self.first.validate()?;
        self.second.validate()
    }

    /// Each part takes half the delay, so that the operation takes the whole.
    fn null_target(&self, delay: Duration) -> Result<Option<Nulled<Self>>, NullTargetError> {
        let Some(first) = self.first.null_target(delay / 2)? else { return Ok(None) };
        let Some(second) = self.second.null_target(delay / 2)? else { return Ok(None) };
        let names = self.names;
        Ok(Some(first.and(second).map(|(first, second)| Then { first, second, names })))
    }
}

/// A session of [`then`].
pub struct ThenSession<A, B> {
    first: A,
    second: B,
    names: Option<[&'static str; 2]>,
    /// Whether the second is prepared for an operation that it has not done yet, because the first failed.
    prepared: bool,
}

impl<A, B> fmt::Debug for ThenSession<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThenSession").field("names", &self.names).finish_non_exhaustive()
    }
}

impl<A: Session, B: Session> Session for ThenSession<A, B> {
    async fn call(&mut self, op: &mut Op) -> Outcome {
        let Some([first, second]) = self.names else {
            self.first.call(op).await?;
            // Else the first step of the second would contain the first.
            op.restart_marks();
            self.prepared = false;
            return self.second.call(op).await;
        };
        let start = op.now_marked();
        let outcome = self.first.call(op.within(first).op).await;
        let between = op.now_marked();
        op.step(first, between.saturating_sub(start));
        outcome?;
        self.prepared = false;
        let outcome = self.second.call(op.within(second).op).await;
        let end = op.now_marked();
        op.step(second, end.saturating_sub(between));
        outcome
    }

    fn prepare(&mut self, op: &mut Op) {
        let second = !std::mem::replace(&mut self.prepared, true);
        match self.names {
            Some([name, _]) => self.first.prepare(op.within(name).op),
            None => self.first.prepare(op),
        }
        match self.names {
            _ if !second => {}
            Some([_, name]) => self.second.prepare(op.within(name).op),
            None => self.second.prepare(op),
        }
    }

    /// The second's, and when it has none the first's.
    fn think(&mut self, op: &mut Op) -> Option<Duration> {
        self.second.think(op).or_else(|| self.first.think(op))
    }

    async fn close(self) {
        self.first.close().await;
        self.second.close().await;
    }
}
