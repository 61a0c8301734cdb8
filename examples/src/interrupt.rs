//! Ctrl-C: the first stops the run and keeps what was measured, the second ends the program at once.

use openloop::Stopper;

/// Stops `stopper` at the first SIGINT or SIGTERM. Runs on a thread of its own, to the end of the program.
pub(crate) fn stop_on_signal(stopper: Stopper) {
    let listen = move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            let Ok(mut signals) = Signals::new() else { return };
            signals.next().await;
            eprintln!("\nstopping: what was measured is kept (once more ends at once)");
            stopper.stop();
            signals.next().await;
            std::process::exit(130);
        });
    };
    // Without the thread Ctrl-C ends the program as it does any other.
    let _ = std::thread::Builder::new().name("signals".into()).spawn(listen);
}

/// Listens from its creation on, so that a second signal right after the first is not lost.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! { _ = self.interrupt.recv() => {} _ = self.terminate.recv() => {} }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Signals> {
        Ok(Signals)
    }

    async fn next(&mut self) {
        drop(tokio::signal::ctrl_c().await);
    }
}
