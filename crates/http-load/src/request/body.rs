//! What a request carries.

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

/// The body of a request: bytes that are shared by all requests, or made while they are sent.
///
/// ```
/// use http_load::{Body, Http};
///
/// let small = Body::from("name=value");
/// // 10 GB that are nowhere in memory, with their length announced; or in chunks, without.
/// let upload = Body::repeat("0123456789", 10_000_000_000);
/// let stream = Body::chunks(|| (0..100).map(|n| format!("line {n}\n").into()));
/// let put = Http::put("http://127.0.0.1:8080/file")?.body(upload);
/// # Ok::<(), load_core::ConfigError>(())
/// ```
#[derive(Clone, Default)]
pub struct Body(Kind);

type Chunks = Box<dyn Iterator<Item = Bytes>>;

#[derive(Clone, Default)]
enum Kind {
    #[default]
    Empty,
    Full(Bytes),
    Repeat(Bytes, u64),
    Chunks(Arc<dyn Fn() -> Chunks + Send + Sync>),
}

impl Body {
    /// No body.
    pub fn empty() -> Body {
        Body::default()
    }

    /// `pattern` again and again until there are `bytes` bytes. Their number is announced (`Content-Length`).
    /// An empty pattern gives no body.
    pub fn repeat(pattern: impl Into<Bytes>, bytes: u64) -> Body {
        let pattern = pattern.into();
        if pattern.is_empty() || bytes == 0 {
            return Body::empty();
        }
        // Whole kilobytes at a time, so that the number of writes does not follow from the length of the pattern.
        let times = (64 * 1024 / pattern.len()).clamp(1, 64 * 1024);
        Body(Kind::Repeat(pattern.repeat(times).into(), bytes))
    }

    /// The chunks that `make` gives, called anew for each request; sent as they come (`Transfer-Encoding: chunked`).
    pub fn chunks<I>(make: impl Fn() -> I + Send + Sync + 'static) -> Body
    where
        I: Iterator<Item = Bytes> + 'static,
    {
        Body(Kind::Chunks(Arc::new(move || Box::new(make()))))
    }

    /// The length that is announced; `None` when it is not known before the end.
    pub fn length(&self) -> Option<u64> {
        match &self.0 {
            Kind::Empty => Some(0),
            Kind::Full(bytes) => Some(bytes.len() as u64),
            Kind::Repeat(_, length) => Some(*length),
            Kind::Chunks(_) => None,
        }
    }

    /// For one request.
    #[inline]
    pub(crate) fn start(&self) -> Sending {
        match &self.0 {
            Kind::Empty => Sending::Done,
            Kind::Full(bytes) => Sending::Full(bytes.clone()),
            Kind::Repeat(bytes, length) => Sending::Repeat(bytes.clone(), *length),
            Kind::Chunks(make) => Sending::Chunks(make()),
        }
    }
}

impl<T: Into<Bytes>> From<T> for Body {
    fn from(bytes: T) -> Body {
        let bytes = bytes.into();
        Body(if bytes.is_empty() { Kind::Empty } else { Kind::Full(bytes) })
    }
}

/// Without what is in it.
impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.length() {
            Some(length) => write!(f, "Body({length} bytes)"),
            None => f.write_str("Body(chunks)"),
        }
    }
}

/// A body on its way.
#[derive(Default)]
pub(crate) enum Sending {
    #[default]
    Done,
    Full(Bytes),
    Repeat(Bytes, u64),
    Chunks(Chunks),
}

impl HttpBody for Sending {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        let next = match this {
            Sending::Done => None,
            Sending::Full(bytes) => Some(std::mem::take(bytes)),
            Sending::Repeat(pattern, left) if *left > pattern.len() as u64 => {
                *left -= pattern.len() as u64;
                return Poll::Ready(Some(Ok(Frame::data(pattern.clone()))));
            }
            Sending::Repeat(pattern, left) => Some(pattern.slice(..*left as usize)),
            Sending::Chunks(chunks) => match chunks.next() {
                Some(chunk) => return Poll::Ready(Some(Ok(Frame::data(chunk)))),
                None => None,
            },
        };
        *this = Sending::Done;
        Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Sending::Done)
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Sending::Done => SizeHint::with_exact(0),
            Sending::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Sending::Repeat(_, left) => SizeHint::with_exact(*left),
            Sending::Chunks(_) => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(body: &Body) -> Vec<u8> {
        let mut sending = body.start();
        let mut all = Vec::new();
        let cx = &mut Context::from_waker(std::task::Waker::noop());
        while let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut sending).poll_frame(cx) {
            all.extend_from_slice(&frame.into_data().unwrap());
        }
        assert!(sending.is_end_stream());
        all
    }

    #[test]
    fn bodies_have_the_length_that_they_announce() {
        for (body, bytes) in [
            (Body::empty(), String::new()),
            (Body::from("abc"), "abc".into()),
            (Body::repeat("abc", 7), "abcabca".into()),
            (Body::repeat("", 7), String::new()),
            (Body::repeat("0123456789", 200_000), "0123456789".repeat(20_000)),
        ] {
            assert_eq!(body.length(), Some(bytes.len() as u64));
            for _ in 0..2 {
                assert!(sent(&body) == bytes.as_bytes(), "{body:?}");
            }
        }
        let chunks = Body::chunks(|| ["a", "b"].into_iter().map(Bytes::from));
        assert_eq!((chunks.length(), sent(&chunks)), (None, b"ab".to_vec()));
    }
}
