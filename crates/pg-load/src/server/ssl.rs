//! libpq's `sslmode`.

use load_core::ConfigError;
use std::{fmt, path::Path, str::FromStr};

/// How TLS is used; what each mode does is what libpq does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SslMode {
    /// Never.
    Disable,
    /// If the server offers it, without looking at the certificate; else plain, also when the handshake fails. Without
    /// the feature `tls`: plain.
    Prefer,
    /// Always. The certificate is looked at only if a root certificate is given, and then as by `verify-ca`.
    Require,
    /// Always, and the certificate must come from the root certificate.
    VerifyCa,
    /// Always, and the certificate must come from the root certificate and name the host.
    VerifyFull,
}

impl SslMode {
    /// As libpq writes it.
    pub fn name(self) -> &'static str {
        match self {
            SslMode::Disable => "disable",
            SslMode::Prefer => "prefer",
            SslMode::Require => "require",
            SslMode::VerifyCa => "verify-ca",
            SslMode::VerifyFull => "verify-full",
        }
    }

    pub(super) fn of_client(mode: tokio_postgres::config::SslMode) -> SslMode {
        match mode {
            tokio_postgres::config::SslMode::Disable => SslMode::Disable,
            tokio_postgres::config::SslMode::Require => SslMode::Require,
            _ => SslMode::Prefer,
        }
    }

    pub(super) fn for_client(self) -> tokio_postgres::config::SslMode {
        match self {
            SslMode::Disable => tokio_postgres::config::SslMode::Disable,
            SslMode::Prefer => tokio_postgres::config::SslMode::Prefer,
            SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => {
                tokio_postgres::config::SslMode::Require
            }
        }
    }

    pub(super) fn validate(self, root_certificate: Option<&Path>) -> Result<(), ConfigError> {
        let must = matches!(self, SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull);
        if must && cfg!(not(feature = "tls")) {
            return Err(ConfigError::invalid("sslmode", self, "needs pg-load's feature `tls`"));
        }
        if matches!(self, SslMode::VerifyCa | SslMode::VerifyFull) && root_certificate.is_none() {
            return Err(ConfigError::invalid(
                "sslmode",
                self,
                "needs `sslrootcert`, a file of CA certificates",
            ));
        }
        Ok(())
    }
}

impl fmt::Display for SslMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SslMode {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<SslMode, ConfigError> {
        use SslMode::*;
        [Disable, Prefer, Require, VerifyCa, VerifyFull].into_iter().find(|m| m.name() == text).ok_or_else(
            || {
                ConfigError::invalid(
                    "sslmode",
                    text,
                    "one of disable, prefer, require, verify-ca, verify-full (allow is not supported)",
                )
            },
        )
    }
}
