//! Series taken from a text.

use crate::counter::{Counters, Kind};
use load_core::{Readings, SourceError};
use std::{fmt, time::Duration};

type Parse = Box<dyn FnMut(&str) -> Option<f64> + Send>;

struct Value {
    name: String,
    unit: &'static str,
    counter: bool,
    parse: Parse,
}

/// The series that a text is read for.
#[derive(Default)]
pub(crate) struct Values {
    list: Vec<Value>,
    counters: Counters,
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list.iter().map(|v| &v.name)).finish()
    }
}

impl Values {
    pub(crate) fn add(&mut self, name: String, unit: &'static str, counter: bool, parse: Parse) {
        self.list.push(Value { name, unit, counter, parse });
    }

    /// `origin` says in errors where the text is from; the text itself is never shown, it may hold anything.
    pub(crate) fn take(
        &mut self,
        at: Duration,
        text: &str,
        origin: &str,
        readings: &mut Readings,
    ) -> Result<(), SourceError> {
        let mut found = false;
        self.counters.begin(at);
        for value in &mut self.list {
            let Some(number) = (value.parse)(text).filter(|n| n.is_finite()) else { continue };
            found = true;
            if !value.counter {
                readings.value(value.name.as_str(), value.unit, number);
            } else if number >= 0.0 {
                let kind = Kind { unit: value.unit, ..Kind::EVENTS };
                self.counters.rate(readings, &value.name, kind, number as u64);
            }
        }
        self.counters.end();
        if found { Ok(()) } else { Err(SourceError::Failed(format!("{origin}: no number in what it gave"))) }
    }
}

/// A text that is one number.
pub(crate) fn whole(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

/// The methods that sources of text share.
macro_rules! values {
    ($type:ty) => {
        impl $type {
            /// A series whose value is the whole text, one number.
            pub fn number(self, name: impl Into<String>, unit: &'static str) -> Self {
                self.value(name, unit, $crate::generic::values::whole)
            }

            /// A series, and how its value is found in the text. `None` is a gap, never 0.
            pub fn value(
                mut self,
                name: impl Into<String>,
                unit: &'static str,
                parse: impl FnMut(&str) -> Option<f64> + Send + 'static,
            ) -> Self {
                self.values.add(name.into(), unit, false, Box::new(parse));
                self
            }

            /// A series of how much a counter grows in a second; `unit` is that of the growth (`"1/s"`). A reset and a
            /// growth of more than 10⁹ in a second are events.
            pub fn counter(
                mut self,
                name: impl Into<String>,
                unit: &'static str,
                parse: impl FnMut(&str) -> Option<f64> + Send + 'static,
            ) -> Self {
                self.values.add(name.into(), unit, true, Box::new(parse));
                self
            }

            /// How often it is read.
            pub fn every(mut self, interval: std::time::Duration) -> Self {
                self.every = interval;
                self
            }
        }
    };
}
pub(crate) use values;
