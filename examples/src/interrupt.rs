//! Ctrl-C: the first stops the run and keeps what was measured, the second ends the program at once.

use openloop::Stopper;

/// Stops `stopper` at the first SIGINT or SIGTERM. Runs on a thread of its own, to the end of the program.
pub(crate) fn stop_on_signal(stopper: Stopper) {
    let listen = move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            wait().await;
            eprintln!("\nstopping: what was measured is kept (once more ends at once)");
            stopper.stop();
            wait().await;
            std::process::exit(130);
        });
    };
    // Without the thread Ctrl-C ends the program as it does any other.
    let _ = std::thread::Builder::new().name("signals".into()).spawn(listen);
}

#[cfg(unix)]
async fn wait() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! { _ = tokio::signal::ctrl_c() => {} _ = terminate.recv() => {} }
        }
        Err(_) => drop(tokio::signal::ctrl_c().await),
    }
}

#[cfg(not(unix))]
async fn wait() {
    drop(tokio::signal::ctrl_c().await);
}
