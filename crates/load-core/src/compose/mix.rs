//! One of several workloads for each operation.

use super::{
    arms::{Arm, ArmSessions, Arms, NoArms},
    choice::{Choice, Order},
};
use crate::{ConfigError, Failure, NullTargetError, Nulled, Op, Outcome, Session, SessionId, Workload};
use std::{fmt, time::Duration};

/// A mix of workloads: each operation is one arm's, chosen at random by weight. Arms are of any types, and a session
/// has a session of each; nothing is boxed.
///
/// An operation is of the [kind](Op::kind) that its arm is called, and what an arm says by name stands under the
/// arm's name, so that two arms with a step `"connect"` give `"read/connect"` and `"write/connect"`. Choices come
/// from [`Op::rng`]: the same seed gives the same ones, session by session.
///
/// When an arm's operation needs a new connection ([`Failure::reconnect`]), the whole session is opened anew.
///
/// ```
/// use load_core::{SessionId, mix, with_session, workload};
/// let read = with_session(
///     async |_: &SessionId| Ok(vec![7u8; 64]),
///     async |page, op| { op.bytes_in(page.len()); Ok(()) },
/// );
/// let write = workload(async |op| { op.mark("encode"); op.bytes_out(64); Ok(()) });
/// let both = mix().arm("read", 8, read).arm("write", 2, write);
/// ```
pub fn mix() -> Mix<NoArms> {
    Mix { arms: NoArms, order: Order::Random }
}

/// See [`mix`]. Without an arm it is no workload yet.
pub struct Mix<L> {
    arms: L,
    order: Order,
}

impl<L> Mix<L> {
    /// Adds an arm that is chosen `weight` times out of the sum of all weights.
    pub fn arm<W: Workload>(self, name: &'static str, weight: u32, workload: W) -> Mix<Arm<W, L>> {
        Mix { arms: Arm::new(name, weight, workload, self.arms), order: self.order }
    }

    /// Takes the arms in turn instead of at random, as evenly as their weights allow: 5, 1, 1 is a a b a c a a. The
    /// proportions are then exact and not only expected. Each session keeps its own turns, and they do not all begin
    /// with the same arm.
    pub fn in_turn(self) -> Mix<L> {
        Mix { order: Order::InTurn, ..self }
    }
}

impl<L> fmt::Debug for Mix<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mix").field("order", &self.order).finish_non_exhaustive()
    }
}

impl<W: Workload, L: Arms> Workload for Mix<Arm<W, L>> {
    type Session = MixSession<<Arm<W, L> as Arms>::Sessions>;

    async fn connect(&self, id: &SessionId, op: &mut Op) -> Result<Self::Session, Failure> {
        let mut weights = Vec::new();
        self.arms.each(&mut |arm| weights.push(arm.weight));
        // Among nothing there is no choice; plans have asked before, tests of a workload may not.
        self.validate()?;
        let arms = self.arms.connect(id, op).await?;
        Ok(MixSession { arms, choice: Choice::new(self.order, &weights, id.index()), next: None, last: 0 })
    }

    fn describe(&self) -> String {
        let mut arms = Vec::new();
        self.arms.each(&mut |arm| arms.push(format!("{} {} ({})", arm.weight, arm.name, (arm.describe)())));
        let order = if self.order == Order::InTurn { "mix in turn" } else { "mix" };
        format!("{order} of {}", arms.join(", "))
    }

    fn validate(&self) -> Result<(), ConfigError> {
        let mut names: Vec<&str> = Vec::new();
        let mut result = Ok(());
        self.arms.each(&mut |arm| {
            if arm.weight == 0 {
                let field = format!("mix.arm({}).weight", arm.name);
                result = Err(ConfigError::invalid(field, 0, "above zero"));
            } else if names.contains(&arm.name) {
                result = Err(ConfigError::invalid("mix.arm", arm.name, "another arm has this name"));
            }
            names.push(arm.name);
        });
        result.and_then(|()| self.arms.validate())
    }

    fn null_target(&self, delay: Duration) -> Result<Option<Nulled<Self>>, NullTargetError> {
        let arms = self.arms.null_target(delay)?;
        Ok(arms.map(|nulled| nulled.map(|arms| Mix { arms, order: self.order })))
    }
}

/// A session of a [`mix`].
pub struct MixSession<S> {
    arms: S,
    choice: Choice,
    next: Option<usize>,
    last: usize,
}

impl<S> fmt::Debug for MixSession<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MixSession")
    }
}

impl<S: ArmSessions> Session for MixSession<S> {
    async fn call(&mut self, op: &mut Op) -> Outcome {
        self.last = match self.next.take() {
            Some(arm) => arm,
            None => self.choice.next(op),
        };
        self.arms.call(self.last, op).await
    }

    fn prepare(&mut self, op: &mut Op) {
        if self.next.is_none() {
            let arm = self.choice.next(op);
            self.next = Some(arm);
            self.arms.prepare(arm, op);
        }
    }

    fn think(&mut self, op: &mut Op) -> Option<Duration> {
        self.arms.think(self.last, op)
    }

    async fn close(self) {
        self.arms.close().await;
    }
}
