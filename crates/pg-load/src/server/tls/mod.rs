//! TLS by rustls, with libpq's ideas of what to check.

mod verify;

use super::SslMode;
use load_core::ConfigError;
use rustls::{ClientConfig, crypto::ring};
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
use verify::Verifier;

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
        let verifier = match root {
            // As libpq: `prefer` looks at nothing, `require` looks when it has been given something to look with.
            Some(file) if mode != SslMode::Prefer => {
                Verifier::of_file(&provider, file, mode == SslMode::VerifyFull)?
            }
            _ => Verifier::of_anyone(&provider),
        };
        let mut config =
            builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth();
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
