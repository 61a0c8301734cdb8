//! A session: one connection at a time, and the operations on it.

#[cfg(feature = "tls")]
use crate::{connection::Stream, tls};
use crate::{
    connection::{Answer, Broken, Connection},
    deadline::Deadline,
    fault::{self, Step},
    http::Shared,
    reply::Reply,
};
use hyper::HeaderMap;
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
    /// Whether the request that was sent last may be sent twice (RFC 9110, section 9.2.2).
    idempotent: bool,
    /// The header map of the last answer, for the next request.
    headers: HeaderMap,
    /// The body of the answer, when a check needs it.
    body: Vec<u8>,
}

impl HttpSession {
    pub(crate) fn new(shared: Arc<Shared>, deadline: Deadline, index: usize) -> HttpSession {
        HttpSession {
            shared,
            deadline,
            index,
            address: index,
            connection: None,
            told: false,
            busy: false,
            idempotent: false,
            headers: HeaderMap::new(),
            body: Vec::new(),
        }
    }

    /// Opens the session: connects, unless each operation does so itself.
    pub(crate) async fn first_connection(&mut self, op: &mut Op) -> Result<(), Failure> {
        self.deadline.start();
        if self.shared.keep_alive { self.connect(op).await } else { Ok(()) }
    }

    /// Opens a connection; the first says what was agreed on.
    async fn connect(&mut self, op: &mut Op) -> Result<(), Failure> {
        let HttpSession { shared, deadline, .. } = self;
        let first = !std::mem::replace(&mut self.told, true);
        let (stream, address) = shared.addresses.connect(self.address, op, deadline).await?;
        self.address = address;
        op.count("connections_opened", 1);
        #[cfg(feature = "tls")]
        let stream = match &shared.handshakes {
            None => stream,
            Some(handshakes) => {
                let host = &shared.addresses.target().host;
                let stream = handshakes.shake(host, stream, op, deadline).await?;
                if first {
                    op.fact("tls", tls::agreed(&stream));
                }
                Stream::Tls(Box::new(stream))
            }
        };
        if first {
            op.fact("protocol", "HTTP/1.1");
            op.fact("address", shared.addresses.shown().unwrap_or_default());
        }
        let connection = Connection::over(stream, shared.copies_bodies()).await;
        self.connection = Some(connection.map_err(|e| fault::broken(Step::FirstByte, false, &e, &[]))?);
        Ok(())
    }

    /// The body of one answer; there must be a check that needs it.
    pub(crate) async fn fetch(&mut self, op: &mut Op) -> Result<Vec<u8>, Failure> {
        let now = op.clock().now();
        op.begin(now, 0);
        self.call(op).await?;
        Ok(std::mem::take(&mut self.body))
    }

    /// Sends the next request on the open connection and takes in its answer.
    async fn exchange(&mut self, op: &mut Op) -> Result<Answer, Broken> {
        let HttpSession { shared, deadline, index, connection, idempotent, headers, body, .. } = self;
        let request = shared.requests.next(std::mem::take(headers), op, *index);
        *idempotent = request.method().is_idempotent();
        let connection = connection.as_mut().expect("it was just seen to be open");
        let keep = shared.checks.need_body().then(|| {
            body.clear();
            body
        });
        let (read, written) = (connection.traffic.read.get(), connection.traffic.written.get());
        let result = connection.exchange(request, keep, op, deadline).await;
        op.bytes_in((connection.traffic.read.get() - read) as usize);
        op.bytes_out((connection.traffic.written.get() - written) as usize);
        result
    }

    /// Decides what becomes of the connection, and what the answer is worth.
    fn answered(&mut self, answer: Answer, op: &mut Op) -> Outcome {
        if let Some(connection) = &mut self.connection {
            let early = !connection.sent_all();
            if early {
                // The rest of the request would still have to be sent; the server has no use for it.
                op.count("early_answers", 1);
            }
            let used_up = connection.answers >= self.shared.answers_per_connection;
            if early || used_up || !self.shared.keep_alive || !connection.is_open() {
                self.connection = None;
            }
        }
        let Answer { status, headers, body_bytes } = answer;
        self.headers = headers;
        let reply = Reply { status, headers: &self.headers, body: &self.body, body_bytes };
        self.shared.checks.judge(&reply)?;
        op.count("body_bytes", body_bytes);
        Ok(())
    }
}

impl Session for HttpSession {
    async fn call(&mut self, op: &mut Op) -> Outcome {
        self.deadline.start();
        if std::mem::replace(&mut self.busy, true) {
            self.connection = None;
        }
        // So that a request that is repeated is the same.
        let rng = op.rng().clone();
        let mut may_repeat = true;
        let outcome = loop {
            if self.connection.is_none()
                && let Err(failure) = self.connect(op).await
            {
                break Err(failure);
            }
            let broken = match self.exchange(op).await {
                Ok(answer) => break self.answered(answer, op),
                Err(broken) => broken,
            };
            let used_before = self.connection.take().is_some_and(|c| c.answers > 0);
            match broken {
                // The server had closed the connection while it was idle. Nothing was sent, so nothing is sent twice.
                Broken::Unsent(_) if used_before && may_repeat => op.count("stale_replaced", 1),
                // The same, but the request crossed the closing on the way.
                Broken::Ended(Step::FirstByte, ..) if used_before && may_repeat && self.idempotent => {
                    op.count("stale_repeated", 1);
                    op.mark("stale");
                }
                Broken::Unsent(error) => break Err(fault::broken(Step::FirstByte, false, &error, &[])),
                Broken::Ended(step, error, rest) => break Err(fault::broken(step, true, &error, &rest)),
                Broken::TimedOut(step) => {
                    break Err(fault::timed_out(step.name(), self.deadline.limit(), true));
                }
            }
            may_repeat = false;
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
