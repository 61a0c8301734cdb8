//! What comes of an exchange: for the operation, and for the connection.

use super::HttpSession;
use crate::{
    connection::{Answer, Broken, Connection},
    fault::{self, Step},
    reply::Reply,
};
use load_core::{Failure, Op, Outcome};

/// How often a server may turn the same request away, unread, before that counts as a failure.
const REFUSALS: u32 = 5;

impl HttpSession {
    /// Decides what becomes of the connection, and what the answer is worth.
    pub(super) fn answered(&mut self, op: &mut Op) -> Outcome {
        if let Some(connection) = &mut self.connection {
            let early = !connection.sent_all();
            if early {
                // The rest of the request would still have to be sent; the server has no use for it.
                op.count("early_answers", 1);
            }
            let used_up = connection.answers() >= self.shared.answers_per_connection;
            if used_up {
                connection.retire();
            }
            let early = early && !connection.is_shared();
            if early || used_up || !self.shared.keep_alive || !connection.is_open() {
                self.connection = None;
            }
        }
        let Answer { status, headers, body_bytes, kept, .. } = &self.answer;
        let body_bytes = *body_bytes;
        self.shared.checks.judge(&Reply { status: *status, headers, body: kept, body_bytes })?;
        op.count("body_bytes", body_bytes);
        Ok(())
    }

    /// After an exchange without a complete answer: the failure that it is, or nothing when the request may be sent again.
    #[cold]
    pub(super) fn give_up_or_repeat(
        &mut self,
        broken: Broken,
        repeats: u32,
        op: &mut Op,
    ) -> Result<(), Failure> {
        let shared = self.connection.as_ref().is_some_and(Connection::is_shared);
        let used_before = self.connection.as_ref().is_some_and(|c| c.answers() > 0);
        let mut lost = true;
        let result = match broken {
            // The server had closed the connection while it was idle. Nothing was sent, so nothing is sent twice.
            Broken::Unsent(_) if used_before && (repeats == 0 || shared && repeats < REFUSALS) => {
                op.count("stale_replaced", 1);
                Ok(())
            }
            // The same, but the request crossed the closing on the way.
            Broken::Ended(Step::FirstByte, failure)
                if failure.needs_reconnect() && used_before && repeats == 0 && self.answer.idempotent =>
            {
                op.count("stale_repeated", 1);
                op.mark("stale");
                Ok(())
            }
            #[cfg(feature = "http2")]
            Broken::Refused(_) if repeats < REFUSALS => {
                op.count("refused_repeated", 1);
                op.mark("refused");
                Ok(())
            }
            #[cfg(feature = "http2")]
            Broken::GoingAway(_) if repeats < REFUSALS && self.answer.idempotent => {
                op.count("refused_repeated", 1);
                op.mark("refused");
                Ok(())
            }
            Broken::Unsent(failure) => Err(failure),
            #[cfg(feature = "http2")]
            Broken::Refused(failure) => Err(failure),
            #[cfg(feature = "http2")]
            Broken::GoingAway(failure) => Err(failure.unknown_outcome()),
            Broken::Ended(_, failure) => {
                lost = failure.needs_reconnect();
                Err(failure.unknown_outcome())
            }
            Broken::TimedOut(step) => {
                lost = !shared;
                let mut failure = fault::timed_out(step.name(), self.deadline.limit(), true);
                failure.set_consequences(lost, true);
                Err(failure)
            }
        };
        if lost {
            self.connection = None;
        }
        result
    }
}
