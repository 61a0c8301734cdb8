//! The product's server of a comparison, in a process of its own: its CPU time is told apart from a client's.

use std::{
    io::{self, BufRead, BufReader, Read},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    time::Duration,
};

const MARK: &str = "--as-server";

/// Whether a bench was started as the server.
pub fn is_server() -> bool {
    std::env::args().nth(1).is_some_and(|a| a == MARK)
}

/// In the server: says where it listens, and returns when the bench is done with it or gone.
pub fn serve_until_closed(address: SocketAddr) {
    println!("{address}");
    let _ = io::stdin().read_to_end(&mut Vec::new());
}

/// This bench, started again as a server; it ends when dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    /// Starts it and waits until it listens.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start() -> io::Result<Server> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut child = command.arg(MARK).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line)?;
        let address = line.trim().parse().map_err(io::Error::other)?;
        Ok(Server { child, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its CPU time so far, all threads.
    pub fn cpu(&self) -> Duration {
        crate::process::cpu_of(&self.child.id().to_string(), 11).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
