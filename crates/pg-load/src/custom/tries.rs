//! A closure's operation: limited, rolled back, tried again.

use crate::{
    Error,
    classify::{classify, may_be_retried},
    deadline::Deadline,
    settings::Settings,
};
use load_core::{Class, Failure, Op, Outcome};
use std::{error::Error as StdError, pin::pin, time::Duration};
use tokio_postgres::Client;

/// Limits of a session's operations.
pub(super) struct Tries {
    max: u32,
    limit: Duration,
    deadline: Deadline,
}

pub(super) enum Next {
    Again,
    Done(Outcome),
}

impl Tries {
    pub(super) fn new(settings: &Settings) -> Tries {
        let limit = settings.statement_timeout;
        Tries { max: settings.max_tries, limit: limit.unwrap_or_default(), deadline: Deadline::new(limit) }
    }

    pub(super) async fn limited(&mut self, call: impl Future<Output = Outcome>) -> Outcome {
        let Some(outcome) = self.deadline.within(pin!(call)).await else {
            let late = Error::Timeout { what: "operation".into(), after: self.limit };
            return Err(Failure::new(Class::Timeout, "operation")
                .with_source(late)
                .unknown_outcome()
                .reconnect());
        };
        outcome.map_err(classified)
    }

    /// After a try: what is left of its transaction is rolled back.
    pub(super) async fn leave(&mut self, client: &Client, outcome: Outcome, used: u32) -> Next {
        let Err(mut failure) = outcome else { return Next::Done(Ok(())) };
        if failure.needs_reconnect() {
            return Next::Done(Err(failure));
        }
        let rolled_back = self.deadline.within(pin!(client.batch_execute("ROLLBACK"))).await;
        if !matches!(rolled_back, Some(Ok(()))) {
            failure = failure.reconnect();
        } else if used < self.max && is_conflict(&failure) {
            return Next::Again;
        }
        Next::Done(Err(failure))
    }
}

pub(super) fn count(op: &mut Op, used: u32) {
    if used > 1 {
        op.count("retried", 1);
        op.count("retries", u64::from(used - 1));
    }
}

pub(super) fn classified(mut failure: Failure) -> Failure {
    failure.classify(&[classify]);
    failure
}

fn is_conflict(failure: &Failure) -> bool {
    let mut next: Option<&(dyn StdError + 'static)> = failure.source();
    while let Some(error) = next {
        if error.downcast_ref::<tokio_postgres::Error>().is_some_and(may_be_retried) {
            return true;
        }
        next = error.source();
    }
    false
}

/// Commits the transaction of a closure, and says so only if there was one to commit: the server answers `COMMIT` of an
/// aborted transaction with a friendly `ROLLBACK`, which the client does not tell from success. Costs no further round trip.
///
/// # Errors
/// SQLSTATE 25P02 when the transaction was aborted; it is rolled back then. Else what the commit itself fails with.
pub async fn commit(client: &Client) -> Outcome {
    // In an aborted transaction the first fails, and the second is not looked at.
    match client.batch_execute("SELECT 1; COMMIT").await {
        Ok(()) => Ok(()),
        Err(error) => {
            let failure = classified(error.into());
            if !failure.needs_reconnect() {
                client.batch_execute("ROLLBACK").await?;
            }
            Err(failure)
        }
    }
}
