//! What to make of the answers.

use super::Http;
use crate::{
    reply::{Checks, Contains, Reply},
    status::Statuses,
};
use bytes::Bytes;
use load_core::{ConfigError, Outcome};
use std::{net::SocketAddr, ops::RangeInclusive, sync::Arc};

impl Http {
    /// Only this status is a success; others are failures of class `status` with the status as the code. Unless told
    /// otherwise 200 to 399 are successes, as with wrk. Redirects are not followed.
    ///
    /// # Errors
    /// When it is not 100 to 999.
    pub fn expect_status(self, status: u16) -> Result<Http, ConfigError> {
        self.expect_statuses(status..=status)
    }

    /// Only these statuses are successes.
    ///
    /// # Errors
    /// When they are not within 100 to 999.
    pub fn expect_statuses(mut self, statuses: RangeInclusive<u16>) -> Result<Http, ConfigError> {
        let mut expected = Statuses::none();
        expected.add(*statuses.start(), *statuses.end())?;
        self.shared_mut().checks.statuses = expected;
        Ok(self)
    }

    /// Any complete answer is a success, as far as its status goes.
    #[must_use]
    pub fn any_status(self) -> Http {
        self.expect_statuses(100..=999).expect("a valid range")
    }

    /// The body of an answer must have exactly this many bytes; else the operation fails with class `check`.
    #[must_use]
    pub fn expect_length(mut self, bytes: u64) -> Http {
        self.shared_mut().checks.length = Some(bytes);
        self
    }

    /// The body of an answer must have these bytes somewhere in it (in its first 16 MiB); else the operation fails with
    /// class `check`. May be said several times.
    #[must_use]
    pub fn expect_body(mut self, bytes: impl Into<Bytes>) -> Http {
        self.shared_mut().checks.contains.push(Contains::new(&bytes.into()));
        self
    }

    /// Checks each answer that has passed the other checks. The code of the failure is counted, so keep to a few.
    ///
    /// ```
    /// use http_load::Http;
    /// use load_core::Failure;
    ///
    /// let page = Http::get("http://127.0.0.1:8080/")?.check(|reply| match reply.header("x-cache") {
    ///     Some("HIT") => Ok(()),
    ///     _ => Err(Failure::check("not from the cache")),
    /// });
    /// # Ok::<(), load_core::ConfigError>(())
    /// ```
    #[must_use]
    pub fn check(mut self, check: impl Fn(&Reply<'_>) -> Outcome + Send + Sync + 'static) -> Http {
        self.shared_mut().checks.custom.push(Arc::new(check));
        self
    }

    /// The same requests sent to another address, where every complete answer is a success: for calibration against a
    /// server that costs nothing.
    #[must_use]
    pub fn against(&self, address: SocketAddr) -> Http {
        let mut other = self.clone().connect_to([address]).expect("one address");
        let shared = other.shared_mut();
        shared.checks = Checks::none();
        #[cfg(feature = "tls")]
        if let Some(handshakes) = &shared.handshakes {
            shared.handshakes = Some(Arc::new(handshakes.for_anybody()));
        }
        other
    }
}
