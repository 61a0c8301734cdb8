//! TLS to the server, by rustls with ring.

mod any;
mod fault;

pub(crate) use fault::found;

use crate::{connection::Stream, deadline::Deadline, request::Host};
use any::AnyServer;
use load_core::{Class, ConfigError, Failure, Op};
use std::{
    fmt,
    sync::{Arc, OnceLock},
};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        self, ClientConfig, RootCertStore,
        client::Resumption,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
    },
};

/// How TLS is spoken: how the server's certificate is judged, who the client says it is.
///
/// A session begins with a full handshake, so that all cost the same; see [`resume`](Tls::resume).
///
/// ```no_run
/// use http_load::{Http, Tls};
///
/// let page = Http::get("https://127.0.0.1:8443/")?
///     .tls(Tls::authority(&std::fs::read("ca.pem")?)?.server_name("example.test")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Tls {
    judge: Judge,
    identity: Option<Arc<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>>,
    server_name: Option<ServerName<'static>>,
    resume: bool,
}

#[derive(Clone)]
enum Judge {
    /// The roots of this machine, read when they are needed.
    System,
    Roots(Arc<RootCertStore>),
    Anybody,
}

impl Tls {
    fn new(judge: Judge) -> Tls {
        Tls { judge, identity: None, server_name: None, resume: false }
    }

    /// Judges certificates by the roots of this machine, as `https://` does unless told otherwise.
    pub fn system() -> Tls {
        Tls::new(Judge::System)
    }

    /// Judges certificates by those of an authority of your own, in PEM; nobody else's count.
    ///
    /// # Errors
    /// When there is none in it.
    pub fn authority(pem: &[u8]) -> Result<Tls, ConfigError> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates("authority", pem)? {
            roots
                .add(certificate)
                .map_err(|e| ConfigError::invalid("authority", "a certificate", e.to_string()))?;
        }
        Ok(Tls::new(Judge::Roots(Arc::new(roots))))
    }

    /// Takes any certificate: the traffic is encrypted as it would be under load, but nobody knows to whom it goes. For test
    /// servers whose certificates nobody signed.
    pub fn unverified() -> Tls {
        Tls::new(Judge::Anybody)
    }

    /// Shows this certificate, with those that lead to its authority, and proves to have its key; both in PEM.
    ///
    /// # Errors
    /// When they are not what they should be, or do not belong together.
    pub fn client_certificate(mut self, chain: &[u8], key: &[u8]) -> Result<Tls, ConfigError> {
        let chain = certificates("client_certificate", chain)?;
        let refused = |why: String| ConfigError::invalid("client_certificate", "the key", why);
        let key =
            PrivateKeyDer::from_pem_slice(key).map_err(|e| refused(format!("not a key in PEM: {e}")))?;
        self.identity = Some(Arc::new((chain, key)));
        self.config(&[], RootCertStore::empty()).map_err(|e| refused(e.to_string()))?;
        Ok(self)
    }

    /// Asks for this name and checks the certificate for it, whatever the host of the URL. Unless told otherwise it is that
    /// host; for an IP address no name is sent (SNI), as the protocol has none for it.
    ///
    /// # Errors
    /// When it is not a name.
    pub fn server_name(mut self, name: &str) -> Result<Tls, ConfigError> {
        let parsed = ServerName::try_from(name.to_string());
        self.server_name =
            Some(parsed.map_err(|e| ConfigError::invalid("server_name", name, e.to_string()))?);
        Ok(self)
    }

    /// Lets connections take up the TLS session of an earlier one, as browsers do: shorter handshakes after the first.
    #[must_use]
    pub fn resume(mut self) -> Tls {
        self.resume = true;
        self
    }

    fn config(&self, alpn: &[&[u8]], system: RootCertStore) -> Result<ClientConfig, rustls::Error> {
        // Never the process's default provider, which may be another or none.
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()?;
        let builder = match &self.judge {
            Judge::System => builder.with_root_certificates(system),
            Judge::Roots(roots) => builder.with_root_certificates(Arc::clone(roots)),
            Judge::Anybody => {
                builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyServer(provider)))
            }
        };
        let mut config = match self.identity.as_deref() {
            Some((chain, key)) => builder.with_client_auth_cert(chain.clone(), key.clone_key())?,
            None => builder.with_no_client_auth(),
        };
        if !self.resume {
            config.resumption = Resumption::disabled();
        }
        config.alpn_protocols = alpn.iter().map(|p| p.to_vec()).collect();
        Ok(config)
    }
}

