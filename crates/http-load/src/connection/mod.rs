//! Connections, and the exchange of a request for an answer on them.

mod address;
mod gate;
#[cfg(feature = "http2")]
mod many;
mod one;
mod stream;
mod wire;

pub(crate) use address::Addresses;
#[cfg(feature = "http2")]
pub(crate) use many::{Live, Seat};
pub(crate) use one::One;
pub(crate) use stream::Stream;
use wire::{Traffic, Wire};

use crate::{
    deadline::Deadline,
    fault::Step,
    reply::KEPT_BODY,
    request::{Requests, Sending},
};
use hyper::{HeaderMap, Request, StatusCode};
use load_core::{Failure, Op};

/// Bodies up to this size are copied behind their head and go out in one plain write.
pub(crate) const COPIED_BODY: u64 = 16 * 1024;

/// What to ask for.
#[derive(Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub(crate) requests: &'a Requests,
    /// The number of the session that asks.
    pub(crate) session: usize,
}

/// What came of the last exchange. A session has one for all its exchanges, so that its memory is used again.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body_bytes: u64,
    /// As much of the body as a check may want to see.
    pub(crate) kept: Vec<u8>,
    /// Whether anything is to be kept.
    pub(crate) keeps: bool,
    /// Whether the request was one that may be sent twice (RFC 9110, section 9.2.2).
    pub(crate) idempotent: bool,
}

impl Answer {
    /// The next request, made in the memory of the last answer.
    #[inline]
    fn next_request(&mut self, ask: Ask<'_>, op: &mut Op) -> Request<Sending> {
        let request = ask.requests.next(std::mem::take(&mut self.headers), op, ask.session);
        self.idempotent = request.method().is_idempotent();
        self.body_bytes = 0;
        self.kept.clear();
        request
    }

    #[inline]
    fn took(&mut self, data: &[u8]) {
        self.body_bytes += data.len() as u64;
        if self.keeps {
            let room = KEPT_BODY.saturating_sub(self.kept.len());
            self.kept.extend_from_slice(&data[..data.len().min(room)]);
        }
    }
}

/// An exchange without a complete answer.
pub(crate) enum Broken {
    /// The request was not sent: the connection had ended before.
    Unsent(Failure),
    /// The server says that it has not looked at the request.
    #[cfg(feature = "http2")]
    Refused(Failure),
    /// The connection is being closed in good order, and the server has very probably not looked at the request.
    #[cfg(feature = "http2")]
    GoingAway(Failure),
    /// The connection, or what there was of it for this exchange, ended too early.
    Ended(Step, Failure),
    /// The time was up.
    TimedOut(Step),
}

/// What a session has of a connection.
pub(crate) enum Connection {
    One(Box<One>),
    #[cfg(feature = "http2")]
    Many(Seat),
}

impl Connection {
    /// Makes a request, sends it and takes in the whole answer. Counts bytes and marks the steps `first_byte` and `body`.
    #[inline]
    pub(crate) async fn exchange(
        &mut self,
        ask: Ask<'_>,
        answer: &mut Answer,
        op: &mut Op,
        deadline: &mut Deadline,
    ) -> Result<(), Broken> {
        match self {
            Connection::One(one) => one.exchange(ask, answer, op, deadline).await,
            #[cfg(feature = "http2")]
            Connection::Many(seat) => seat.exchange(ask, answer, op, deadline).await,
        }
    }

    /// Answers that came over it.
    pub(crate) fn answers(&self) -> u64 {
        match self {
            Connection::One(one) => one.answers,
            #[cfg(feature = "http2")]
            Connection::Many(seat) => seat.answers(),
        }
    }

    /// Lets nobody send over it any more.
    pub(crate) fn retire(&self) {
        match self {
            Connection::One(_) => {}
            #[cfg(feature = "http2")]
            Connection::Many(seat) => seat.retire(),
        }
    }

    /// Whether it outlives an exchange that was given up.
    pub(crate) fn is_shared(&self) -> bool {
        !matches!(self, Connection::One(_))
    }

    /// After an answer: whether the request had been sent in full by then.
    #[inline]
    pub(crate) fn sent_all(&mut self) -> bool {
        match self {
            Connection::One(one) => one.sent_all(),
            #[cfg(feature = "http2")]
            Connection::Many(seat) => seat.sent_all(),
        }
    }

    /// Whether another request can go over it.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        match self {
            Connection::One(one) => one.is_open(),
            #[cfg(feature = "http2")]
            Connection::Many(seat) => seat.is_open(),
        }
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("open", &self.is_open()).field("answers", &self.answers()).finish()
    }
}
