//! Where a request ends; no more of HTTP is needed to answer by script.

/// A request at the beginning of what was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// Its length in bytes, with its body.
    pub(super) length: usize,
    /// `HEAD`: the answer has no body.
    pub(super) head_only: bool,
    /// The client wants the connection closed after the answer.
    pub(super) close: bool,
}

/// A head longer than this is not one.
pub(super) const HEAD_LIMIT: usize = 64 * 1024;

/// The first request in `data` if it is there whole.
pub(super) fn first(data: &[u8]) -> Option<Request> {
    let head_end = find(data, b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&data[..head_end]);
    let mut lines = head.split("\r\n");
    let line = lines.next().unwrap_or_default();
    let (mut body, mut chunked, mut connection) = (0, false, String::new());
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => body = value.parse().unwrap_or(0),
            "transfer-encoding" => chunked = value.eq_ignore_ascii_case("chunked"),
            "connection" => connection = value.to_ascii_lowercase(),
            _ => {}
        }
    }
    let rest = &data[head_end..];
    let length = if chunked {
        let last = if rest.starts_with(b"0\r\n\r\n") { 0 } else { find(rest, b"\r\n0\r\n\r\n")? + 2 };
        head_end + last + 5
    } else {
        (rest.len() >= body).then_some(head_end + body)?
    };
    let old = line.ends_with("HTTP/1.0");
    let close = connection == "close" || (old && connection != "keep-alive");
    Some(Request { length, head_only: line.starts_with("HEAD "), close })
}

fn find(data: &[u8], what: &[u8]) -> Option<usize> {
    data.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(mut data: &[u8]) -> Vec<usize> {
        let mut lengths = Vec::new();
        while let Some(request) = first(data) {
            lengths.push(request.length);
            data = &data[request.length..];
        }
        lengths
    }

    #[test]
    fn pipelined_requests_with_and_without_bodies_are_told_apart() {
        let get = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
        let post = "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello";
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
        let empty = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
        let all = [get, post, chunked, empty, get].concat();
        let expected = [get, post, chunked, empty, get].map(str::len);
        assert_eq!(lengths(all.as_bytes()), expected);
        assert_eq!(lengths(&all.as_bytes()[..all.len() - 1]), expected[..4], "the last is not whole");
        assert_eq!(first(&post.as_bytes()[..post.len() - 1]), None);
    }

    #[test]
    fn the_client_s_wishes_are_understood() {
        let parse = |text: &str| first(text.as_bytes()).unwrap();
        assert!(parse("HEAD / HTTP/1.1\r\n\r\n").head_only);
        assert!(parse("GET / HTTP/1.1\r\nConnection: Close\r\n\r\n").close);
        assert!(parse("GET / HTTP/1.0\r\n\r\n").close);
        assert!(!parse("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").close);
        assert!(!parse("GET / HTTP/1.1\r\n\r\n").close);
    }
}
