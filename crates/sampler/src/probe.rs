//! What the sources of this crate have in common: they read files without waiting.

use load_core::{Readings, SourceError};
use std::{
    io,
    sync::LazyLock,
    time::{Duration, Instant},
};

/// A source that is read at a time which the caller tells, so that tests need no clock.
pub(crate) trait Probe: Send + 'static {
    fn probe(&mut self, at: Duration, readings: &mut Readings) -> Result<(), SourceError>;
}

/// Time on a monotonic clock; its origin is of no meaning.
pub(crate) fn now() -> Duration {
    static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    ORIGIN.elapsed()
}

/// Implements [`load_core::Source`] for a [`Probe`]; the expression is its origin, and a second one its interval.
macro_rules! source {
    ($type:ty, |$this:ident| $origin:expr $(, $interval:expr)?) => {
        impl load_core::Source for $type {
            fn origin(&self) -> String {
                let $this = self;
                $origin.into()
            }

            $(
                fn interval(&self) -> std::time::Duration {
                    let $this = self;
                    $interval
                }
            )?

            async fn read(
                &mut self,
                readings: &mut load_core::Readings,
            ) -> Result<(), load_core::SourceError> {
                $crate::probe::Probe::probe(self, $crate::probe::now(), readings)
            }
        }
    };
}
pub(crate) use source;

/// Why a file gave nothing: what is not there or not allowed stays so, anything else may pass.
pub(crate) fn refused(path: &str, error: &io::Error) -> SourceError {
    let text = format!("{}: {error}", absolute(path));
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported => {
            SourceError::Unavailable(text)
        }
        _ => SourceError::Failed(text),
    }
}

/// A file that was read but does not hold what it should.
pub(crate) fn unreadable(path: &str) -> SourceError {
    SourceError::Failed(format!("{}: not in the form that is known", absolute(path)))
}

fn absolute(path: &str) -> String {
    if cfg!(target_os = "linux") {
        format!("/{}", path.trim_start_matches('/'))
    } else {
        format!("/{} (only Linux is read so far)", path.trim_start_matches('/'))
    }
}
