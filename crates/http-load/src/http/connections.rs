//! How to get to the server, and how long to wait for it.

use super::Http;
use crate::connection::Addresses;
use hyper::header::{CONNECTION, HeaderValue};
use load_core::ConfigError;
use std::{net::SocketAddr, time::Duration};

impl Http {
    /// How long an operation may take, from its start to the last byte of the answer, a new connection included; 30 s unless
    /// told otherwise. In a sequence it is each part that may take so long, and behind a mark of your own
    /// ([`Op::mark`](load_core::Op::mark)) it counts from there. After that it fails (class `timeout`, with the step it was in as the code) and the connection is closed.
    /// Opening a session has the same limit. Accurate to about a millisecond, never early.
    ///
    /// # Errors
    /// When it is zero; see [`no_timeout`](Http::no_timeout).
    pub fn timeout(mut self, timeout: Duration) -> Result<Http, ConfigError> {
        if timeout.is_zero() {
            return Err(ConfigError::invalid("timeout", "0", "use no_timeout() to wait for ever"));
        }
        self.shared_mut().timeout = Some(timeout);
        Ok(self)
    }

    /// Waits for answers for ever.
    #[must_use]
    pub fn no_timeout(mut self) -> Http {
        self.shared_mut().timeout = None;
        self
    }

    /// With `false`, each operation opens its own connection (inside the operation: its time is the step `connect`), says
    /// `Connection: close` and closes it after the answer.
    #[must_use]
    pub fn keep_alive(mut self, keep: bool) -> Http {
        self.shared_mut().keep_alive = keep;
        let close = (!keep).then(|| HeaderValue::from_static("close"));
        self.template_mut().headers.set(CONNECTION, close);
        self
    }

    /// Closes a connection after this many answers; the next operation opens a new one.
    ///
    /// # Errors
    /// When it is 0.
    pub fn requests_per_connection(mut self, requests: u64) -> Result<Http, ConfigError> {
        if requests == 0 {
            return Err(ConfigError::invalid("requests_per_connection", 0, "it must be 1 or more"));
        }
        self.shared_mut().answers_per_connection = requests;
        Ok(self)
    }

    /// Connects to these addresses instead of those that the host resolves to; the `Host` header stays. The rule is the same:
    /// session i begins with address i modulo their number and goes on to the next when that one does not take it.
    ///
    /// # Errors
    /// When there are none.
    pub fn connect_to(
        mut self,
        addresses: impl IntoIterator<Item = SocketAddr>,
    ) -> Result<Http, ConfigError> {
        let addresses: Vec<_> = addresses.into_iter().collect();
        if addresses.is_empty() {
            return Err(ConfigError::invalid("connect_to", "no address", "give at least one"));
        }
        let shared = self.shared_mut();
        shared.addresses = Addresses::known(shared.addresses.target().clone(), addresses);
        Ok(self)
    }

    /// How `https` is spoken; by this machine's roots unless told otherwise.
    ///
    /// # Errors
    /// When the URL is not one of `https`.
    #[cfg(feature = "tls")]
    #[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
    pub fn tls(mut self, tls: crate::Tls) -> Result<Http, ConfigError> {
        let shared = self.shared_mut();
        if shared.handshakes.is_none() {
            return Err(ConfigError::invalid("tls", "http", "the URL must begin with https://"));
        }
        shared.handshakes = Some(std::sync::Arc::new(crate::tls::Handshakes::new(tls, shared.protocol())));
        Ok(self)
    }

    /// Speaks HTTP/2, and nothing else: when the server does not, opening a session fails. Over TLS it is agreed on (ALPN),
    /// otherwise the server must know.
    ///
    /// Each session is one stream at a time; `sessions` of them share a connection, where they live on the same worker. So
    /// 100 sessions on one worker with 20 to a connection are 5 connections. When the server closes one in good order
    /// (`GOAWAY`), what is in flight ends on it and the sessions move on to others; a request that it says not to have looked at
    /// is sent again (counter `refused_repeated`).
    ///
    /// Sessions need a local runtime of tokio (`LocalRuntime` or a `LocalSet`), as workers of the engine have.
    ///
    /// # Errors
    /// When `sessions` is 0.
    #[cfg(feature = "http2")]
    #[cfg_attr(docsrs, doc(cfg(feature = "http2")))]
    pub fn http2(mut self, sessions: usize) -> Result<Http, ConfigError> {
        if sessions == 0 {
            return Err(ConfigError::invalid("http2", 0, "one session or more use a connection"));
        }
        let shared = self.shared_mut();
        shared.http2 = Some(sessions);
        #[cfg(feature = "tls")]
        if let Some(handshakes) = &shared.handshakes {
            shared.handshakes = Some(std::sync::Arc::new(handshakes.for_protocol(shared.protocol())));
        }
        Ok(self)
    }

    /// Connects to a unix socket instead of the host; the `Host` header stays.
    #[cfg(unix)]
    #[must_use]
    pub fn unix_socket(mut self, path: impl Into<std::path::PathBuf>) -> Http {
        let shared = self.shared_mut();
        shared.addresses = Addresses::unix(shared.addresses.target().clone(), path.into());
        self
    }
}
