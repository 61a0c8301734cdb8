//! Sending a body as fast as the server takes it.

use crate::request::Sending;
use bytes::Bytes;
use h2::SendStream;
use hyper::body::Body;
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

/// A body on its way over a stream.
pub(super) struct Upload {
    body: Sending,
    stream: SendStream<Bytes>,
    /// What was taken from the body and not yet sent.
    rest: Bytes,
}

impl Upload {
    pub(super) fn new(body: Sending, stream: SendStream<Bytes>) -> Upload {
        Upload { body, stream, rest: Bytes::new() }
    }

    /// Until all is sent.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), h2::Error>> {
        loop {
            if self.rest.is_empty() {
                let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) else {
                    return Poll::Pending;
                };
                match frame {
                    Some(Ok(frame)) => self.rest = frame.into_data().unwrap_or_default(),
                    None => {
                        self.stream.send_data(Bytes::new(), true)?;
                        return Poll::Ready(Ok(()));
                    }
                }
                continue;
            }
            self.stream.reserve_capacity(self.rest.len());
            let room = match ready!(self.stream.poll_capacity(cx)) {
                Some(room) => room?.min(self.rest.len()),
                // The stream is closed; why is told where the answer is waited for.
                None => return Poll::Pending,
            };
            let part = self.rest.split_to(room);
            let last = self.rest.is_empty() && self.body.is_end_stream();
            self.stream.send_data(part, last)?;
            if last {
                return Poll::Ready(Ok(()));
            }
        }
    }
}
