//! The one answer, over HTTP/2.

use super::{delay::Delay, serve::Canned};
use bytes::Bytes;
use h2::{RecvStream, server::SendResponse};
use hyper::{
    HeaderMap, Method, Response,
    header::{CONNECTION, HeaderName, HeaderValue},
};
use std::{io, rc::Rc};
use tokio::io::{AsyncRead, AsyncWrite};

pub(super) async fn connection<S>(stream: S, canned: &Rc<Canned>, delay: Option<&Delay>) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut connection = h2::server::Builder::new()
        .max_concurrent_streams(10_000)
        .initial_window_size(1 << 20)
        .initial_connection_window_size(16 << 20)
        .handshake::<_, Bytes>(stream)
        .await
        .map_err(io::Error::other)?;
    let head = Rc::new(head(canned));
    while let Some(accepted) = connection.accept().await {
        let (request, mut respond) = accepted.map_err(io::Error::other)?;
        let head_only = *request.method() == Method::HEAD;
        let body = request.into_body();
        if delay.is_none() && body.is_end_stream() {
            // Nothing to wait for, so nothing to start a task for.
            let _ = answer(&mut respond, &head, canned, head_only);
            continue;
        }
        let (canned, head, delay) = (Rc::clone(canned), Rc::clone(&head), delay.cloned());
        tokio::task::spawn_local(async move {
            if drain(body).await.is_ok() {
                if let Some(delay) = delay {
                    delay.wait().await;
                }
                let _ = answer(&mut respond, &head, &canned, head_only);
            }
        });
    }
    Ok(())
}

async fn drain(mut body: RecvStream) -> Result<(), h2::Error> {
    while let Some(data) = body.data().await {
        let length = data?.len();
        body.flow_control().release_capacity(length)?;
    }
    Ok(())
}

fn answer(
    respond: &mut SendResponse<Bytes>,
    head: &HeaderMap,
    canned: &Canned,
    head_only: bool,
) -> Result<(), h2::Error> {
    let mut response = Response::new(());
    response.headers_mut().clone_from(head);
    let body = canned.reply.slice(canned.body..);
    let empty = head_only || body.is_empty();
    let mut stream = respond.send_response(response, empty)?;
    if !empty {
        stream.send_data(body, true)?;
    }
    Ok(())
}

/// The headers of the canned answer, but for those that HTTP/2 has no use for.
fn head(canned: &Canned) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in canned.reply[..canned.body].split(|b| *b == b'\n').skip(1) {
        let Some(colon) = memchr::memchr(b':', line) else { continue };
        let name = HeaderName::from_bytes(&line[..colon]);
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value)
            && name != CONNECTION
        {
            headers.append(name, value);
        }
    }
    headers
}
