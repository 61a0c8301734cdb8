//! How a session gets its connection.

use super::HttpSession;
use crate::connection::{Connection, One, Stream};
#[cfg(feature = "http2")]
use crate::connection::{Live, Seat};
#[cfg(feature = "http2")]
use crate::fault;
#[cfg(feature = "tls")]
use crate::tls;
use load_core::{Failure, Op};
#[cfg(feature = "http2")]
use std::sync::Arc;

impl HttpSession {
    /// Opens the session: connects, unless each operation does so itself.
    pub(crate) async fn first_connection(&mut self, op: &mut Op) -> Result<(), Failure> {
        self.deadline.start(op.started_at());
        if self.shared.keep_alive { self.connect(op).await } else { Ok(()) }
    }

    /// Opens a connection, or takes a seat on one that is shared.
    pub(super) async fn connect(&mut self, op: &mut Op) -> Result<(), Failure> {
        #[cfg(feature = "http2")]
        if let Some(sessions) = self.shared.http2 {
            return self.sit_down(sessions, op).await;
        }
        let stream = self.dial(op).await?;
        let one = One::over(stream, self.shared.copies_bodies()).await?;
        self.connection = Some(Connection::One(Box::new(one)));
        Ok(())
    }

    #[cfg(feature = "http2")]
    async fn sit_down(&mut self, sessions: usize, op: &mut Op) -> Result<(), Failure> {
        let most = if self.shared.keep_alive { sessions } else { 0 };
        let mut seat = Seat::take(Arc::as_ptr(&self.shared) as usize, most);
        let due = self.deadline.due();
        let limit = self.deadline.limit();
        let opening = seat.open(async || Live::over(self.dial(op).await?).await);
        match due {
            None => opening.await?,
            // It may be another session's that is waited for, or an answer to the first words.
            Some(due) => match tokio::time::timeout_at(due, opening).await {
                Ok(opened) => opened?,
                Err(_) => return Err(fault::timed_out("connect", limit, false)),
            },
        }
        self.connection = Some(Connection::Many(seat));
        Ok(())
    }

    /// A new stream to the server; the first says what was agreed on.
    async fn dial(&mut self, op: &mut Op) -> Result<Stream, Failure> {
        let HttpSession { shared, deadline, .. } = self;
        let first = !self.told;
        let (stream, address) = shared.addresses.connect(self.address, op, deadline).await?;
        self.address = address;
        op.count("connections_opened", 1);
        #[cfg(feature = "tls")]
        let stream = match &shared.handshakes {
            None => stream,
            Some(handshakes) => {
                let host = &shared.addresses.target().host;
                let stream = handshakes.shake(host, stream, op, deadline).await?;
                if first {
                    op.fact("tls", tls::agreed(&stream));
                }
                Stream::Tls(Box::new(stream))
            }
        };
        if first {
            op.fact("protocol", shared.version());
            op.fact("address", shared.addresses.shown().unwrap_or_default());
            self.told = true;
        }
        Ok(stream)
    }
}
