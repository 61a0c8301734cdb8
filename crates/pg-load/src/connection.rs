//! One connection: the client, its task, and why it was lost.

#[cfg(feature = "tls")]
use crate::server::Tls;
use crate::{Error, Server, SslMode};
use std::{
    fmt,
    future::Future,
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::{task::JoinHandle, time::timeout};
use tokio_postgres::{
    CancelToken, Client, Config, NoTls, Socket,
    tls::{MakeTlsConnect, TlsConnect},
};

/// How long ending a connection or cancelling a statement may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// A connection to a server. Its task, which does the reading and writing, runs on the tokio runtime where it was
/// opened and ends with it.
pub struct Connection {
    client: Client,
    task: JoinHandle<()>,
    lost: Arc<OnceLock<tokio_postgres::Error>>,
    canceller: Canceller,
    server_version: String,
    encrypted: bool,
}

impl Connection {
    pub(crate) async fn open(server: &Server) -> Result<Connection, Error> {
        server.validate()?;
        let limit = server.connect_timeout();
        match timeout(limit, Connection::attempt(server)).await {
            Ok(result) => result,
            Err(_) => Err(Error::ConnectTimeout { server: server.to_string(), after: limit }),
        }
    }

    async fn attempt(server: &Server) -> Result<Connection, Error> {
        let config = server.client_config();
        #[cfg(feature = "tls")]
        if server.ssl_mode() != SslMode::Disable {
            let tls = Tls::new(server.ssl_mode(), server.root_certificate())?;
            match Connection::start(&config, tls.clone()).await {
                Ok(mut connection) => {
                    connection.encrypted = tls.was_used();
                    connection.canceller.tls = Some(tls);
                    return Ok(connection);
                }
                // `prefer` takes what it can get.
                Err(e)
                    if server.ssl_mode() == SslMode::Prefer
                        && tls.was_used()
                        && e.as_db_error().is_none() => {}
                Err(source) => return Err(Error::Connect { server: server.to_string(), source }),
            }
        }
        let mut config = config;
        config.ssl_mode(tokio_postgres::config::SslMode::Disable);
        debug_assert!(matches!(server.ssl_mode(), SslMode::Disable | SslMode::Prefer));
        let started = Connection::start(&config, NoTls).await;
        started.map_err(|source| Error::Connect { server: server.to_string(), source })
    }

    async fn start<T>(config: &Config, tls: T) -> Result<Connection, tokio_postgres::Error>
    where
        T: MakeTlsConnect<Socket>,
        T::Stream: Send + 'static,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let (client, connection) = config.connect(tls).await?;
        let server_version = connection.parameter("server_version").unwrap_or("unknown").to_owned();
        let lost = Arc::new(OnceLock::new());
        let why = lost.clone();
        let task = tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(error = %crate::classify::reason(&error), "connection lost");
                let _ = why.set(error);
            }
        });
        let canceller = Canceller {
            token: client.cancel_token(),
            #[cfg(feature = "tls")]
            tls: None,
        };
        Ok(Connection { client, task, lost, canceller, server_version, encrypted: false })
    }

    /// The client, for statements of your own.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The client, for transactions of your own.
    pub fn client_mut(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Why the connection was lost, once it is.
    pub fn lost(&self) -> Option<&tokio_postgres::Error> {
        self.lost.get()
    }

    /// The server's version as it says it (`"15.14 (Debian 15.14-0+deb12u1)"`).
    pub fn server_version(&self) -> &str {
        &self.server_version
    }

    /// Whether TLS is used.
    pub fn is_encrypted(&self) -> bool {
        self.encrypted
    }

    pub(crate) fn canceller(&self) -> &Canceller {
        &self.canceller
    }

    pub(crate) async fn execute(&self, what: impl Into<String>, sql: &str) -> Result<(), Error> {
        self.client.batch_execute(sql).await.map_err(Error::statement(what))
    }

    /// Ends the session with the server in good order; waits for that at most a second.
    pub async fn close(self) {
        let Connection { client, mut task, .. } = self;
        drop(client);
        if timeout(FAREWELL, &mut task).await.is_err() {
            task.abort();
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("server_version", &self.server_version)
            .field("encrypted", &self.encrypted)
            .field("closed", &self.client.is_closed())
            .finish_non_exhaustive()
    }
}

/// Stops what a connection's server process is doing, by a connection of its own.
#[derive(Clone)]
pub(crate) struct Canceller {
    token: CancelToken,
    #[cfg(feature = "tls")]
    tls: Option<Tls>,
}

impl Canceller {
    #[cfg(feature = "tls")]
    pub(crate) fn new(token: CancelToken, tls: Option<Tls>) -> Canceller {
        Canceller { token, tls }
    }

    #[cfg(not(feature = "tls"))]
    pub(crate) fn new(token: CancelToken) -> Canceller {
        Canceller { token }
    }

    /// Asks the server to stop; gives up after a second. That it was asked does not mean that it has stopped.
    pub(crate) async fn cancel(self) {
        let cancelled = async {
            #[cfg(feature = "tls")]
            if let Some(tls) = self.tls {
                return self.token.cancel_query(tls).await;
            }
            self.token.cancel_query(NoTls).await
        };
        match timeout(FAREWELL, cancelled).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(error = %crate::classify::reason(&error), "could not cancel"),
            Err(_) => tracing::debug!("could not cancel: no answer"),
        }
    }

    /// The same where no runtime may be had, as when a session is dropped in the middle of a statement.
    pub(crate) fn cancel_in_background(self) {
        let run = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            if let Ok(runtime) = runtime {
                runtime.block_on(self.cancel());
            }
        };
        if let Err(error) = std::thread::Builder::new().name("pg-cancel".into()).spawn(run) {
            tracing::debug!(%error, "could not cancel");
        }
    }
}

/// Awaits with a limit that is told as an error of ours.
pub(crate) async fn within<T>(
    what: &str,
    limit: Duration,
    future: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    match timeout(limit, future).await {
        Ok(result) => result,
        Err(_) => Err(Error::Timeout { what: what.to_owned(), after: limit }),
    }
}
