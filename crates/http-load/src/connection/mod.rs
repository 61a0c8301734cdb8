//! One connection and the exchange of one request for one answer on it.

mod address;
mod gate;
mod stream;
mod wire;

pub(crate) use address::Addresses;
pub(crate) use stream::Stream;

use crate::{deadline::Deadline, fault::Step, reply::KEPT_BODY, request::Sending};
use bytes::Bytes;
use gate::Gate;
use hyper::{
    HeaderMap, Request, StatusCode,
    body::{Body, Incoming},
    client::conn::http1::{self, SendRequest},
};
use hyper_util::rt::TokioIo;
use load_core::Op;
use std::{
    future::Future,
    pin::{Pin, pin},
    rc::Rc,
    task::{Context, Poll},
};
use wire::{Traffic, Wire};

type Driver = http1::Connection<TokioIo<Wire>, Sending>;

/// Bodies up to this size are copied behind their head and go out in one plain write.
pub(crate) const COPIED_BODY: u64 = 16 * 1024;

/// A connection that is driven by whoever calls [`exchange`](Connection::exchange) and stands still in between.
///
/// A task of its own would drive it too, for the price of a second wake-up for each request. Nothing is lost without:
/// whatever happened to the connection meanwhile is seen before the next request is written.
pub(crate) struct Connection {
    sender: SendRequest<Sending>,
    /// `None` once the connection has ended.
    driver: Option<Driver>,
    gate: Gate,
    pub(crate) traffic: Rc<Traffic>,
    /// Answers that came over it.
    pub(crate) answers: u64,
}

/// A complete answer.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body_bytes: u64,
}

/// An exchange without a complete answer; the connection cannot be used any more.
pub(crate) enum Broken {
    /// The request was not sent: the connection had ended before.
    Unsent(hyper::Error),
    /// The connection ended too early. With what had been read and not understood.
    Ended(Step, hyper::Error, Bytes),
    /// The time was up.
    TimedOut(Step),
}

impl Connection {
    pub(crate) async fn over(stream: Stream, copy_bodies: bool) -> Result<Connection, hyper::Error> {
        let (wire, traffic) = Wire::new(stream);
        let mut builder = http1::Builder::new();
        if copy_bodies {
            builder.writev(false);
        }
        let (sender, driver) = builder.handshake(TokioIo::new(wire)).await?;
        Ok(Connection { sender, driver: Some(driver), gate: Gate::new(), traffic, answers: 0 })
    }

    /// Whether another request can go over it.
    pub(crate) fn is_open(&self) -> bool {
        self.driver.is_some()
    }

    /// Sends a request and takes in the whole answer, its body into `keep` as far as there is one and room in it.
    /// Marks the steps `first_byte` and `body`.
    pub(crate) async fn exchange(
        &mut self,
        request: Request<Sending>,
        mut keep: Option<&mut Vec<u8>>,
        op: &mut Op,
        deadline: &mut Deadline,
    ) -> Result<Answer, Broken> {
        let Connection { sender, driver, gate, traffic, answers } = self;
        let mut response = pin!(sender.try_send_request(request));
        let read_before = traffic.read.get();
        let mut step = Step::FirstByte;
        let mut rest = Bytes::new();
        let mut answer = None;
        let mut body: Option<Incoming> = None;
        let mut seen = traffic.events.get();
        let answer = std::future::poll_fn(|task| {
            let cx = &mut Context::from_waker(gate.waker());
            loop {
                gate.look();
                if let Some(running) = driver.as_mut()
                    && Pin::new(running).poll(cx).is_ready()
                {
                    // Dropping it gives an unsent request back.
                    rest = driver.take().map(|d| d.into_parts().read_buf).unwrap_or_default();
                }
                if step == Step::FirstByte && traffic.read.get() > read_before {
                    op.mark("first_byte");
                    step = Step::Head;
                }
                // An answer can only be there when something was read or the connection is at its end.
                let news = traffic.events.get() != seen || driver.is_none();
                if news && body.is_none() && answer.is_none() {
                    seen = traffic.events.get();
                    match response.as_mut().poll(cx) {
                        Poll::Ready(Ok(head)) => {
                            let (head, incoming) = head.into_parts();
                            answer =
                                Some(Answer { status: head.status, headers: head.headers, body_bytes: 0 });
                            body = Some(incoming);
                            step = Step::Body;
                        }
                        Poll::Ready(Err(mut error)) => {
                            let unsent = error.take_message().is_some();
                            let error = error.into_error();
                            return Poll::Ready(Err(if unsent {
                                Broken::Unsent(error)
                            } else {
                                Broken::Ended(step, error, rest.clone())
                            }));
                        }
                        Poll::Pending => {}
                    }
                }
                let mut moved = false;
                while let Some(incoming) = &mut body {
                    match Pin::new(incoming).poll_frame(cx) {
                        Poll::Ready(Some(Ok(frame))) => {
                            moved = true;
                            if let (Some(data), Some(answer)) = (frame.data_ref(), &mut answer) {
                                answer.body_bytes += data.len() as u64;
                                if let Some(kept) = &mut keep {
                                    let room = KEPT_BODY.saturating_sub(kept.len());
                                    kept.extend_from_slice(&data[..data.len().min(room)]);
                                }
                            }
                        }
                        Poll::Ready(None) => {
                            body = None;
                            return Poll::Ready(Ok(answer.take().expect("it came before its body")));
                        }
                        Poll::Ready(Some(Err(error))) => {
                            return Poll::Ready(Err(Broken::Ended(Step::Body, error, rest.clone())));
                        }
                        Poll::Pending => break,
                    }
                }
                if moved {
                    continue;
                }
                return match deadline.poll_over(task) {
                    Poll::Ready(()) => Poll::Ready(Err(Broken::TimedOut(step))),
                    Poll::Pending => gate.wait(task),
                };
            }
        })
        .await?;
        op.mark("body");
        *answers += 1;
        if !rest.is_empty() {
            op.count("trailing_bytes", 1);
        }
        Ok(answer)
    }

    /// After an answer: whether the request had been sent in full by then. If not, the connection is of no more use.
    #[inline]
    pub(crate) fn sent_all(&mut self) -> bool {
        self.driver.is_none() || self.sender.is_ready() || self.look_again()
    }

    #[cold]
    fn look_again(&mut self) -> bool {
        let cx = &mut Context::from_waker(self.gate.waker());
        if let Some(driver) = &mut self.driver
            && Pin::new(driver).poll(cx).is_ready()
        {
            self.driver = None;
        }
        self.driver.is_none() || self.sender.is_ready()
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("open", &self.is_open()).field("answers", &self.answers).finish()
    }
}
