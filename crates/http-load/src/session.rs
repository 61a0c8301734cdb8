//! A session: one connection at a time, and the operations on it.

use crate::{
    connection::{Broken, Connection},
    deadline::Deadline,
    fault::{self, Step},
    http::Shared,
    status,
};
use hyper::HeaderMap;
use load_core::{Class, Failure, Op, Outcome, Session};
use std::sync::Arc;

/// A session of [`Http`](crate::Http).
#[derive(Debug)]
pub struct HttpSession {
    shared: Arc<Shared>,
    deadline: Deadline,
    /// Which of the host's addresses to try first.
    address: usize,
    connection: Option<Connection>,
    /// Set while an exchange runs: if it still is when the next begins, that exchange was dropped half way.
    busy: bool,
    /// The header map of the last answer, for the next request.
    headers: HeaderMap,
}

impl HttpSession {
    pub(crate) fn new(shared: Arc<Shared>, deadline: Deadline, address: usize) -> HttpSession {
        HttpSession { shared, deadline, address, connection: None, busy: false, headers: HeaderMap::new() }
    }

    /// Opens the session: connects, unless each operation does so itself.
    pub(crate) async fn first_connection(&mut self, op: &mut Op) -> Result<(), Failure> {
        self.deadline.start();
        op.fact("protocol", "HTTP/1.1");
        if self.shared.keep_alive {
            self.connect(op).await?;
        }
        if let Some(addresses) = self.shared.addresses.shown() {
            op.fact("address", addresses);
        }
        Ok(())
    }

    async fn connect(&mut self, op: &mut Op) -> Result<(), Failure> {
        let shared = &self.shared;
        let (stream, address) = shared.addresses.connect(self.address, op, &mut self.deadline).await?;
        self.address = address;
        op.count("connections_opened", 1);
        let connection = Connection::over(stream, shared.template.body.len()).await;
        self.connection = Some(connection.map_err(|e| fault::broken(Step::FirstByte, false, &e, &[]))?);
        Ok(())
    }

    /// Ends an exchange: what it moved is counted, whatever came of it.
    fn count_traffic(&self, op: &mut Op, (read, written): (u64, u64)) {
        if let Some(Connection { traffic, .. }) = &self.connection {
            op.bytes_in((traffic.read.get() - read) as usize);
            op.bytes_out((traffic.written.get() - written) as usize);
        }
    }

    fn answered(&mut self, status: u16, op: &mut Op, body_bytes: u64) -> Outcome {
        if self.shared.statuses.contains(status) {
            op.count("body_bytes", body_bytes);
            Ok(())
        } else {
            Err(Failure::new(Class::Status, status::code(status)))
        }
    }
}

impl Session for HttpSession {
    async fn call(&mut self, op: &mut Op) -> Outcome {
        self.deadline.start();
        if self.busy {
            self.connection = None;
        }
        let mut may_repeat = true;
        loop {
            if self.connection.is_none() {
                self.busy = false;
                self.connect(op).await?;
            }
            let template = &self.shared.template;
            let request = template.request(std::mem::take(&mut self.headers));
            let connection = self.connection.as_mut().expect("just connected");
            let before = (connection.traffic.read.get(), connection.traffic.written.get());
            self.busy = true;
            let result = connection.exchange(request, op, &mut self.deadline).await;
            self.busy = false;
            self.count_traffic(op, before);
            let broken = match result {
                Ok(answer) => {
                    self.headers = answer.headers;
                    let connection = self.connection.as_mut().expect("it was just used");
                    if !connection.settle().await {
                        // The rest of the request would still be sent; the server has no use for it.
                        op.count("early_answers", 1);
                        self.connection = None;
                    } else if !self.shared.keep_alive || !connection.is_open() {
                        self.connection = None;
                    }
                    return self.answered(answer.status.as_u16(), op, answer.body_bytes);
                }
                Err(broken) => broken,
            };
            let used_before = self.connection.take().is_some_and(|c| c.answers > 0);
            match broken {
                // The server had closed the connection while it was idle. Nothing was sent, so nothing is sent twice.
                Broken::Unsent(request, _) if used_before && may_repeat => {
                    self.headers = request.into_parts().0.headers;
                    op.count("stale_replaced", 1);
                }
                // The same, but the request crossed the closing on the way.
                Broken::Ended(Step::FirstByte, ..)
                    if used_before && may_repeat && template.is_idempotent() =>
                {
                    op.count("stale_repeated", 1);
                    op.mark("stale");
                }
                Broken::Unsent(_, error) => {
                    return Err(fault::broken(Step::FirstByte, false, &error, &[]));
                }
                Broken::Ended(step, error, rest) => return Err(fault::broken(step, true, &error, &rest)),
                Broken::TimedOut(step) => {
                    return Err(fault::timed_out(step.name(), self.deadline.limit(), true));
                }
            }
            may_repeat = false;
        }
    }
}
