//! What a request carries.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::{
    convert::Infallible,
    mem,
    pin::Pin,
    task::{Context, Poll},
};

/// The body of a request; sharing the bytes makes cloning it free.
#[derive(Debug, Clone, Default)]
pub(crate) enum RequestBody {
    #[default]
    Empty,
    Full(Bytes),
}

impl From<Bytes> for RequestBody {
    fn from(bytes: Bytes) -> RequestBody {
        if bytes.is_empty() { RequestBody::Empty } else { RequestBody::Full(bytes) }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(match mem::take(&mut *self) {
            RequestBody::Empty => None,
            RequestBody::Full(bytes) => Some(Ok(Frame::data(bytes))),
        })
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, RequestBody::Empty)
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            RequestBody::Empty => SizeHint::with_exact(0),
            RequestBody::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
        }
    }
}
