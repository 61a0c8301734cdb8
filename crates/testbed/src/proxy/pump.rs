//! Forwarding one connection, with the faults of the moment.

use std::io;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::{mpsc, watch};

use super::Faults;
use crate::timer::Timer;

/// Bytes read at once.
const CHUNK: usize = 16 * 1024;
/// Chunks on their way; with a delay of d seconds, more than 4 MiB / d per second does not fit.
const ON_THE_WAY: usize = 256;
/// A throttled chunk is written in pieces of this duration.
const PIECE: Duration = Duration::from_millis(10);

pub(super) async fn connection(
    mut client: TcpStream,
    mut server: TcpStream,
    faults: watch::Receiver<Faults>,
    timer: &Timer,
) {
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let resets = faults.borrow().resets;
    let mut watched = faults.clone();
    let broken = {
        let ((from_client, to_client), (from_server, to_server)) = (client.split(), server.split());
        let up = direction(from_client, to_server, faults.clone(), timer, |faults| faults.closed_to_server);
        let down = direction(from_server, to_client, faults, timer, |faults| faults.closed_to_client);
        tokio::select! {
            // Each way ends by itself; an error on either ends both.
            result = async { tokio::try_join!(up, down) } => result.is_err(),
            _ = watched.wait_for(|faults| faults.resets != resets) => true,
        }
    };
    if broken {
        let _ = (client.set_zero_linger(), server.set_zero_linger());
    }
}

/// Reads and writes apart from each other, so that a delay does not lower the rate.
async fn direction(
    mut from: ReadHalf<'_>,
    to: WriteHalf<'_>,
    faults: watch::Receiver<Faults>,
    timer: &Timer,
    closed: fn(&Faults) -> u64,
) -> io::Result<()> {
    let (chunks, arriving) = mpsc::channel(ON_THE_WAY);
    let read = async move {
        loop {
            let mut chunk = vec![0; CHUNK];
            let length = from.read(&mut chunk).await?;
            chunk.truncate(length);
            // An empty chunk is the end, which travels as data do.
            if chunks.send((Instant::now(), chunk)).await.is_err() || length == 0 {
                return io::Result::Ok(());
            }
        }
    };
    tokio::try_join!(read, write(to, arriving, faults, timer, closed)).map(|_| ())
}

async fn write(
    mut to: WriteHalf<'_>,
    mut arriving: mpsc::Receiver<(Instant, Vec<u8>)>,
    mut faults: watch::Receiver<Faults>,
    timer: &Timer,
    closed: fn(&Faults) -> u64,
) -> io::Result<()> {
    let closed_before = closed(&faults.borrow());
    let mut half_close = faults.clone();
    let forward = async {
        while let Some((arrived, chunk)) = arriving.recv().await {
            pass(&mut to, arrived, &chunk, &mut faults, timer).await?;
            if chunk.is_empty() {
                break;
            }
        }
        io::Result::Ok(())
    };
    let ended = tokio::select! {
        result = forward => Some(result),
        _ = half_close.wait_for(|faults| closed(faults) != closed_before) => None,
    };
    match ended {
        Some(result) => result,
        None => {
            to.shutdown().await?;
            while arriving.recv().await.is_some() {}
            Ok(())
        }
    }
}

/// Writes one chunk when the faults let it through; an empty one ends the stream.
async fn pass(
    to: &mut WriteHalf<'_>,
    arrived: Instant,
    chunk: &[u8],
    faults: &mut watch::Receiver<Faults>,
    timer: &Timer,
) -> io::Result<()> {
    let mut rest = chunk;
    loop {
        let now = through(arrived, faults, timer).await;
        if chunk.is_empty() {
            return to.shutdown().await;
        }
        let piece = now.bytes_per_second.map_or(rest.len(), |rate| {
            let bytes = u128::from(rate) * PIECE.as_nanos() / 1_000_000_000;
            usize::try_from(bytes).unwrap_or(usize::MAX).clamp(1, rest.len())
        });
        to.write_all(&rest[..piece]).await?;
        rest = &rest[piece..];
        if let Some(rate) = now.bytes_per_second {
            let takes = Duration::from_secs_f64(piece as f64 / rate as f64);
            timer.sleep_until(Instant::now() + takes).await;
        }
        if rest.is_empty() {
            return Ok(());
        }
    }
}

/// Waits for the delay and for the end of a black hole, as they are set meanwhile; returns the faults of then.
async fn through(arrived: Instant, faults: &mut watch::Receiver<Faults>, timer: &Timer) -> Faults {
    loop {
        let now = *faults.borrow_and_update();
        let due = arrived + now.delay;
        if !now.blackhole && Instant::now() >= due {
            return now;
        }
        let wait = async {
            if now.blackhole {
                std::future::pending().await
            } else {
                timer.sleep_until(due).await;
            }
        };
        tokio::select! {
            () = wait => {}
            // The proxy outlives its connections' tasks, so this is a change and never an error for long.
            _ = faults.changed() => {}
        }
    }
}
