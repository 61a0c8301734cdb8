//! One request and its answer, on one stream.

use super::{Seat, body::Upload, fault};
use crate::{
    connection::{Answer, Ask, Broken},
    deadline::Deadline,
    fault::Step,
    request::Sending,
};
use h2::{RecvStream, client::ResponseFuture};
use hyper::{
    Request, Uri, Version,
    body::Body,
    header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderValue},
    http::uri::{Authority, Scheme},
};
use load_core::Op;
use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

/// What is under way.
struct Exchange<'a> {
    step: Step,
    response: ResponseFuture,
    upload: Option<Upload>,
    answer: &'a mut Answer,
    body: Option<RecvStream>,
}

impl Seat {
    pub(crate) async fn exchange(
        &mut self,
        ask: Ask<'_>,
        answer: &mut Answer,
        op: &mut Op,
        deadline: &mut Deadline,
    ) -> Result<(), Broken> {
        let result = self.attempt(ask, answer, op, deadline).await;
        let (read, written) = self.live().count();
        op.bytes_in(read as usize);
        op.bytes_out(written as usize);
        match &result {
            Ok(_) => {
                op.mark("body");
                self.answered();
            }
            // One stream less; the connection is as it was.
            Err(Broken::TimedOut(_)) => {}
            Err(Broken::Refused(_) | Broken::GoingAway(_) | Broken::Unsent(_)) => self.retire(),
            Err(Broken::Ended(_, failure)) if failure.needs_reconnect() => self.retire(),
            Err(Broken::Ended(..)) => {}
        }
        result
    }

    async fn attempt(
        &mut self,
        ask: Ask<'_>,
        answer: &mut Answer,
        op: &mut Op,
        deadline: &mut Deadline,
    ) -> Result<(), Broken> {
        let (head, body) = prepared(answer.next_request(ask, op), &self.live().scheme);
        let send = self.send.as_mut().expect("a seat is opened before it is used");
        let ready = std::future::poll_fn(|cx| match send.poll_ready(cx) {
            Poll::Ready(ready) => Poll::Ready(Some(ready)),
            Poll::Pending => deadline.poll_over(cx).map(|()| None),
        });
        let unsent = |e| Broken::Unsent(fault::of(Step::FirstByte.name(), &e).reconnect());
        match ready.await {
            Some(ready) => ready.map_err(unsent)?,
            None => return Err(Broken::TimedOut(Step::FirstByte)),
        }
        let empty = body.is_end_stream();
        let (response, stream) = send.send_request(head, empty).map_err(unsent)?;
        let mut exchange = Exchange {
            step: Step::FirstByte,
            response,
            upload: (!empty).then(|| Upload::new(body, stream)),
            answer,
            body: None,
        };
        let ended = std::future::poll_fn(|cx| match exchange.poll(cx, op) {
            Poll::Ready(ended) => Poll::Ready(Some(ended)),
            Poll::Pending => deadline.poll_over(cx).map(|()| None),
        });
        match ended.await {
            None => Err(Broken::TimedOut(exchange.step)),
            Some(Ok(())) => {
                self.sent_all = exchange.upload.is_none();
                Ok(())
            }
            Some(Err(error)) => {
                let step = exchange.step;
                let failure = fault::of(step.name(), &error);
                if fault::is_refused(&error) {
                    return Err(Broken::Refused(failure.reconnect()));
                }
                if fault::is_going_away(&error) && step == Step::FirstByte {
                    return Err(Broken::GoingAway(failure.reconnect()));
                }
                // A stream that the server has reset leaves the connection as it was.
                let stream_only = error.is_remote() && error.is_reset();
                Err(Broken::Ended(step, if stream_only { failure } else { failure.reconnect() }))
            }
        }
    }
}

impl Exchange<'_> {
    fn poll(&mut self, cx: &mut Context<'_>, op: &mut Op) -> Poll<Result<(), h2::Error>> {
        if let Some(upload) = &mut self.upload
            && let Poll::Ready(sent) = upload.poll(cx)
        {
            // A body that the server does not want any more: its answer says why.
            if sent.is_ok() {
                self.upload = None;
            }
        }
        if self.body.is_none() {
            let Poll::Ready(response) = Pin::new(&mut self.response).poll(cx) else { return Poll::Pending };
            let (head, body) = response?.into_parts();
            op.mark("first_byte");
            self.step = Step::Body;
            self.answer.status = head.status;
            self.answer.headers = head.headers;
            self.body = Some(body);
        }
        let Some(body) = &mut self.body else { return Poll::Ready(Ok(())) };
        loop {
            match body.poll_data(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Err(error))) if fault::is_enough(&error) => return Poll::Ready(Ok(())),
                Poll::Ready(Some(data)) => {
                    let data = data?;
                    self.answer.took(&data);
                    body.flow_control().release_capacity(data.len())?;
                }
                Poll::Ready(None) => match body.poll_trailers(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Err(error)) if fault::is_enough(&error) => return Poll::Ready(Ok(())),
                    Poll::Ready(trailers) => return Poll::Ready(trailers.map(drop)),
                },
            }
        }
    }
}

/// As HTTP/2 has it: scheme and host are part of the URI, and there is nothing to say of connections.
fn prepared(request: Request<Sending>, scheme: &Scheme) -> (Request<()>, Sending) {
    let (mut head, body) = request.into_parts();
    head.version = Version::HTTP_2;
    head.headers.remove(CONNECTION);
    let host = head.headers.remove(HOST);
    let authority = host.and_then(|host| Authority::try_from(host.as_bytes()).ok());
    let mut uri = std::mem::take(&mut head.uri).into_parts();
    uri.scheme = Some(scheme.clone());
    uri.authority = authority;
    head.uri = Uri::from_parts(uri).unwrap_or_default();
    if let Some(length @ 1..) = body.size_hint().exact() {
        head.headers.entry(CONTENT_LENGTH).or_insert_with(|| HeaderValue::from(length));
    }
    (Request::from_parts(head, ()), body)
}
