//! A workload with its name, type-erased once: a box for each session of a run, none for an operation.

use crate::worker::{Shared, run_session};
use load_core::{Load, SessionId, Workload};
use std::{fmt, future::Future, pin::Pin, rc::Rc, sync::Arc};

pub(crate) type SessionTask = Pin<Box<dyn Future<Output = ()>>>;
type Launch = Box<dyn Fn(SessionId, Rc<Shared>) -> SessionTask + Send + Sync>;

/// One workload of a plan.
pub(crate) struct Stream {
    name: String,
    workload: String,
    pub(crate) load: Load,
    launch: Launch,
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("name", &self.name).field("load", &self.load).finish_non_exhaustive()
    }
}

impl Stream {
    pub(crate) fn new<W: Workload>(name: String, workload: W, load: Load) -> Stream {
        let text = workload.describe();
        let workload = Arc::new(workload);
        let launch: Launch = Box::new(move |id, shared| Box::pin(run_session(workload.clone(), id, shared)));
        Stream { name, workload: text, load, launch }
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