/// Without names, certificates and keys.
impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let judge = match self.judge {
            Judge::System => "system roots",
            Judge::Roots(_) => "an authority",
            Judge::Anybody => "anybody",
        };
        f.debug_struct("Tls")
            .field("trusts", &judge)
            .field("client_certificate", &self.identity.is_some())
            .field("resume", &self.resume)
            .finish()
    }
}

fn certificates(field: &str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, ConfigError> {
    let refused = |why: String| ConfigError::invalid(field, "the certificates", why);
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if found.is_empty() => Err(refused("there is none in PEM".into())),
        Ok(found) => Ok(found),
        Err(e) => Err(refused(format!("not PEM: {e}"))),
    }
}

/// Ready to shake hands; made once for all sessions of a workload.
pub(crate) struct Handshakes {
    tls: Tls,
    /// Required of the server if it answers at all.
    protocol: &'static str,
    made: OnceLock<TlsConnector>,
}

impl Handshakes {
    pub(crate) fn new(tls: Tls, protocol: &'static str) -> Handshakes {
        Handshakes { tls, protocol, made: OnceLock::new() }
    }

    /// The same work for a server that needs no certificate of anybody's.
    pub(crate) fn for_anybody(&self) -> Handshakes {
        Handshakes::new(Tls { judge: Judge::Anybody, ..self.tls.clone() }, self.protocol)
    }

    /// For another protocol.
    #[cfg(feature = "http2")]
    pub(crate) fn for_protocol(&self, protocol: &'static str) -> Handshakes {
        Handshakes::new(self.tls.clone(), protocol)
    }

    fn connector(&self) -> Result<TlsConnector, Failure> {
        if let Some(made) = self.made.get() {
            return Ok(made.clone());
        }
        let mut system = RootCertStore::empty();
        if matches!(self.tls.judge, Judge::System) {
            system.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if system.is_empty() {
                return Err(Failure::new(Class::Tls, "this machine has no roots").reconnect());
            }
        }
        let config = self.tls.config(&[self.protocol.as_bytes()], system)?;
        Ok(self.made.get_or_init(|| TlsConnector::from(Arc::new(config))).clone())
    }

    /// Shakes hands over a connected stream; marks the step `tls`.
    pub(crate) async fn shake(
        &self,
        host: &Host,
        stream: Stream,
        op: &mut Op,
        deadline: &mut Deadline,
    ) -> Result<TlsStream<Stream>, Failure> {
        let name = match (&self.tls.server_name, host) {
            (Some(name), _) => name.clone(),
            (None, Host::Ip(ip)) => ServerName::from(*ip),
            (None, Host::Name(name)) => ServerName::try_from(name.clone())
                .map_err(|e| Failure::new(Class::Tls, "server name").with_source(e).reconnect())?,
        };
        let shaking = self.connector()?.connect(name, stream);
        let stream = match deadline.within(shaking).await {
            Some(Ok(stream)) => stream,
            Some(Err(error)) => return Err(fault::handshake(&error, self.protocol)),
            None => return Err(crate::fault::timed_out("tls", deadline.limit(), false)),
        };
        op.mark("tls");
        let session = stream.get_ref().1;
        let agreed = session.alpn_protocol();
        // HTTP/1.1 is what is spoken when nothing is agreed on.
        if agreed != Some(self.protocol.as_bytes()) && (agreed.is_some() || self.protocol != "http/1.1") {
            return Err(fault::not_agreed(self.protocol));
        }
        Ok(stream)
    }
}

impl fmt::Debug for Handshakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tls.fmt(f)
    }
}

/// What was agreed on, in words.
pub(crate) fn agreed(stream: &TlsStream<Stream>) -> String {
    let session = stream.get_ref().1;
    let version = session.protocol_version().map(|v| format!("{v:?}")).unwrap_or_default();
    let suite = session.negotiated_cipher_suite().map(|s| format!("{:?}", s.suite())).unwrap_or_default();
    let alpn = session.alpn_protocol().map(|p| p.escape_ascii().to_string());
    format!("{version}, {suite}, {}", alpn.map_or("no ALPN".into(), |p| format!("ALPN {p}")))
}
