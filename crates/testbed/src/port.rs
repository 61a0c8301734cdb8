//! Free ports of 127.0.0.1.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use crate::Error;

/// How often a start is repeated on another port when somebody took the port between our look and the server's bind.
pub(crate) const ATTEMPTS: usize = 5;

/// A port of 127.0.0.1 that was free a moment ago.
pub(crate) fn free() -> Result<SocketAddr, Error> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map_err(Error::io("finding a free port of 127.0.0.1"))
}

/// Whether a start failed because the port was taken.
pub(crate) fn was_taken(error: &Error) -> bool {
    let (Error::Exited { log, .. } | Error::NotReady { log, .. }) = error else { return false };
    let log = log.to_ascii_lowercase();
    log.contains("address already in use") || log.contains("address in use")
}

/// Runs `start` on free ports until one is not taken by somebody else; on `fixed` alone if there is one.
pub(crate) fn start_on<T>(
    fixed: Option<SocketAddr>,
    mut start: impl FnMut(SocketAddr) -> Result<T, Error>,
) -> Result<T, Error> {
    if let Some(addr) = fixed {
        return start(addr);
    }
    let mut attempt = 1;
    loop {
        match start(free()?) {
            Err(error) if attempt < ATTEMPTS && was_taken(&error) => {
                tracing::debug!(attempt, "the port was taken meanwhile; trying another");
                attempt += 1;
            }
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken() -> Error {
        let log = "bind() to 127.0.0.1:1 failed (98: Address already in use)".to_owned();
        Error::Exited { name: "x".into(), status: "1".into(), log }
    }

    #[test]
    fn a_taken_port_is_tried_again_elsewhere_but_not_for_ever() {
        let mut tried = Vec::new();
        let result = start_on(None, |addr| {
            tried.push(addr);
            if tried.len() < 3 { Err(taken()) } else { Ok(addr) }
        });
        assert_eq!(result.unwrap(), tried[2]);

        let mut attempts = 0;
        assert!(
            start_on(None, |_| -> Result<(), _> {
                attempts += 1;
                Err(taken())
            })
            .is_err()
        );
        assert_eq!(attempts, ATTEMPTS);
    }

    #[test]
    fn a_fixed_port_and_other_failures_are_tried_once() {
        let mut attempts = 0;
        let _ = start_on(Some(free().unwrap()), |_| -> Result<(), _> {
            attempts += 1;
            Err(taken())
        });
        let _ = start_on(None, |_| -> Result<(), _> {
            attempts += 1;
            Err(Error::NotRunning { name: "x".into() })
        });
        assert_eq!(attempts, 2);
    }
}
