//! Sources of any type behind one.

use load_core::{Readings, Source, SourceError};
use std::{fmt, future::Future, pin::Pin};

type Reading<'a> = Pin<Box<dyn Future<Output = Result<(), SourceError>> + 'a>>;

trait Dyn: Send {
    fn origin(&self) -> String;
    fn read<'a>(&'a mut self, readings: &'a mut Readings) -> Reading<'a>;
}

impl<S: Source> Dyn for S {
    fn origin(&self) -> String {
        Source::origin(self)
    }

    fn read<'a>(&'a mut self, readings: &'a mut Readings) -> Reading<'a> {
        Box::pin(Source::read(self, readings))
    }
}

/// A source; readings are seldom enough that a box for each does not matter.
pub(super) struct Erased(Box<dyn Dyn>);

impl fmt::Debug for Erased {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin())
    }
}

impl Erased {
    pub(super) fn new(source: impl Source) -> Erased {
        Erased(Box::new(source))
    }

    pub(super) fn origin(&self) -> String {
        self.0.origin()
    }

    pub(super) async fn read(&mut self, readings: &mut Readings) -> Result<(), SourceError> {
        self.0.read(readings).await
    }
}
