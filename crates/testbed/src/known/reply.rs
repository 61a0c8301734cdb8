//! One answer of a scripted server.

use std::time::Duration;

/// What is answered to a request, and what then becomes of the connection.
#[derive(Debug, Clone)]
#[must_use]
pub struct Reply {
    pub(super) content: Content,
    /// `None`: the server's.
    pub(super) delay: Option<Duration>,
    pub(super) drip: Option<Duration>,
    pub(super) truncate: Option<usize>,
    pub(super) end: End,
}

#[derive(Debug, Clone)]
pub(super) enum Content {
    Http { status: u16, headers: Vec<(String, String)>, body: Vec<u8> },
    Raw(Vec<u8>),
    Echo,
    Silent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Keep,
    Close,
    Reset,
}

impl Reply {
    fn new(content: Content) -> Self {
        Self { content, delay: None, drip: None, truncate: None, end: End::Keep }
    }

    /// An HTTP/1.1 response with a `Content-Length`.
    pub fn http(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::new(Content::Http { status, headers: Vec::new(), body: body.into() })
    }

    /// Exactly these bytes. If they contain an empty line (`\r\n\r\n`), what follows it counts as the body.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(Content::Raw(bytes.into()))
    }

    /// What came.
    pub fn echo() -> Self {
        Self::new(Content::Echo)
    }

    /// Nothing, ever: this connection is not answered any more.
    pub fn silent() -> Self {
        Self::new(Content::Silent)
    }

    /// Adds a header line to an HTTP reply; no effect on others. The text is sent as it is, be it wrong.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Content::Http { headers, .. } = &mut self.content {
            headers.push((name.into(), value.into()));
        }
        self
    }

    /// Waits this long before the answer, instead of the server's delay.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = Some(delay);
        self
    }

    /// Sends the body byte by byte, with this pause before each.
    pub fn drip(mut self, pause: Duration) -> Self {
        self.drip = Some(pause);
        self
    }

    /// Sends only the first `bytes` of the body, though the head promises all. The connection stays open (the rest
    /// never comes) unless it is to be closed or reset.
    pub fn truncated(mut self, bytes: usize) -> Self {
        self.truncate = Some(bytes);
        self
    }

    /// Closes the connection after the answer.
    pub fn close(mut self) -> Self {
        self.end = End::Close;
        self
    }

    /// Resets the connection (RST) after the answer.
    pub fn reset(mut self) -> Self {
        self.end = End::Reset;
        self
    }

    /// The bytes to send, and where the body begins in them.
    pub(super) fn render(&self) -> (Vec<u8>, usize) {
        let (mut bytes, body_at) = match &self.content {
            Content::Http { status, headers, body } => {
                let mut head =
                    format!("HTTP/1.1 {status} {}\r\nContent-Length: {}\r\n", reason(*status), body.len());
                for (name, value) in headers {
                    head += &format!("{name}: {value}\r\n");
                }
                head += "\r\n";
                let body_at = head.len();
                let mut bytes = head.into_bytes();
                bytes.extend(body);
                (bytes, body_at)
            }
            Content::Raw(bytes) => {
                let empty_line = bytes.windows(4).position(|four| four == b"\r\n\r\n");
                (bytes.clone(), empty_line.map_or(0, |at| at + 4))
            }
            Content::Echo | Content::Silent => (Vec::new(), 0),
        };
        if let Some(limit) = self.truncate {
            bytes.truncate(body_at + limit);
        }
        (bytes, body_at)
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Unknown",
    }
}
