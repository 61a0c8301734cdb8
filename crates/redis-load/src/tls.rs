//! TLS to the server, by rustls with ring.

use crate::{RedisError, Target};
use load_core::{Class, Failure};
use std::{
    fmt,
    sync::{Arc, OnceLock},
};
use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        self, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
        client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        crypto::{CryptoProvider, ring},
        pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
    },
};

/// How the server's certificate is judged.
#[derive(Clone)]
pub struct Tls(pub(crate) Arc<ClientConfig>);

impl fmt::Debug for Tls {
    /// A configuration may hold a private key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

fn builder() -> Result<rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>, RedisError> {
    // Never the process's default provider, which may be another or none.
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| RedisError::config("tls", "ring", &error.to_string()))
}

impl Tls {
    /// By the roots of this machine, as `rediss://` does unless told otherwise.
    ///
    /// # Errors
    /// [`RedisError::Config`] when the machine has none.
    pub fn system() -> Result<Tls, RedisError> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(RedisError::config("tls", "system roots", "this machine has none"));
        }
        Tls::with_roots(roots)
    }

    /// By an authority's certificate in PEM.
    ///
    /// # Errors
    /// [`RedisError::Config`] when it is not one.
    pub fn authority(pem: &[u8]) -> Result<Tls, RedisError> {
        let wrong = |reason: &str| RedisError::config("tls", "authority", reason);
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|error| wrong(&format!("not PEM: {error}")))?;
            roots.add(certificate).map_err(|error| wrong(&error.to_string()))?;
        }
        if roots.is_empty() { Err(wrong("holds no certificate")) } else { Tls::with_roots(roots) }
    }

    fn with_roots(roots: RootCertStore) -> Result<Tls, RedisError> {
        Ok(Tls(Arc::new(builder()?.with_root_certificates(roots).with_no_client_auth())))
    }

    /// Takes any certificate: the traffic is encrypted as under load it would be, but nobody knows to whom it goes. For test
    /// servers with certificates of their own.
    ///
    /// # Errors
    /// Does not fail with the provider that is built in.
    pub fn unverified() -> Result<Tls, RedisError> {
        let verifier = Arc::new(AnyServer(ring::default_provider()));
        let config = builder()?.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
        Ok(Tls(Arc::new(config)))
    }

    /// By a configuration of your own, with client certificates and all.
    pub fn config(config: Arc<ClientConfig>) -> Tls {
        Tls(config)
    }
}

impl Target {
    /// Speaks TLS, judging the server's certificate like this.
    pub fn tls(mut self, tls: Tls) -> Target {
        self.tls = true;
        self.tls_config = Some(tls);
        self
    }

    /// The configuration: the target's, or the machine's roots, read once.
    pub(crate) fn tls_config(&self) -> Result<Tls, Failure> {
        static SYSTEM: OnceLock<Tls> = OnceLock::new();
        if let Some(tls) = &self.tls_config {
            return Ok(tls.clone());
        }
        if let Some(tls) = SYSTEM.get() {
            return Ok(tls.clone());
        }
        let tls = Tls::system().map_err(|error| Failure::new(Class::Tls, "no roots").with_source(error))?;
        Ok(SYSTEM.get_or_init(|| tls).clone())
    }
}

/// The handshake on a connected stream.
pub(crate) async fn handshake(
    target: &Target,
    host: &str,
    stream: TcpStream,
) -> Result<TlsStream<TcpStream>, Failure> {
    let Tls(config) = target.tls_config()?;
    let name = ServerName::try_from(host.to_owned())
        .map_err(|error| Failure::new(Class::Tls, "server name").with_source(error))?;
    TlsConnector::from(config)
        .connect(name, stream)
        .await
        .map_err(|error| Failure::new(Class::Tls, "handshake").with_source(error))
}

/// Takes any certificate but still checks that the server holds its key.
#[derive(Debug)]
struct AnyServer(CryptoProvider);

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(
            message,
            cert,
            signature,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(
            message,
            cert,
            signature,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
