//! A session of the lean client: one connection, requests patched in place, answers walked over where they lie.

use crate::{
    commands::Batch,
    connection::{Connection, Exchanged},
    hits::HitWatch,
    keys::Sampler,
    plan::Plan,
    tally::Tally,
};
use load_core::{Failure, Op, Outcome};
use std::sync::Arc;

/// One connection's worth of requests.
#[derive(Debug)]
pub(crate) struct LeanSession {
    plan: Arc<Plan>,
    connection: Connection,
    batch: Batch,
    keys: Sampler,
    /// How many numbers one operation draws, for keys in sequence.
    draws: u64,
    /// The next requests are made, but for keys in sequence.
    ready: bool,
    hits: HitWatch,
}

impl LeanSession {
    pub(crate) async fn connect(plan: &Arc<Plan>, op: &mut Op) -> Result<LeanSession, Failure> {
        let mut connection = Connection::open(&plan.target, &mut |part| op.mark(part)).await?;
        connection.expect(plan.expected_bytes());
        let batch = plan.batch();
        Ok(LeanSession {
            connection,
            draws: batch.draws(),
            batch,
            keys: plan.sampler(),
            plan: Arc::clone(plan),
            ready: false,
            hits: HitWatch::default(),
        })
    }

    /// Makes the next requests outside of their time. Keys in sequence wait for the operation's number.
    #[inline]
    pub(crate) fn prepare(&mut self, op: &mut Op) {
        self.batch.make(op.rng());
        if !self.plan.keys.is_sequential() {
            self.batch.draw_keys(&mut self.keys, op.rng());
        }
        self.ready = true;
    }

    #[inline]
    pub(crate) async fn call(&mut self, op: &mut Op) -> Outcome {
        if !std::mem::take(&mut self.ready) {
            self.prepare(op);
            self.ready = false;
        }
        if self.plan.keys.is_sequential() {
            self.keys.go_to(op.seq().wrapping_mul(self.draws));
            self.batch.draw_keys(&mut self.keys, op.rng());
        }
        let count = self.plan.count(op.seq());
        if count == 0 {
            op.units(0);
            return Ok(());
        }
        let mut done = Exchanged::default();
        let mut tally = Tally::new(&self.plan, &self.batch.slots);
        let request = self.batch.outgoing(count);
        let result =
            self.connection.exchange(request, count, self.plan.target.timeout, &mut tally, &mut done).await;
        op.bytes_out(done.sent as usize);
        op.bytes_in(done.received as usize);
        match result {
            Ok(()) => tally.finish(op, count, &mut self.hits),
            Err(lost) => {
                tally.say(op, count);
                Err(lost.into_failure(done.sent))
            }
        }
    }
}
