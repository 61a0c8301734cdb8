//! The workload: what to ask of whom, and what counts as an answer.

mod answers;
mod connections;
mod requests;

use crate::{
    NullTarget,
    connection::{Addresses, COPIED_BODY},
    deadline::Deadline,
    reply::Checks,
    request::{Order, Paths, Requests, Template, target},
    session::HttpSession,
};
use hyper::Method;
use load_core::{ConfigError, Failure, NullTargetError, Nulled, Op, SessionId, Workload};
use std::{fmt, io, sync::Arc, time::Duration};

/// How long an operation may take unless told otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

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
    pub(crate) requests: Requests,
    pub(crate) checks: Checks,
    pub(crate) timeout: Option<Duration>,
    pub(crate) keep_alive: bool,
    /// After how many answers a connection is closed.
    pub(crate) answers_per_connection: u64,
    /// How many sessions share a connection, for HTTP/2.
    #[cfg(feature = "http2")]
    pub(crate) http2: Option<usize>,
    /// For `https`.
    #[cfg(feature = "tls")]
    pub(crate) handshakes: Option<Arc<crate::tls::Handshakes>>,
}

impl Shared {
    /// As ALPN names it.
    #[cfg(feature = "tls")]
    fn protocol(&self) -> &'static str {
        #[cfg(feature = "http2")]
        if self.http2.is_some() {
            return "h2";
        }
        "http/1.1"
    }

    pub(crate) fn version(&self) -> &'static str {
        #[cfg(feature = "http2")]
        if self.http2.is_some() {
            return "HTTP/2";
        }
        "HTTP/1.1"
    }

    /// Whether bodies are small enough to be copied behind their heads.
    pub(crate) fn copies_bodies(&self) -> bool {
        match &self.requests {
            Requests::Template(template) => template.body.length().is_some_and(|n| n <= COPIED_BODY),
            Requests::Made(..) => false,
        }
    }
}

impl Http {
    fn new(method: Method, urls: &[&str], order: Order) -> Result<Http, ConfigError> {
        let Some((first, others)) = urls.split_first() else {
            return Err(ConfigError::invalid("urls", "no URL", "give at least one"));
        };
        let (target, path) = target::parse(first)?;
        let mut paths = vec![path];
        for url in others {
            let (other, path) = target::parse(url)?;
            if other != target {
                let why = format!("all go to one host, the first is {target}");
                return Err(ConfigError::invalid("url", target::shown(url), why));
            }
            paths.push(path);
        }
        let paths = Paths::new(paths.iter().map(String::as_str), order)?;
        let template = Template::new(method, paths, target.authority());
        #[cfg(feature = "tls")]
        let handshakes =
            target.tls.then(|| Arc::new(crate::tls::Handshakes::new(crate::tls::Tls::system(), "http/1.1")));
        Ok(Http {
            shared: Arc::new(Shared {
                #[cfg(feature = "http2")]
                http2: None,
                #[cfg(feature = "tls")]
                handshakes,
                addresses: Addresses::of(target),
                requests: Requests::Template(template),
                checks: Checks::default(),
                timeout: Some(DEFAULT_TIMEOUT),
                keep_alive: true,
                answers_per_connection: u64::MAX,
            }),
        })
    }

    fn shared_mut(&mut self) -> &mut Shared {
        Arc::make_mut(&mut self.shared)
    }

    fn template_mut(&mut self) -> &mut Template {
        self.shared_mut().requests.template_mut()
    }
}

/// In words: `GET http://127.0.0.1:8080/page`. Without the query.
impl fmt::Display for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shared { requests, addresses, .. } = &*self.shared;
        let Template { method, paths, .. } = requests.template();
        let target = addresses.target();
        let scheme = if target.tls { "https" } else { "http" };
        write!(f, "{method} {scheme}://{target}{}", paths.first())?;
        match paths.count() {
            1 => Ok(()),
            n => write!(f, " and {} more", n - 1),
        }
    }
}

/// Without header values, bodies and queries.
impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Http").field(&self.shared).finish()
    }
}

impl Workload for Http {
    type Session = HttpSession;

    async fn connect(&self, id: &SessionId, op: &mut Op) -> Result<HttpSession, Failure> {
        let deadline = Deadline::new(self.shared.timeout, op.clock().now());
        let mut session = HttpSession::new(Arc::clone(&self.shared), deadline, id.index());
        session.first_connection(op).await?;
        Ok(session)
    }

    fn describe(&self) -> String {
        let Shared { requests, keep_alive, .. } = &*self.shared;
        let Template { method, paths, .. } = requests.template();
        let more = match paths.count() {
            1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        let kept = if *keep_alive { "keep-alive" } else { "a connection each" };
        let tls = if self.shared.addresses.target().tls { " over TLS" } else { "" };
        format!("{method} {}{more}, {}{tls}, {kept}", paths.first(), self.shared.version())
    }

    fn null_target(&self, delay: Duration) -> Result<Option<Nulled<Http>>, NullTargetError> {
        let target = self.start_null(delay).map_err(|error| NullTargetError::new(self.describe(), error))?;
        Ok(Some(Nulled::new(self.against(target.address()), target)))
    }
}

impl Http {
    /// A null target that speaks what this workload speaks.
    fn start_null(&self, delay: Duration) -> io::Result<NullTarget> {
        match (self.shared.addresses.target().tls, self.shared.version()) {
            #[cfg(all(feature = "tls", feature = "http2"))]
            (true, "HTTP/2") => NullTarget::start_http2_tls(delay),
            #[cfg(feature = "tls")]
            (true, _) => NullTarget::start_tls(delay),
            #[cfg(feature = "http2")]
            (false, "HTTP/2") => NullTarget::start_http2(delay),
            _ => NullTarget::start(delay),
        }
    }
}
