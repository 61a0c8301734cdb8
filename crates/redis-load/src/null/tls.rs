//! TLS with a certificate that nobody has signed, to do the work of it.

use std::{io, net::TcpStream, sync::Arc};
use tokio_rustls::rustls::{
    self, ServerConfig, ServerConnection, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer},
};

/// On P-256, as most servers have. Its key is no secret: it protects nothing.
static CERTIFICATE: &[u8] = include_bytes!("certificate.der");
static KEY: &[u8] = include_bytes!("key.der");

pub(super) type Stream = StreamOwned<ServerConnection, TcpStream>;

#[derive(Debug)]
pub(super) struct Server(Arc<ServerConfig>);

impl Server {
    pub(super) fn new() -> Result<Server, rustls::Error> {
        let key = PrivateKeyDer::try_from(KEY).map_err(|error| rustls::Error::General(error.into()))?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)?;
        Ok(Server(Arc::new(config)))
    }

    /// The handshake happens as the stream is read.
    pub(super) fn accept(&self, stream: TcpStream) -> io::Result<Stream> {
        let connection = ServerConnection::new(Arc::clone(&self.0)).map_err(io::Error::other)?;
        Ok(StreamOwned::new(connection, stream))
    }
}

/// Whether bytes are decrypted and not read.
pub(super) fn has_more(stream: &mut Stream) -> bool {
    stream.conn.process_new_packets().is_ok_and(|state| state.plaintext_bytes_to_read() > 0)
}
