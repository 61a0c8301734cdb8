//! Single commands whose answers are read: around the load, never under it.

use super::{Connection, Exchanged, Outgoing, Receiver};
use crate::resp::{ErrorText, ProtocolError, Reply, Sink, Value, command, decode};
use load_core::Failure;
use std::time::Duration;

/// The largest answer that is read into memory: INFO and a batch of SCAN are far below it.
const LARGEST_ANSWER: usize = 64 << 20;

/// Keeps the answer's bytes.
#[derive(Default)]
struct Keep(Vec<u8>);

impl Sink for Keep {}

impl Receiver for Keep {
    fn reply(&mut self, _: Reply, _: &ErrorText) {}

    fn raw(&mut self, bytes: &[u8]) -> Result<(), ProtocolError> {
        if self.0.len() + bytes.len() > LARGEST_ANSWER {
            return Err(ProtocolError::TooLarge(LARGEST_ANSWER));
        }
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

impl Connection {
    /// Sends one command and reads its answer. An error reply is an answer: [`Value::Error`].
    ///
    /// # Errors
    /// When no answer came; the connection is of no more use then.
    pub(crate) async fn ask(&mut self, parts: &[&[u8]], limit: Duration) -> Result<Value, Failure> {
        let mut request = Vec::new();
        command(&mut request, parts);
        let (mut keep, mut done) = (Keep::default(), Exchanged::default());
        self.exchange(Outgoing::plain(&request), 1, limit, &mut keep, &mut done)
            .await
            .map_err(|lost| lost.into_failure(done.sent))?;
        decode(&keep.0).map_err(|error| super::Lost::Protocol(error).into_failure(done.sent))
    }
}
