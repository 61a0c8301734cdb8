//! The arms of a mix: a list of different types.

use crate::{ConfigError, Failure, NullTargetError, Nulled, Op, Outcome, Session, SessionId, Workload};
use std::{fmt, time::Duration};

/// A mix without arms.
#[derive(Debug, Clone, Copy)]
pub struct NoArms;

/// The last arm of a mix, and those before it.
#[derive(Clone)]
pub struct Arm<W, L> {
    name: &'static str,
    weight: u32,
    workload: W,
    before: L,
}

impl<W, L> Arm<W, L> {
    pub(super) fn new(name: &'static str, weight: u32, workload: W, before: L) -> Arm<W, L> {
        Arm { name, weight, workload, before }
    }
}

impl<W, L> fmt::Debug for Arm<W, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arm").field("name", &self.name).field("weight", &self.weight).finish_non_exhaustive()
    }
}

/// The list of a mix's arms: [`NoArms`] or [`Arm`]. Nothing else is one.
pub trait Arms: sealed::Sealed + Send + Sync + Sized + 'static {
    /// The sessions of all arms.
    type Sessions: ArmSessions;
    #[doc(hidden)]
    fn connect(&self, id: &SessionId, op: &mut Op) -> impl Future<Output = Result<Self::Sessions, Failure>>;
    #[doc(hidden)]
    fn each(&self, seen: &mut dyn FnMut(sealed::Seen<'_>));
    #[doc(hidden)]
    fn validate(&self) -> Result<(), ConfigError>;
    #[doc(hidden)]
    fn null_target(&self, delay: Duration) -> Result<Option<Nulled<Self>>, NullTargetError>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::NoArms {}
    impl<W, L> Sealed for super::Arm<W, L> {}

    /// What is to be known of an arm, whatever its type.
    #[allow(missing_debug_implementations)]
    pub struct Seen<'a> {
        pub name: &'static str,
        pub weight: u32,
        pub describe: &'a dyn Fn() -> String,
    }
}

/// The sessions of a mix's arms, by their number from the first.
pub trait ArmSessions: 'static {
    #[doc(hidden)]
    fn call(&mut self, arm: usize, op: &mut Op) -> impl Future<Output = Outcome>;
    #[doc(hidden)]
    fn prepare(&mut self, arm: usize, op: &mut Op);
    #[doc(hidden)]
    fn think(&mut self, arm: usize, op: &mut Op) -> Option<Duration>;
    #[doc(hidden)]
    fn close(self) -> impl Future<Output = ()>;
}

impl Arms for NoArms {
    type Sessions = NoArms;

    async fn connect(&self, _: &SessionId, _: &mut Op) -> Result<NoArms, Failure> {
        Ok(NoArms)
    }

    fn each(&self, _: &mut dyn FnMut(sealed::Seen<'_>)) {}

    fn validate(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    fn null_target(&self, _: Duration) -> Result<Option<Nulled<NoArms>>, NullTargetError> {
        Ok(Some(Nulled::new(NoArms, ())))
    }
}

const CHOSEN: &str = "the arm that was chosen is one of the list";

impl ArmSessions for NoArms {
    async fn call(&mut self, _: usize, _: &mut Op) -> Outcome {
        unreachable!("{CHOSEN}")
    }

    fn prepare(&mut self, _: usize, _: &mut Op) {}

    fn think(&mut self, _: usize, _: &mut Op) -> Option<Duration> {
        None
    }

    async fn close(self) {}
}

impl<W: Workload, L: Arms> Arms for Arm<W, L> {
    type Sessions = ArmSession<W::Session, L::Sessions>;

    async fn connect(&self, id: &SessionId, op: &mut Op) -> Result<Self::Sessions, Failure> {
        let before = self.before.connect(id, op).await?;
        let mut index = 0;
        self.before.each(&mut |_| index += 1);
        let session = self.workload.connect(id, op.within(self.name).op).await;
        let session = session.map_err(|failure| failure.in_part(self.name))?;
        Ok(ArmSession { name: self.name, index, session, before })
    }

    fn each(&self, seen: &mut dyn FnMut(sealed::Seen<'_>)) {
        self.before.each(seen);
        let describe = || self.workload.describe();
        seen(sealed::Seen { name: self.name, weight: self.weight, describe: &describe });
    }

    fn validate(&self) -> Result<(), ConfigError> {
        self.before.validate()?;
        self.workload.validate()
    }

    fn null_target(&self, delay: Duration) -> Result<Option<Nulled<Self>>, NullTargetError> {
        let Some(before) = self.before.null_target(delay)? else { return Ok(None) };
        let Some(workload) = self.workload.null_target(delay)? else { return Ok(None) };
        let (name, weight) = (self.name, self.weight);
        Ok(Some(before.and(workload).map(|(before, workload)| Arm { name, weight, workload, before })))
    }
}

/// The session of a mix's last arm, and those of the arms before it.
pub struct ArmSession<S, L> {
    name: &'static str,
    index: usize,
    session: S,
    before: L,
}

impl<S, L> fmt::Debug for ArmSession<S, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArmSession").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<S: Session, L: ArmSessions> ArmSessions for ArmSession<S, L> {
    async fn call(&mut self, arm: usize, op: &mut Op) -> Outcome {
        if arm != self.index {
            return self.before.call(arm, op).await;
        }
        op.kind(self.name);
        self.session.call(op.within(self.name).op).await
    }

    fn prepare(&mut self, arm: usize, op: &mut Op) {
        if arm != self.index {
            return self.before.prepare(arm, op);
        }
        self.session.prepare(op.within(self.name).op);
    }

    fn think(&mut self, arm: usize, op: &mut Op) -> Option<Duration> {
        if arm != self.index {
            return self.before.think(arm, op);
        }
        self.session.think(op.within(self.name).op)
    }

    async fn close(self) {
        self.before.close().await;
        self.session.close().await;
    }
}
