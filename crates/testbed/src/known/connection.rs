//! Serving connections by the script.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::builder::Framing;
use super::reply::End;
use super::request::{self, Request};
use super::script::{Kind, Rendered, Shared};
use super::stats::add;
use crate::timer::Timer;

pub(super) async fn serve(listener: TcpListener, timer: Timer, shared: Arc<Shared>) {
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            // Out of descriptors, most likely: the next one may do better, but not at once.
            Err(_) => {
                timer.sleep_until(Instant::now() + Duration::from_millis(10)).await;
                continue;
            }
        };
        let number = shared.stats.connections.fetch_add(1, Ordering::Relaxed) + 1;
        if shared.max_connections.is_some_and(|max| number > max) {
            reset(stream, &shared);
            continue;
        }
        let (timer, shared) = (timer.clone(), Arc::clone(&shared));
        tokio::task::spawn_local(async move {
            add(&shared.stats.open, 1);
            // Its guard counts down also when the server is dropped with the connection open.
            let _open = Open(Arc::clone(&shared));
            let _ = connection(stream, &timer, &shared).await;
        });
    }
}

struct Open(Arc<Shared>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.stats.open.fetch_sub(1, Ordering::Relaxed);
    }
}

fn reset(stream: TcpStream, shared: &Shared) {
    add(&shared.stats.resets, 1);
    let _ = stream.set_zero_linger();
}

async fn connection(mut stream: TcpStream, timer: &Timer, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut data = Vec::with_capacity(4096);
    loop {
        let read = stream.read_buf(&mut data).await?;
        if read == 0 {
            return Ok(());
        }
        add(&shared.stats.bytes_in, read);
        while let Some(request) = next(&data, shared.framing) {
            let number = shared.arrived();
            let (reply, delay) = shared.answer(number);
            if reply.kind == Kind::Silent {
                return drain(stream, shared).await;
            }
            work(delay, timer, shared).await;
            let echo = (reply.kind == Kind::Echo).then(|| &data[..request.length]);
            send(&mut stream, reply, echo, &request, timer, shared).await?;
            add(&shared.stats.replies, 1);
            match reply.end {
                End::Reset => {
                    reset(stream, shared);
                    return Ok(());
                }
                End::Close => return stream.shutdown().await,
                End::Keep if request.close => return stream.shutdown().await,
                End::Keep => {}
            }
            data.drain(..request.length);
        }
        if shared.framing == Framing::Http
            && data.len() > request::HEAD_LIMIT
            && !data.windows(4).any(|w| w == b"\r\n\r\n")
        {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a head without an end"));
        }
    }
}

fn next(data: &[u8], framing: Framing) -> Option<Request> {
    match framing {
        Framing::Http => request::first(data),
        Framing::Any => {
            (!data.is_empty()).then_some(Request { length: data.len(), head_only: false, close: false })
        }
    }
}

/// The time the request takes, then whatever stall there is at its end.
async fn work(delay: Duration, timer: &Timer, shared: &Shared) {
    let permit = match &shared.at_once {
        Some(semaphore) => semaphore.acquire().await.ok(),
        None => None,
    };
    if !delay.is_zero() {
        timer.sleep_until(Instant::now() + delay).await;
    }
    while let Some(end) = shared.stalled_until() {
        timer.sleep_until(end).await;
    }
    if *shared.paused.borrow() {
        let _ = shared.paused.subscribe().wait_for(|paused| !paused).await;
    }
    drop(permit);
}

async fn send(
    stream: &mut TcpStream,
    reply: &Rendered,
    echo: Option<&[u8]>,
    request: &Request,
    timer: &Timer,
    shared: &Shared,
) -> io::Result<()> {
    let bytes = echo.unwrap_or(if request.head_only { &reply.bytes[..reply.body_at] } else { &reply.bytes });
    let Some(pause) = reply.drip else {
        stream.write_all(bytes).await?;
        add(&shared.stats.bytes_out, bytes.len());
        return Ok(());
    };
    let (head, body) = bytes.split_at(reply.body_at.min(bytes.len()));
    stream.write_all(head).await?;
    add(&shared.stats.bytes_out, head.len());
    for byte in body {
        timer.sleep_until(Instant::now() + pause).await;
        stream.write_all(std::slice::from_ref(byte)).await?;
        add(&shared.stats.bytes_out, 1);
    }
    Ok(())
}

/// Reads on and says nothing.
async fn drain(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let mut data = vec![0; 16 * 1024];
    loop {
        let read = stream.read(&mut data).await?;
        if read == 0 {
            return Ok(());
        }
        add(&shared.stats.bytes_in, read);
    }
}
