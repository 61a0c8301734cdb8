//! Drives a workload by hand: one session, no engine, no runtime.

use load_core::{Clock, Failure, Names, Op, Outcome, Session, SessionId, VirtualTime, Workload};
use std::{collections::BTreeMap, pin::pin, rc::Rc, task, task::Poll, time::Duration};

/// One session of a workload on virtual time.
pub(crate) struct ByHand<S> {
    pub(crate) session: S,
    pub(crate) op: Op,
    pub(crate) names: Rc<Names>,
    pub(crate) time: VirtualTime,
    seq: u64,
}

/// What was said of one operation.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Heard {
    pub(crate) kind: Option<&'static str>,
    pub(crate) steps: Vec<(&'static str, u64)>,
    pub(crate) counts: BTreeMap<&'static str, u64>,
    pub(crate) bytes_in: u64,
}

impl<S: Session> ByHand<S> {
    /// Connects session `index` of ten with this seed.
    pub(crate) fn connect<W: Workload<Session = S>>(
        workload: &W,
        index: usize,
        seed: u64,
        time: &VirtualTime,
    ) -> Result<ByHand<S>, Failure> {
        let names = Rc::new(Names::default());
        let mut op = Op::for_session(Clock::Virtual(time.clone()), names.clone(), seed);
        op.begin(time.now(), 0);
        let id = SessionId::new(index, 10, 0, seed);
        let session = block_on(time, workload.connect(&id, &mut op))?;
        Ok(ByHand { session, op, names, time: time.clone(), seq: 0 })
    }

    /// One operation, prepared as an engine does.
    pub(crate) fn call(&mut self) -> (Outcome, Heard) {
        self.session.prepare(&mut self.op);
        self.op.begin(self.time.now(), self.seq);
        self.seq += 1;
        let outcome = block_on(&self.time, self.session.call(&mut self.op));
        (outcome, self.heard())
    }

    pub(crate) fn heard(&self) -> Heard {
        let (said, names) = (self.op.said(), self.names.all());
        let name = |id: u8| names[usize::from(id)];
        Heard {
            kind: said.kind.map(name),
            steps: said.steps.iter().map(|(id, ns)| (name(*id), *ns)).collect(),
            counts: said.counts.iter().map(|(id, n)| (name(*id), *n)).collect(),
            bytes_in: said.bytes_in,
        }
    }

    pub(crate) fn think(&mut self) -> Option<Duration> {
        self.session.think(&mut self.op)
    }

    pub(crate) fn close(self) {
        block_on(&self.time, self.session.close());
    }
}

/// Runs a future to its end; when it waits, virtual time goes on.
pub(crate) fn block_on<T>(time: &VirtualTime, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = task::Context::from_waker(task::Waker::noop());
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
            return result;
        }
        assert!(time.advance(), "the future waits for nothing");
    }
}
