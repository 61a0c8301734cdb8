//! A session, with either client.

use crate::{fred_client::FredCommands, lean::LeanSession};
use load_core::{Op, Outcome, Session};

/// One connection to the server; an operation is one request, or one pipeline of them. Made by
/// [`Redis`](crate::Redis).
#[derive(Debug)]
pub struct RedisSession(pub(crate) Inner);

#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a box would be one more step to memory for each operation of the lean client"
)]
pub(crate) enum Inner {
    Lean(LeanSession),
    Fred(FredCommands),
}

impl Session for RedisSession {
    #[inline]
    async fn call(&mut self, op: &mut Op) -> Outcome {
        match &mut self.0 {
            Inner::Lean(session) => session.call(op).await,
            Inner::Fred(session) => session.call(op).await,
        }
    }

    #[inline]
    fn prepare(&mut self, op: &mut Op) {
        match &mut self.0 {
            Inner::Lean(session) => session.prepare(op),
            Inner::Fred(session) => session.prepare(op),
        }
    }
}
