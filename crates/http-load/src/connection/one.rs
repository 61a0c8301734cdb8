//! HTTP/1.1: one connection for one session.

use super::{Answer, Ask, Broken, Stream, Traffic, Wire, gate::Gate};
use crate::{
    deadline::Deadline,
    fault::{self, Step},
    request::Sending,
};
use bytes::Bytes;
use hyper::{
    body::{Body, Incoming},
    client::conn::http1::{self, SendRequest},
};
use hyper_util::rt::TokioIo;
use load_core::{Failure, Op};
use std::{
    future::Future,
    pin::{Pin, pin},
    rc::Rc,
    task::{Context, Poll},
};

type Driver = http1::Connection<TokioIo<Wire>, Sending>;

/// A connection that is driven by whoever calls [`exchange`](One::exchange) and stands still in between.
///
/// A task of its own would drive it too, for the price of a second wake-up for each request. Nothing is lost without:
/// whatever happened to the connection meanwhile is seen before the next request is written.
pub(crate) struct One {
    sender: SendRequest<Sending>,
    /// `None` once the connection has ended.
    driver: Option<Driver>,
    gate: Gate,
    pub(crate) traffic: Rc<Traffic>,
    /// Answers that came over it.
    pub(crate) answers: u64,
}

impl One {
    pub(crate) async fn over(stream: Stream, copy_bodies: bool) -> Result<One, Failure> {
        let (wire, traffic) = Wire::new(stream);
        let mut builder = http1::Builder::new();
        if copy_bodies {
            builder.writev(false);
        }
        let made = builder.handshake(TokioIo::new(wire)).await;
        let (sender, driver) = made.map_err(|e| fault::broken(Step::FirstByte, &e, &[]))?;
        Ok(One { sender, driver: Some(driver), gate: Gate::new(), traffic, answers: 0 })
    }

    /// Whether another request can go over it.
    pub(crate) fn is_open(&self) -> bool {
        self.driver.is_some()
    }

    /// See [`Connection::exchange`](super::Connection::exchange).
    pub(crate) async fn exchange(
        &mut self,
        ask: Ask<'_>,
        answer: &mut Answer,
        op: &mut Op,
        deadline: &mut Deadline,
    ) -> Result<(), Broken> {
        let One { sender, driver, gate, traffic, answers } = self;
        let mut response = pin!(sender.try_send_request(answer.next_request(ask, op)));
        let (read_before, written_before) = (traffic.read.get(), traffic.written.get());
        let mut step = Step::FirstByte;
        let mut rest = Bytes::new();
        let mut body: Option<Incoming> = None;
        let mut seen = traffic.events.get();
        let result = std::future::poll_fn(|task| {
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
                if news && body.is_none() {
                    seen = traffic.events.get();
                    match response.as_mut().poll(cx) {
                        Poll::Ready(Ok(head)) => {
                            let (head, incoming) = head.into_parts();
                            answer.status = head.status;
                            answer.headers = head.headers;
                            body = Some(incoming);
                            step = Step::Body;
                        }
                        Poll::Ready(Err(mut error)) => {
                            let unsent = error.take_message().is_some();
                            let error = error.into_error();
                            let failure = fault::broken(step, &error, &rest);
                            return Poll::Ready(Err(if unsent {
                                Broken::Unsent(failure)
                            } else {
                                Broken::Ended(step, failure)
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
                            if let Some(data) = frame.data_ref() {
                                answer.took(data);
                            }
                        }
                        Poll::Ready(None) => {
                            return Poll::Ready(Ok(()));
                        }
                        Poll::Ready(Some(Err(error))) => {
                            let failure = fault::broken(Step::Body, &error, &rest);
                            return Poll::Ready(Err(Broken::Ended(Step::Body, failure)));
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
        .await;
        op.bytes_in((traffic.read.get() - read_before) as usize);
        op.bytes_out((traffic.written.get() - written_before) as usize);
        result?;
        op.mark("body");
        *answers += 1;
        if !rest.is_empty() {
            op.count("trailing_bytes", 1);
        }
        Ok(())
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
