//! One connection: the client, its task, and why it was lost.

#[cfg(feature = "tls")]
use crate::server::Tls;
use crate::{Error, Server, SslMode, cancel::Canceller};
use std::{
    fmt,
    future::Future,
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::{task::JoinHandle, time::timeout};
use tokio_postgres::{
    Client, Config, NoTls, Socket,
    tls::{MakeTlsConnect, TlsConnect},
};

/// How long ending a connection may take.
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
        let way = Way::to(server)?;
        let limit = server.connect_timeout();
        match timeout(limit, way.open()).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(cause)) => Err(Error::Connect { server: server.to_string(), cause }),
            Err(_) => Err(Error::ConnectTimeout { server: server.to_string(), after: limit }),
        }
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
        let canceller = Canceller::new(
            client.cancel_token(),
            #[cfg(feature = "tls")]
            None,
        );
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

    /// What stops the statement that runs.
    pub(crate) fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    /// The client and its task, which a pool keeps.
    pub(crate) fn into_parts(self) -> (Client, JoinHandle<()>) {
        (self.client, self.task)
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

/// How connections to a server are made; the certificates are read once.
#[derive(Clone)]
pub(crate) struct Way {
    config: Config,
    mode: SslMode,
    #[cfg(feature = "tls")]
    tls: Option<Tls>,
}

impl Way {
    pub(crate) fn to(server: &Server) -> Result<Way, Error> {
        server.validate()?;
        let mode = server.ssl_mode();
        Ok(Way {
            config: server.client_config(),
            mode,
            #[cfg(feature = "tls")]
            tls: if mode == SslMode::Disable {
                None
            } else {
                Some(Tls::new(mode, server.root_certificate())?)
            },
        })
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// Opens one connection; the time it takes is not limited.
    pub(crate) async fn open(&self) -> Result<Connection, tokio_postgres::Error> {
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            let tls = tls.anew();
            match Connection::start(&self.config, tls.clone()).await {
                Ok(mut connection) => {
                    connection.encrypted = tls.was_used();
                    connection.canceller = self.canceller(&connection.client);
                    return Ok(connection);
                }
                // `prefer` takes what it can get.
                Err(e) if self.mode == SslMode::Prefer && tls.was_used() && e.as_db_error().is_none() => {}
                Err(error) => return Err(error),
            }
        }
        debug_assert!(matches!(self.mode, SslMode::Disable | SslMode::Prefer));
        let mut config = self.config.clone();
        config.ssl_mode(tokio_postgres::config::SslMode::Disable);
        Connection::start(&config, NoTls).await
    }

    /// What stops a statement that this client runs.
    pub(crate) fn canceller(&self, client: &Client) -> Canceller {
        Canceller::new(
            client.cancel_token(),
            #[cfg(feature = "tls")]
            self.tls.clone(),
        )
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
