//! A session: one connection at a time, and the operations on it.

mod connect;
mod outcome;

use crate::{
    connection::{Answer, Ask, Connection},
    deadline::Deadline,
    http::Shared,
};
use load_core::{Failure, Op, Outcome, Session};
use std::{fmt, sync::Arc};

/// A session of [`Http`](crate::Http).
pub struct HttpSession {
    shared: Arc<Shared>,
    deadline: Deadline,
    index: usize,
    /// Which of the host's addresses to try first.
    address: usize,
    connection: Option<Connection>,
    /// Whether the facts of a connection were told.
    told: bool,
    /// Set while an exchange runs: if it still is when the next begins, that exchange was dropped half way.
    busy: bool,
    answer: Answer,
}

impl HttpSession {
    pub(crate) fn new(shared: Arc<Shared>, deadline: Deadline, index: usize) -> HttpSession {
        let answer = Answer { keeps: shared.checks.need_body(), ..Answer::default() };
        HttpSession {
            shared,
            deadline,
            index,
            address: index,
            connection: None,
            told: false,
            busy: false,
            answer,
        }
    }

    /// The body of one answer; there must be a check that needs it.
    pub(crate) async fn fetch(&mut self, op: &mut Op) -> Result<Vec<u8>, Failure> {
        let now = op.clock().now();
        op.begin(now, 0);
        self.call(op).await?;
        Ok(std::mem::take(&mut self.answer.kept))
    }
}

impl Session for HttpSession {
    async fn call(&mut self, op: &mut Op) -> Outcome {
        // The operation's own start, or that of its part in a sequence.
        self.deadline.start(op.marked_at());
        if std::mem::replace(&mut self.busy, true)
            && !self.connection.as_ref().is_some_and(Connection::is_shared)
        {
            self.connection = None;
        }
        // So that a request that is repeated is the same.
        let rng = op.rng().clone();
        let mut repeats = 0;
        let outcome = loop {
            if self.connection.is_none()
                && let Err(failure) = self.connect(op).await
            {
                break Err(failure);
            }
            let HttpSession { shared, deadline, index, connection, answer, .. } = self;
            let connection = connection.as_mut().expect("just seen or made");
            let ask = Ask { requests: &shared.requests, session: *index };
            let result = connection.exchange(ask, answer, op, deadline).await;
            let Err(broken) = result else { break self.answered(op) };
            if let Err(failure) = self.give_up_or_repeat(broken, repeats, op) {
                break Err(failure);
            }
            repeats += 1;
            op.rng().clone_from(&rng);
        };
        self.busy = false;
        outcome
    }
}

impl fmt::Debug for HttpSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSession")
            .field("shared", &self.shared)
            .field("index", &self.index)
            .field("connection", &self.connection)
            .finish_non_exhaustive()
    }
}
