//! Why a handshake failed, in words.

use crate::HttpError;
use load_core::{Class, Failure};
use std::{borrow::Cow, io};
use tokio_rustls::rustls::{AlertDescription, CertificateError, Error};

/// What is wrong, for the code of a failure, and what can be done about it.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) code: Cow<'static, str>,
    hint: &'static str,
}

impl Found {
    pub(crate) fn into_failure(self, error: &io::Error) -> Failure {
        let reason = match self.hint {
            "" => error.to_string(),
            hint => format!("{error}; {hint}"),
        };
        Failure::new(Class::Tls, self.code).with_source(HttpError::Tls { reason }).reconnect()
    }
}

const TRUST: &str = "give its authority with Tls::authority, or take any certificate with Tls::unverified";

/// An error of TLS behind an error of a stream.
pub(crate) fn found(error: &io::Error) -> Option<Found> {
    let error = error.get_ref()?.downcast_ref::<Error>()?;
    let (code, hint): (Cow<'static, str>, _) = match error {
        Error::InvalidCertificate(problem) => match problem {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                ("certificate expired".into(), "Tls::unverified takes it")
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                ("certificate not valid yet".into(), "Tls::unverified takes it")
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                ("certificate of another name".into(), "ask for its name with Tls::server_name")
            }
            CertificateError::UnknownIssuer => ("certificate of an unknown issuer".into(), TRUST),
            // Such as one that is marked as an authority's own.
            _ => ("certificate not accepted".into(), TRUST),
        },
        Error::AlertReceived(AlertDescription::NoApplicationProtocol) => {
            ("protocol not agreed on".into(), "the server speaks no protocol that was asked for")
        }
        Error::AlertReceived(alert) => (format!("alert: {alert:?}").into(), ""),
        Error::InvalidMessage(_) | Error::InappropriateMessage { .. } => {
            ("not TLS".into(), "the server does not speak TLS on this port")
        }
        _ => ("handshake".into(), ""),
    };
    Some(Found { code, hint })
}

/// Why the handshake that should lead to `protocol` failed.
pub(super) fn handshake(error: &io::Error, protocol: &'static str) -> Failure {
    if let Some(found) = found(error) {
        if found.code == "protocol not agreed on" {
            return not_agreed(protocol);
        }
        return found.into_failure(error);
    }
    let code = match error.kind() {
        io::ErrorKind::UnexpectedEof => "closed in the handshake",
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => "reset in the handshake",
        _ => "handshake",
    };
    Found { code: code.into(), hint: "" }.into_failure(error)
}

pub(super) fn not_agreed(protocol: &'static str) -> Failure {
    let hint = match protocol {
        "h2" => "Http::http2 never falls back to HTTP/1.1; leave it out to measure that",
        _ => "measure HTTP/2 with Http::http2",
    };
    let reason = format!("the server does not agree to speak {protocol}; {hint}");
    Failure::new(Class::Tls, format!("{protocol} not agreed on"))
        .with_source(HttpError::Tls { reason })
        .reconnect()
}
