//! A script's transaction, tried again as pgbench does it.

use crate::{
    classify::may_be_retried,
    execute::{Protocol, Scratch, Trouble},
    script::{Role, Script},
    workload::Scripted,
};
use load_core::{Class, Failure, Op, Outcome};
use std::{pin::pin, time::Duration};
use tokio_postgres::{Client, Statement};

/// One operation: the script's statements, on this connection, until they are done or given up.
pub(crate) struct Transaction<'a> {
    pub(crate) work: &'a Scripted,
    pub(crate) client: &'a Client,
    pub(crate) prepared: &'a [Statement],
    pub(crate) scratch: &'a mut Scratch,
}

/// Where and why an attempt ended, and in which transaction.
struct Stop {
    at: usize,
    trouble: Trouble,
    /// The number of the `BEGIN` whose transaction was open.
    open: Option<usize>,
}

impl Transaction<'_> {
    /// Runs it; steps and counters are said on `op`.
    pub(crate) async fn run(mut self, op: &mut Op, started: u64) -> Outcome {
        let settings = &self.work.settings;
        let script = &self.work.script;
        let (mut tries, mut from, mut lost_ns, mut rows) = (1, 0, 0, 0);
        let mut try_started = started;
        self.scratch.took.clear();
        self.scratch.took.resize(script.statements.len(), 0);
        let outcome = loop {
            let stop = match self.attempt(from, try_started, op, &mut rows).await {
                Ok(()) => break Ok(()),
                Err(stop) => stop,
            };
            let again = matches!(&stop.trouble, Trouble::Client(e) if may_be_retried(e));
            let restart = stop.open.unwrap_or(stop.at);
            if let Err(failure) = self.leave(stop).await {
                let now = op.clock().now();
                let in_time = !is_late(settings.latency_limit, op, now);
                if !(again && tries < settings.max_tries && in_time) || failure.needs_reconnect() {
                    break Err(failure);
                }
                // The values stay as they are: the same transaction is tried again.
                lost_ns += now - try_started;
                try_started = now;
                tries += 1;
                from = restart;
            }
        };
        if tries > 1 {
            op.count("retried", 1);
            op.count("retries", u64::from(tries - 1));
        }
        if outcome.is_ok() {
            self.tell(op, lost_ns, rows);
        }
        outcome
    }

    fn tell(&self, op: &mut Op, lost_ns: u64, rows: u64) {
        let settings = &self.work.settings;
        if self.work.steps {
            for (statement, ns) in self.work.script.statements.iter().zip(&self.scratch.took) {
                op.step(statement.name, *ns);
            }
        }
        if lost_ns > 0 {
            op.step("failed_tries", lost_ns);
        }
        op.count("rows", rows);
        if settings.latency_limit.is_some() && is_late(settings.latency_limit, op, op.clock().now()) {
            op.count("late", 1);
        }
    }

    /// Executes the statements from one on.
    async fn attempt(&mut self, from: usize, started: u64, op: &Op, rows: &mut u64) -> Result<(), Stop> {
        let Transaction { work, client, prepared, scratch } = self;
        if work.pipelined {
            let done = scratch.pipeline(client, work.protocol, &work.script, prepared).await;
            return match done {
                Ok(n) => {
                    *rows = n;
                    Ok(())
                }
                // What was open has ended with the pipeline.
                Err((at, trouble)) => Err(Stop { at, trouble, open: None }),
            };
        }
        let mut open = None;
        let mut last = started;
        for (at, statement) in work.script.statements.iter().enumerate().skip(from) {
            match scratch.execute(client, work.protocol, statement, prepared.get(at)).await {
                Ok(n) => *rows += n,
                Err(trouble) => return Err(Stop { at, trouble, open }),
            }
            match statement.role {
                Role::Begin => open = Some(at),
                Role::End => open = None,
                Role::Other => {}
            }
            if work.steps {
                let now = op.clock().now();
                scratch.took[at] = now - last;
                last = now;
            }
        }
        Ok(())
    }

    /// Makes a failure of it and leaves the connection as if the transaction had never been, if it is still good.
    async fn leave(&mut self, stop: Stop) -> Outcome {
        let script = &self.work.script;
        let Stop { at, trouble, open } = stop;
        let statement = &script.statements[at];
        let mut failure = trouble.failure(statement.name);
        if failure.needs_reconnect() {
            // A transaction of which the end was not sent is gone with the connection.
            if !self.may_be_committed(at, open) {
                failure.set_consequences(true, false);
            }
            return Err(failure);
        }
        if open.is_some() && statement.role != Role::End {
            let rolled_back = self.scratch.deadline.within(pin!(self.client.batch_execute("ROLLBACK"))).await;
            if !matches!(rolled_back, Some(Ok(()))) {
                failure = failure.reconnect();
            }
        }
        Err(failure)
    }

    fn may_be_committed(&self, at: usize, open: Option<usize>) -> bool {
        self.work.pipelined || open.is_none() || self.work.script.statements[at].role == Role::End
    }
}

/// Whether more than this has passed at `now` since the operation was due: as pgbench has it, whatever it waited for counts.
fn is_late(limit: Option<Duration>, op: &Op, now: u64) -> bool {
    limit.is_some_and(|limit| u128::from(now.saturating_sub(op.intended())) > limit.as_nanos())
}

/// Whether a script can be tried again when its statements are sent all at once.
pub(crate) fn can_be_retried(script: &Script, pipelined: bool) -> bool {
    !pipelined || script.is_one_transaction()
}

/// A connection that was found closed before anything was sent on it.
pub(crate) fn closed_before(why: Option<&tokio_postgres::Error>) -> Failure {
    let code = why.and_then(|e| e.code()).map(|c| c.code().to_owned());
    let failure =
        Failure::new(Class::Closed, code.map_or("connection closed".into(), std::borrow::Cow::Owned))
            .reconnect();
    match why {
        Some(why) => failure.with_source(crate::Error::Lost { why: crate::classify::reason(why) }),
        None => failure,
    }
}

impl Protocol {
    /// Whether statements can be sent without waiting for the answers.
    pub(crate) fn can_pipeline(self) -> bool {
        self != Protocol::Simple
    }
}
