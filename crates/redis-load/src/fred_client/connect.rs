//! A fred client that is connected, and gone when it is dropped.

use crate::{Target, classify};
use fred::{clients::Client, interfaces::ClientLike, types::ConnectHandle};
use load_core::{Class, Failure, Op};
use tokio::time::timeout;

/// One client, which is one connection and one task.
pub(crate) struct Connected {
    pub(crate) client: Client,
    task: ConnectHandle,
}

impl Connected {
    pub(crate) async fn open(target: &Target, op: &mut Op) -> Result<Connected, Failure> {
        let client = target.fred_builder()?.build()?;
        // The task is held before anything is waited for, so that it ends with us whatever happens.
        let connected = Connected { task: client.connect(), client };
        let done = timeout(target.connect_timeout, connected.client.wait_for_connect()).await;
        op.mark("connect");
        match done {
            Ok(Ok(())) => Ok(connected),
            Ok(Err(error)) => Err(classify::fred_connect_failure(target, &error)),
            Err(_) => Err(Failure::new(Class::Connect, "timed out")),
        }
    }

    /// The connection has been lost. fred's own `is_connected` stays true for a while, or for ever.
    pub(crate) fn is_lost(&self) -> bool {
        self.task.is_finished()
    }

    /// The failure of an operation that finds it so.
    pub(crate) fn lost_before() -> Failure {
        Failure::new(Class::Closed, "before the request").reconnect()
    }
}

impl Drop for Connected {
    /// The task would otherwise live on, connected, as it holds the client itself.
    fn drop(&mut self) {
        self.task.abort();
    }
}
