//! Where a request ends.

/// What a request asks of a server that says the same to everybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    /// `HEAD`: the answer has no body.
    pub(super) head_only: bool,
    /// The connection is to be closed after the answer.
    pub(super) close: bool,
}

/// Finds the ends of requests in a stream of bytes, without keeping their bodies.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    state: State,
    /// The last head: the next is nearly always the same, and comparing is cheaper than reading.
    last: Vec<u8>,
    last_asked: Option<(Asked, State)>,
}

/// What comes next.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Head,
    /// So many more bytes of a body.
    Body(u64, Option<Asked>),
    /// The line with the size of a chunk.
    Size(Asked),
    /// So many more bytes of a chunk, with the line end after it.
    Chunk(u64, Asked),
    /// Lines after the last chunk.
    Trailer(Asked),
}

impl Scanner {
    /// Takes what it can from the front of `bytes`: how many, and what was asked if a request ended there. `(0, None)` means that
    /// more is needed. A head that cannot be read asks for nothing special.
    pub(super) fn next(&mut self, bytes: &[u8]) -> (usize, Option<Asked>) {
        match self.state {
            State::Head => self.head(bytes),
            State::Body(left, asked) => {
                let taken = left.min(bytes.len() as u64);
                if taken == left {
                    self.state = State::Head;
                    (taken as usize, asked)
                } else {
                    self.state = State::Body(left - taken, asked);
                    (taken as usize, None)
                }
            }
            State::Chunk(left, asked) => {
                let taken = left.min(bytes.len() as u64);
                self.state =
                    if taken == left { State::Size(asked) } else { State::Chunk(left - taken, asked) };
                (taken as usize, None)
            }
            State::Size(asked) => self.line(bytes, |line| {
                let size = line.split(|b| *b == b';').next().unwrap_or_default().trim_ascii();
                let size = std::str::from_utf8(size).ok().and_then(|s| u64::from_str_radix(s, 16).ok());
                match size.unwrap_or(0) {
                    0 => (State::Trailer(asked), None),
                    n => (State::Chunk(n + 2, asked), None),
                }
            }),
            State::Trailer(asked) => self.line(bytes, |line| match line.trim_ascii().is_empty() {
                true => (State::Head, Some(asked)),
                false => (State::Trailer(asked), None),
            }),
        }
    }

    fn line(
        &mut self,
        bytes: &[u8],
        read: impl FnOnce(&[u8]) -> (State, Option<Asked>),
    ) -> (usize, Option<Asked>) {
        let Some(end) = memchr::memchr(b'\n', bytes) else { return (0, None) };
        let (state, asked) = read(&bytes[..end]);
        self.state = state;
        (end + 1, asked)
    }

    fn head(&mut self, bytes: &[u8]) -> (usize, Option<Asked>) {
        let length = match self.last_asked {
            Some(_) if bytes.starts_with(&self.last) => self.last.len(),
            _ => {
                let Some(end) = memchr::memmem::find(bytes, b"\r\n\r\n") else { return (0, None) };
                self.last.clear();
                self.last.extend_from_slice(&bytes[..end + 4]);
                self.last_asked = Some(read(&self.last));
                end + 4
            }
        };
        let (asked, next) = self.last_asked.expect("just set or seen");
        self.state = next;
        (length, (next == State::Head).then_some(asked))
    }
}

fn read(head: &[u8]) -> (Asked, State) {
    let mut asked = Asked { head_only: head.starts_with(b"HEAD "), close: false };
    let mut length = 0;
    let mut chunked = false;
    for line in head.split(|b| *b == b'\n').skip(1) {
        let Some(colon) = memchr::memchr(b':', line) else { continue };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            length = std::str::from_utf8(value).ok().and_then(|v| v.parse().ok()).unwrap_or(0);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            chunked = value.eq_ignore_ascii_case(b"chunked");
        } else if name.eq_ignore_ascii_case(b"connection") {
            asked.close = value.eq_ignore_ascii_case(b"close");
        }
    }
    let next = match (chunked, length) {
        (true, _) => State::Size(asked),
        (false, 0) => State::Head,
        (false, n) => State::Body(n, Some(asked)),
    };
    (asked, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEEP: Asked = Asked { head_only: false, close: false };

    /// All that was asked, with the bytes given in pieces of this size.
    fn asked(bytes: &str, piece: usize) -> Vec<Asked> {
        let mut scanner = Scanner::default();
        let mut held: Vec<u8> = Vec::new();
        let mut all = Vec::new();
        for piece in bytes.as_bytes().chunks(piece) {
            held.extend_from_slice(piece);
            loop {
                let (taken, asked) = scanner.next(&held);
                held.drain(..taken);
                all.extend(asked);
                if (taken, asked) == (0, None) || held.is_empty() {
                    break;
                }
            }
        }
        assert!(held.is_empty(), "{held:?}");
        all
    }

    #[test]
    fn requests_end_where_they_end_however_they_are_cut() {
        let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        let post = "POST / HTTP/1.1\r\nContent-Length: 27\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n";
        let chunked = "PUT / HTTP/1.1\r\ntransfer-encoding: Chunked\r\n\r\n\
                       5\r\nhello\r\nA;x=y\r\n0\r\n\r\n56789\r\n0\r\nTrailer: 1\r\n\r\n";
        let head = "HEAD / HTTP/1.1\r\nConnection: close\r\n\r\n";
        let all = [get, post, chunked, get, get, head].concat();
        let last = Asked { head_only: true, close: true };
        for piece in [1, 2, 3, 7, 10_000] {
            assert_eq!(asked(&all, piece), [KEEP, KEEP, KEEP, KEEP, KEEP, last], "{piece}");
        }
    }
}
