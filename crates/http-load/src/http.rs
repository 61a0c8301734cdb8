//! The workload: what to ask of whom, and what counts as an answer.

use crate::{
    address::Addresses,
    deadline::Deadline,
    session::HttpSession,
    status::Statuses,
    target::{self, shown},
    template::Template,
};
use bytes::Bytes;
use hyper::{
    Method, Uri,
    header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderName, HeaderValue, TRANSFER_ENCODING},
};
use load_core::{ConfigError, Failure, Op, SessionId, Workload};
use std::{fmt, net::SocketAddr, ops::RangeInclusive, sync::Arc, time::Duration};

/// How long an operation may take unless told otherwise.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// An HTTP/1.1 workload: each session is one connection, each operation one request and its whole answer.
///
/// ```
/// use http_load::Http;
/// use std::time::Duration;
///
/// let page = Http::get("http://127.0.0.1:8080/page")?
///     .header("Accept", "text/html")?
///     .timeout(Duration::from_secs(2))?
///     .expect_status(200)?;
/// # Ok::<(), load_core::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Http {
    shared: Arc<Shared>,
}

/// What all sessions read.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) addresses: Addresses,
    pub(crate) template: Template,
    pub(crate) statuses: Statuses,
    pub(crate) timeout: Option<Duration>,
    pub(crate) keep_alive: bool,
}

impl Http {
    /// `GET` of a URL: `http://host[:port][/path][?query]`.
    ///
    /// # Errors
    /// A [`ConfigError`] when the URL cannot be used: another scheme, no host, IPv6 without brackets or with a zone id,
    /// credentials in it.
    pub fn get(url: &str) -> Result<Http, ConfigError> {
        Http::new(Method::GET, url)
    }

    /// `HEAD` of a URL; its answers have no body, whatever length they announce.
    ///
    /// # Errors
    /// As [`get`](Http::get).
    pub fn head(url: &str) -> Result<Http, ConfigError> {
        Http::new(Method::HEAD, url)
    }

    /// `POST` to a URL; see [`body`](Http::body).
    ///
    /// # Errors
    /// As [`get`](Http::get).
    pub fn post(url: &str) -> Result<Http, ConfigError> {
        Http::new(Method::POST, url)
    }

    /// `PUT` to a URL; see [`body`](Http::body).
    ///
    /// # Errors
    /// As [`get`](Http::get).
    pub fn put(url: &str) -> Result<Http, ConfigError> {
        Http::new(Method::PUT, url)
    }

    /// `DELETE` of a URL.
    ///
    /// # Errors
    /// As [`get`](Http::get).
    pub fn delete(url: &str) -> Result<Http, ConfigError> {
        Http::new(Method::DELETE, url)
    }

    /// Any other method.
    ///
    /// # Errors
    /// As [`get`](Http::get), and for a method that is not a token, or `CONNECT`.
    pub fn request(method: &str, url: &str) -> Result<Http, ConfigError> {
        let refused = |why| ConfigError::invalid("method", method, why);
        match Method::from_bytes(method.as_bytes()) {
            Ok(Method::CONNECT) => Err(refused("tunnels are not supported")),
            Ok(method) => Http::new(method, url),
            Err(_) => Err(refused("a method is one word, such as GET")),
        }
    }

    fn new(method: Method, url: &str) -> Result<Http, ConfigError> {
        let (target, uri) = target::parse(url)?;
        let mut template = Template::new(method, uri);
        template.headers.push((HOST, target.authority()));
        // Without it a server may wait for a body.
        if matches!(template.method, Method::POST | Method::PUT | Method::PATCH) {
            template.headers.push((CONTENT_LENGTH, HeaderValue::from_static("0")));
        }
        Ok(Http {
            shared: Arc::new(Shared {
                addresses: Addresses::of(target),
                template,
                statuses: Statuses::default(),
                timeout: Some(DEFAULT_TIMEOUT),
                keep_alive: true,
            }),
        })
    }

