//! Requests: an array of strings, in either version of the protocol.

/// Begins a request of `parts` strings.
pub(crate) fn push_header(out: &mut Vec<u8>, parts: usize) {
    push_length(out, b'*', parts);
}

/// One string of a request.
pub(crate) fn push_bulk(out: &mut Vec<u8>, bytes: &[u8]) {
    push_length(out, b'$', bytes.len());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// The line before the bytes of a string.
pub(crate) fn push_length(out: &mut Vec<u8>, mark: u8, length: usize) {
    out.push(mark);
    out.extend_from_slice(length.to_string().as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// A whole request.
pub(crate) fn command(out: &mut Vec<u8>, parts: &[&[u8]]) {
    push_header(out, parts.len());
    for part in parts {
        push_bulk(out, part);
    }
}
