//! TLS by rustls, with libpq's ideas of what to check.

use super::SslMode;
use load_core::ConfigError;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio_postgres::{
    Socket,
    tls::{MakeTlsConnect, TlsConnect},
};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Makes TLS connections and remembers whether it was asked to.
#[derive(Clone)]
pub(crate) struct Tls {
    inner: MakeRustlsConnect,
    used: Arc<AtomicBool>,
}

impl Tls {
    pub(crate) fn new(mode: SslMode, root: Option<&Path>) -> Result<Tls, ConfigError> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|e| ConfigError::invalid("sslmode", mode, e.to_string()))?;
        let verifier: Arc<dyn ServerCertVerifier> = match root {
            // As libpq: `prefer` looks at nothing, `require` looks when it has been given something to look with.
            Some(file) if mode != SslMode::Prefer => {
                let bad = |why: String| ConfigError::invalid("sslrootcert", file.display(), why);
                let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(roots(file)?), provider)
                    .build()
                    .map_err(|e| bad(e.to_string()))?;
                if mode == SslMode::VerifyFull { inner } else { Arc::new(AnyName(inner)) }
            }
            _ => Arc::new(Anyone(provider)),
        };
        let mut config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
        // Needed for direct negotiation (PostgreSQL 17), harmless otherwise.
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(Tls { inner: MakeRustlsConnect::new(config), used: Arc::default() })
    }

    /// The same, for another connection.
    pub(crate) fn anew(&self) -> Tls {
        Tls { inner: self.inner.clone(), used: Arc::default() }
    }

    pub(crate) fn was_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }
}

fn roots(file: &Path) -> Result<RootCertStore, ConfigError> {
    let bad = |why: String| ConfigError::invalid("sslrootcert", file.display(), why);
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|e| bad(e.to_string()))? {
        let certificate = certificate.map_err(|e| bad(e.to_string()))?;
        roots.add(certificate).map_err(|e| bad(e.to_string()))?;
    }
    if roots.is_empty() {
        return Err(bad("there is no certificate in it".into()));
    }
    Ok(roots)
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;
    type TlsConnect = Noticed;
    type Error = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Error;

    fn make_tls_connect(&mut self, domain: &str) -> Result<Noticed, Self::Error> {
        let inner = MakeTlsConnect::<Socket>::make_tls_connect(&mut self.inner, domain)?;
        Ok(Noticed { inner, used: self.used.clone() })
    }
}

type Inner = <MakeRustlsConnect as MakeTlsConnect<Socket>>::TlsConnect;

/// Only this is called once the server has agreed to TLS.
pub(crate) struct Noticed {
    inner: Inner,
    used: Arc<AtomicBool>,
}

impl TlsConnect<Socket> for Noticed {
    type Stream = <Inner as TlsConnect<Socket>>::Stream;
    type Error = <Inner as TlsConnect<Socket>>::Error;
    type Future = <Inner as TlsConnect<Socket>>::Future;

    fn connect(self, stream: Socket) -> Self::Future {
        self.used.store(true, Ordering::Relaxed);
        self.inner.connect(stream)
    }
}

/// Encrypts without asking who is there: `prefer`, and `require` without a root certificate.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls12_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls13_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// The certificate must come from the root, whatever name it bears: `verify-ca`.
#[derive(Debug)]
struct AnyName(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        match self.0.verify_server_cert(end_entity, intermediates, name, ocsp, now) {
            // The name is looked at last, when all else was found right.
            Err(TlsError::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            result => result,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.0.verify_tls12_signature(message, cert, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.0.verify_tls13_signature(message, cert, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
