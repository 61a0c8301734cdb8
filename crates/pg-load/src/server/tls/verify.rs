//! Whom to believe, by libpq's rules.

use load_core::ConfigError;
use rustls::{
    CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
    server::ParsedCertificate,
};
use std::{path::Path, sync::Arc};
use x509_cert::{Certificate, der::Decode};

#[derive(Debug)]
pub(super) struct Verifier {
    algorithms: WebPkiSupportedAlgorithms,
    /// `None`: anyone is believed.
    roots: Option<Roots>,
}

#[derive(Debug)]
struct Roots {
    chains: Arc<WebPkiServerVerifier>,
    certificates: Vec<CertificateDer<'static>>,
    /// Whether the certificate must name the host.
    names: bool,
}

impl Verifier {
    /// Encrypts without asking who is there.
    pub(super) fn of_anyone(provider: &CryptoProvider) -> Verifier {
        Verifier { algorithms: provider.signature_verification_algorithms, roots: None }
    }

    /// Believes those whose certificate comes from one in the file, and (with `names`) names the host.
    pub(super) fn of_file(
        provider: &Arc<CryptoProvider>,
        file: &Path,
        names: bool,
    ) -> Result<Verifier, ConfigError> {
        let bad = |why: String| ConfigError::invalid("sslrootcert", file.display(), why);
        let read = CertificateDer::pem_file_iter(file).map_err(|e| bad(e.to_string()))?;
        let certificates = read.collect::<Result<Vec<_>, _>>().map_err(|e| bad(e.to_string()))?;
        let mut store = RootCertStore::empty();
        for certificate in &certificates {
            store.add(certificate.clone()).map_err(|e| bad(e.to_string()))?;
        }
        if store.is_empty() {
            return Err(bad("there is no certificate in it".into()));
        }
        let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider.clone())
            .build()
            .map_err(|e| bad(e.to_string()))?;
        let roots = Some(Roots { chains, certificates, names });
        Ok(Verifier { algorithms: provider.signature_verification_algorithms, roots })
    }
}

impl Roots {
    fn verify(
        &self,
        presented: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<(), Error> {
        // A server whose own certificate is in the file, as self-signed ones are: nobody vouches for it, and nobody need.
        if self.certificates.iter().any(|own| own.as_ref() == presented.as_ref()) {
            is_in_force(presented, now)?;
            return if self.names {
                verify_server_name(&ParsedCertificate::try_from(presented)?, name)
            } else {
                Ok(())
            };
        }
        match self.chains.verify_server_cert(presented, others, name, ocsp, now) {
            // The name is looked at last, when all else was found right.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.names => Ok(()),
            // Self-signed and in no file; the library's word for it is less clear.
            Err(Error::InvalidCertificate(CertificateError::Other(why)))
                if format!("{why:?}").contains("CaUsedAs") =>
            {
                Err(CertificateError::UnknownIssuer.into())
            }
            result => result.map(drop),
        }
    }
}

fn is_in_force(certificate: &CertificateDer<'_>, now: UnixTime) -> Result<(), Error> {
    let certificate = Certificate::from_der(certificate).map_err(|_| CertificateError::BadEncoding)?;
    let validity = certificate.tbs_certificate.validity;
    if now.as_secs() < validity.not_before.to_unix_duration().as_secs() {
        return Err(CertificateError::NotValidYet.into());
    }
    if now.as_secs() > validity.not_after.to_unix_duration().as_secs() {
        return Err(CertificateError::Expired.into());
    }
    Ok(())
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        presented: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(roots) = &self.roots {
            roots.verify(presented, others, name, ocsp, now)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::crypto::ring;
    use std::{process::Command, time::Duration};

    #[test]
    fn a_self_signed_certificate_in_the_file_must_be_in_force_and_may_have_to_name_the_host() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("own.crt");
        let args = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=x -addext subjectAltName=DNS:db.test -keyout own.key -out own.crt";
        let made = Command::new("openssl").args(args.split(' ')).current_dir(dir.path()).output();
        if !made.is_ok_and(|made| made.status.success()) {
            eprintln!("SKIPPED: no openssl to make a certificate");
            return;
        }
        let provider = Arc::new(ring::default_provider());
        let own = CertificateDer::from_pem_file(&file).unwrap();
        let verify = |names: bool, host: &'static str, days: i64| {
            let verifier = Verifier::of_file(&provider, &file, names).unwrap();
            let now = UnixTime::now().as_secs().checked_add_signed(days * 86_400).unwrap();
            let now = UnixTime::since_unix_epoch(Duration::from_secs(now));
            verifier.verify_server_cert(&own, &[], &ServerName::try_from(host).unwrap(), &[], now)
        };
        assert!(verify(true, "db.test", 0).is_ok() && verify(false, "other.test", 0).is_ok());
        assert!(verify(true, "other.test", 0).is_err());
        assert_eq!(verify(false, "db.test", 3).unwrap_err(), CertificateError::Expired.into());
        assert_eq!(verify(false, "db.test", -1).unwrap_err(), CertificateError::NotValidYet.into());
    }
}
