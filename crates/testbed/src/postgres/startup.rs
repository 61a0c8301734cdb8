//! The few bytes of PostgreSQL's protocol that tell whether it takes connections.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use super::USER;
use crate::process::ready::{self, Probe};

/// A StartupMessage (protocol 3.0) for the superuser.
fn startup_message() -> Vec<u8> {
    let body = [b"\0\x03\0\0user\0", USER.as_bytes(), b"\0database\0", USER.as_bytes(), b"\0\0"].concat();
    let length = u32::try_from(body.len() + 4).unwrap_or(0);
    [&length.to_be_bytes()[..], &body].concat()
}

/// Whether this is a request for a password: it comes only when the server takes connections. While it starts or
/// recovers, an error (`E`, SQLSTATE 57P03) comes instead.
fn asks_for_a_password(answer: &[u8]) -> bool {
    answer.starts_with(b"R") && answer.len() >= 9 && answer[5..9] != [0; 4]
}

/// Ready when a server asks for a password on `addr`, and the postmaster that wrote in this cluster's `postmaster.pid`
/// that it is ready is ours: together they tell our server from another one on its port.
pub(super) fn probe(addr: SocketAddr, cluster: PathBuf) -> Probe {
    Probe::new(move |pid| {
        let text = std::fs::read_to_string(cluster.join("postmaster.pid"))?;
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        if lines.first() != Some(&pid.to_string().as_str()) || lines.get(7) != Some(&"ready") {
            return Err(io::Error::other("its own file says that it is not ready"));
        }
        let mut stream = ready::connect(addr)?;
        stream.write_all(&startup_message())?;
        let mut answer = [0; 256];
        let mut length = 0;
        while length < 9 {
            match stream.read(&mut answer[length..])? {
                0 => break,
                read => length += read,
            }
        }
        if asks_for_a_password(&answer[..length]) {
            Ok(())
        } else {
            Err(ready::unexpected(&answer[..length]))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_startup_message_has_its_length_and_ends() {
        let message = startup_message();
        assert_eq!(u32::from_be_bytes(message[..4].try_into().unwrap()) as usize, message.len());
        assert_eq!(&message[4..], b"\0\x03\0\0user\0postgres\0database\0postgres\0\0");
    }

    #[test]
    fn only_a_request_for_a_password_counts() {
        assert!(asks_for_a_password(b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0"));
        assert!(!asks_for_a_password(b"R\0\0\0\x08\0\0\0\0"), "authenticated without one: not our server");
        assert!(!asks_for_a_password(b"E\0\0\0\x40SFATAL\0"));
        assert!(!asks_for_a_password(b""));
    }
}
