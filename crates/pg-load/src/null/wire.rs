//! Messages of PostgreSQL's protocol, version 3.

const INT4: i32 = 23;
const INT8: i32 = 20;

/// Adds a message whose length is found out.
pub(super) fn message(out: &mut Vec<u8>, tag: u8, body: impl FnOnce(&mut Vec<u8>)) {
    out.push(tag);
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    body(out);
    let length = (out.len() - start) as u32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

/// Adds a text with the zero byte that ends it.
pub(super) fn text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

/// Up to the next zero byte, and what comes after it.
pub(super) fn cut(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|b| *b == 0) {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &[]),
    }
}

/// The description of a statement's parameters.
pub(super) fn parameters(out: &mut Vec<u8>, count: usize) {
    message(out, b't', |out| {
        out.extend_from_slice(&(count as u16).to_be_bytes());
        // Wide enough for every integer.
        (0..count).for_each(|_| out.extend_from_slice(&INT8.to_be_bytes()));
    });
}

/// One column, an `int4` in this format.
pub(super) fn columns(out: &mut Vec<u8>, format: i16) {
    message(out, b'T', |out| {
        out.extend_from_slice(&1u16.to_be_bytes());
        text(out, "null");
        out.extend_from_slice(&[0; 6]);
        out.extend_from_slice(&INT4.to_be_bytes());
        out.extend_from_slice(&4i16.to_be_bytes());
        out.extend_from_slice(&(-1i32).to_be_bytes());
        out.extend_from_slice(&format.to_be_bytes());
    });
}
