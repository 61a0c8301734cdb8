//! Blocking work for async callers, without a claim on their runtime.

use tokio::sync::oneshot;

use crate::Error;

/// Runs `work` on a thread of its own and waits for it, on any async runtime.
///
/// If the future is dropped, the work still runs to its end, and its result is dropped there: a server that was being
/// started is stopped again.
pub(crate) async fn off_thread<T: Send + 'static>(
    what: &'static str,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let (tx, rx) = oneshot::channel();
    std::thread::Builder::new()
        .name(what.to_owned())
        .spawn(move || drop(tx.send(work())))
        .map_err(Error::io(format!("starting a thread for {what}")))?;
    rx.await.unwrap_or_else(|_| {
        Err(Error::Io {
            what: what.to_owned(),
            source: std::io::Error::other("the thread doing it panicked"),
        })
    })
}
