//! A workload with its name, type-erased once: a box for each session of a run, none for an operation.

use crate::worker::{Shared, run_session};
use load_core::{ConfigError, Load, NullGuard, NullTargetError, SessionId, Workload};
use std::{any::TypeId, fmt, future::Future, pin::Pin, rc::Rc, sync::Arc, time::Duration};

pub(crate) type SessionTask = Pin<Box<dyn Future<Output = ()>>>;
type Launch = Box<dyn Fn(SessionId, Rc<Shared>) -> SessionTask + Send + Sync>;
type Null = Box<dyn Fn(Duration) -> Result<Option<(Stream, NullGuard)>, NullTargetError> + Send + Sync>;

/// One workload of a plan.
pub(crate) struct Stream {
    name: String,
    workload: String,
    pub(crate) load: Load,
    launch: Launch,
    null: Null,
    kind: TypeId,
    checked: Result<(), ConfigError>,
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("name", &self.name).field("load", &self.load).finish_non_exhaustive()
    }
}

impl Stream {
    pub(crate) fn new<W: Workload>(name: String, workload: W, load: Load) -> Stream {
        let (text, checked) = (workload.describe(), workload.validate());
        let workload = Arc::new(workload);
        let (own, own_name, own_load) = (workload.clone(), name.clone(), load.clone());
        let launch: Launch = Box::new(move |id, shared| Box::pin(run_session(workload.clone(), id, shared)));
        let null: Null = Box::new(move |delay| {
            let Some(nulled) = W::null_target(&own, delay)? else { return Ok(None) };
            let (workload, guard) = nulled.into_parts();
            Ok(Some((Stream::new(own_name.clone(), workload, own_load.clone()), guard)))
        });
        Stream { name, workload: text, load, launch, null, kind: TypeId::of::<W>(), checked }
    }

    /// What the workload's own check of its settings said.
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        self.checked.clone()
    }

    /// The same workload pointed at a target that does nothing but answer after `delay`; `None` when it has none.
    pub(crate) fn nulled(&self, delay: Duration) -> Result<Option<(Stream, NullGuard)>, NullTargetError> {
        (self.null)(delay)
    }

    /// What makes two workloads the same for a calibration.
    pub(crate) fn kind(&self) -> (TypeId, String) {
        (self.kind, self.workload.clone())
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What the workload does, in words.
    pub(crate) fn workload(&self) -> &str {
        &self.workload
    }

    pub(crate) fn session(&self, id: SessionId, shared: Rc<Shared>) -> SessionTask {
        (self.launch)(id, shared)
    }
}
