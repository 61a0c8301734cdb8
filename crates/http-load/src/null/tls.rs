//! A certificate that nobody has signed, to do the work of TLS with.

use std::sync::Arc;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        self, ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer},
    },
};

/// On P-256, as most servers have. Its key is no secret: it protects nothing.
static CERTIFICATE: &[u8] = include_bytes!("certificate.der");
static KEY: &[u8] = include_bytes!("key.der");

pub(super) fn acceptor(protocol: &str) -> Result<TlsAcceptor, rustls::Error> {
    let key = PrivateKeyDer::try_from(KEY).map_err(|e| rustls::Error::General(e.into()))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)?;
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
