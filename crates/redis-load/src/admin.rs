//! A connection for work around the load, with errors that say which server refused what.

use crate::{RedisError, Target, connection::Connection, resp::Value};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How often a server that is not ready is asked again.
const AGAIN: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(crate) struct Admin {
    target: Target,
    connection: Connection,
}

impl Admin {
    pub(crate) async fn open(target: &Target) -> Result<Admin, RedisError> {
        let connection =
            Connection::open_quietly(target).await.map_err(|failure| RedisError::server(target, &failure))?;
        Ok(Admin { target: target.clone(), connection })
    }

    /// Waits until the server takes commands: it may be starting, or loading its data.
    ///
    /// # Errors
    /// The last reason why not, when `limit` is over; at once when waiting cannot help.
    pub(crate) async fn open_when_ready(target: &Target, limit: Duration) -> Result<Admin, RedisError> {
        let end = Instant::now() + limit;
        loop {
            let tried = async {
                let mut admin = Admin::open(target).await?;
                admin.ask(&[b"PING"]).await?;
                Ok::<Admin, RedisError>(admin)
            };
            match tried.await {
                Err(error) if error.may_pass() && Instant::now() + AGAIN < end => sleep(AGAIN).await,
                result => return result,
            }
        }
    }

    /// One command; an error reply is an error.
    pub(crate) async fn ask(&mut self, parts: &[&[u8]]) -> Result<Value, RedisError> {
        match self.connection.ask(parts, self.target.timeout).await {
            Ok(Value::Error(reply)) => Err(RedisError::Refused {
                target: self.target.to_string(),
                command: String::from_utf8_lossy(parts[0]).into_owned(),
                reply,
            }),
            Ok(value) => Ok(value),
            Err(failure) => Err(RedisError::server(&self.target, &failure)),
        }
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// What the server said is not what the command gives.
    pub(crate) fn unexpected(&self, command: &str) -> RedisError {
        RedisError::Server {
            target: self.target.to_string(),
            what: format!("protocol: {command} gave no answer of its kind"),
        }
    }
}
