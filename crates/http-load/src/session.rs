//! A session: one connection at a time, and the operations on it.

#[cfg(feature = "http2")]
use crate::connection::{Live, Seat};
#[cfg(feature = "tls")]
use crate::tls;
use crate::{
    connection::{Answer, Broken, Connection, One, Stream},
    deadline::Deadline,
    fault::{self, Step},
    http::Shared,
    reply::Reply,
};
use hyper::HeaderMap;
use load_core::{Failure, Op, Outcome, Session};
use std::{fmt, sync::Arc};

/// How often a server may turn the same request away, unread, before that counts as a failure.
const REFUSALS: u32 = 5;

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

    /// Opens a connection, or takes a seat on one that is shared.
    async fn connect(&mut self, op: &mut Op) -> Result<(), Failure> {
        #[cfg(feature = "http2")]
        if let Some(sessions) = self.shared.http2 {
            return self.sit_down(sessions, op).await;
        }
        let stream = self.dial(op).await?;
        let one = One::over(stream, self.shared.copies_bodies()).await?;
        self.connection = Some(Connection::One(Box::new(one)));
        Ok(())
    }

    #[cfg(feature = "http2")]
    async fn sit_down(&mut self, sessions: usize, op: &mut Op) -> Result<(), Failure> {
        let most = if self.shared.keep_alive { sessions } else { 0 };
        let mut seat = Seat::take(Arc::as_ptr(&self.shared) as usize, most);
        let due = self.deadline.due();
        let limit = self.deadline.limit();
        let opening = seat.open(async || Live::over(self.dial(op).await?).await);
        match due {
            None => opening.await?,
            // It may be another session's that is waited for, or an answer to the first words.
            Some(due) => match tokio::time::timeout_at(due, opening).await {
                Ok(opened) => opened?,
                Err(_) => return Err(fault::timed_out("connect", limit, false)),
            },
        }
        self.connection = Some(Connection::Many(seat));
        Ok(())
    }

    /// A new stream to the server; the first says what was agreed on.
    async fn dial(&mut self, op: &mut Op) -> Result<Stream, Failure> {
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
            op.fact("protocol", shared.version());
            op.fact("address", shared.addresses.shown().unwrap_or_default());
        }
        Ok(stream)
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
        connection.exchange(request, keep, op, deadline).await
    }

    /// Decides what becomes of the connection, and what the answer is worth.
    fn answered(&mut self, answer: Answer, op: &mut Op) -> Outcome {
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
        let Answer { status, headers, body_bytes } = answer;
        self.headers = headers;
        let reply = Reply { status, headers: &self.headers, body: &self.body, body_bytes };
        self.shared.checks.judge(&reply)?;
        op.count("body_bytes", body_bytes);
        Ok(())
    }
}

impl HttpSession {
    /// After an exchange without a complete answer: the failure that it is, or nothing when the request may be sent again.
    #[cold]
    fn give_up_or_repeat(&mut self, broken: Broken, repeats: u32, op: &mut Op) -> Result<(), Failure> {
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
                if failure.needs_reconnect() && used_before && repeats == 0 && self.idempotent =>
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
            Broken::GoingAway(_) if repeats < REFUSALS && self.idempotent => {
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

impl Session for HttpSession {
    async fn call(&mut self, op: &mut Op) -> Outcome {
        self.deadline.start();
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
            let broken = match self.exchange(op).await {
                Ok(answer) => break self.answered(answer, op),
                Err(broken) => broken,
            };
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