    /// Sends a header with each request; again for another of the same name. `Host` replaces the one from the URL.
    ///
    /// Its value is never shown: not in records, errors or `Debug` output.
    ///
    /// # Errors
    /// When name or value cannot be sent, and for headers that other settings decide: `Connection`
    /// ([`keep_alive`](Http::keep_alive)), `Content-Length` and `Transfer-Encoding` ([`body`](Http::body)).
    pub fn header(mut self, name: &str, value: &str) -> Result<Http, ConfigError> {
        let refused = |why| Err(ConfigError::invalid("header", name.escape_debug(), why));
        let Ok(parsed) = HeaderName::from_bytes(name.as_bytes()) else {
            return refused("that is not the name of a header");
        };
        let Ok(value) = HeaderValue::from_str(value) else {
            return refused("its value has characters that cannot be sent");
        };
        match parsed {
            CONNECTION => return refused("use keep_alive(false) to close connections"),
            CONTENT_LENGTH | TRANSFER_ENCODING => return refused("it follows from the body"),
            _ => {}
        }
        let headers = &mut self.shared_mut().template.headers;
        if parsed == HOST {
            headers.retain(|(name, _)| *name != HOST);
        }
        headers.push((parsed, value));
        Ok(self)
    }

    /// Sends this body with each request, and its length.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Http {
        let body = body.into();
        let template = &mut self.shared_mut().template;
        template.headers.retain(|(name, _)| *name != CONTENT_LENGTH);
        template.headers.push((CONTENT_LENGTH, HeaderValue::from(body.len())));
        template.body = body;
        self
    }

    /// How long an operation may take, from its start to the last byte of the answer, a new connection included; 30 s unless
    /// told otherwise. After that it fails (class `timeout`, with the step it was in as the code) and the connection is closed.
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

    /// Only this status is a success; others are failures of class `status` with the status as the code. Unless told
    /// otherwise 200 to 399 are successes, as with wrk. Redirects are not followed.
    ///
    /// # Errors
    /// When it is not 100 to 999.
    pub fn expect_status(self, status: u16) -> Result<Http, ConfigError> {
        self.expect_statuses(status..=status)
    }

    /// Only these statuses are successes.
    ///
    /// # Errors
    /// When they are not within 100 to 999.
    pub fn expect_statuses(mut self, statuses: RangeInclusive<u16>) -> Result<Http, ConfigError> {
        let mut expected = Statuses::none();
        expected.add(*statuses.start(), *statuses.end())?;
        self.shared_mut().statuses = expected;
        Ok(self)
    }

    /// Any complete answer is a success.
    #[must_use]
    pub fn any_status(self) -> Http {
        self.expect_statuses(100..=999).expect("a valid range")
    }

    /// With `false`, each operation opens its own connection (inside the operation: its time is the step `connect`), says
    /// `Connection: close` and closes it after the answer.
    #[must_use]
    pub fn keep_alive(mut self, keep: bool) -> Http {
        let shared = self.shared_mut();
        shared.keep_alive = keep;
        shared.template.headers.retain(|(name, _)| *name != CONNECTION);
        if !keep {
            shared.template.headers.push((CONNECTION, HeaderValue::from_static("close")));
        }
        self
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

    /// The same requests sent to another address: for calibration against a target that costs nothing.
    #[must_use]
    pub fn against(&self, address: SocketAddr) -> Http {
        self.clone().connect_to([address]).expect("one address")
    }

    fn shared_mut(&mut self) -> &mut Shared {
        Arc::make_mut(&mut self.shared)
    }
}

/// In words: `GET http://127.0.0.1:8080/page`. Without the query.
impl fmt::Display for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shared { template, addresses, .. } = &*self.shared;
        let uri: &Uri = &template.uri;
        write!(f, "{} {}", template.method, shown(&format!("http://{}{uri}", addresses.target())))
    }
}

/// Without header values, body and query.
impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shared { addresses, template, statuses, timeout, keep_alive } = &*self.shared;
        f.debug_struct("Http")
            .field("addresses", addresses)
            .field("template", template)
            .field("statuses", statuses)
            .field("timeout", timeout)
            .field("keep_alive", keep_alive)
            .finish()
    }
}

impl Workload for Http {
    type Session = HttpSession;

    async fn connect(&self, id: &SessionId, op: &mut Op) -> Result<HttpSession, Failure> {
        let deadline = Deadline::new(self.shared.timeout);
        let mut session = HttpSession::new(Arc::clone(&self.shared), deadline, id.index());
        session.first_connection(op).await?;
        Ok(session)
    }
}
