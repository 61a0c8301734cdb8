//! Names of steps, kinds and counters, interned once so that an operation carries a small number.

use std::cell::RefCell;

/// A name's number within one [`Names`] table.
pub type NameId = u8;

/// Where names go once a table is full (255 names): counted together under this one.
pub const OTHER_NAMES: &str = "(other names)";

/// A table of names, one for each stream on each worker. Looking a name up costs a few nanoseconds and never
/// allocates after the first time.
#[derive(Debug, Default)]
pub struct Names(RefCell<Vec<&'static str>>);

impl Names {
    /// The number of `name`, given on first use.
    #[inline]
    pub fn id(&self, name: &'static str) -> NameId {
        let mut known = self.0.borrow_mut();
        for (i, n) in known.iter().enumerate() {
            // The same literal is nearly always at the same address.
            if std::ptr::eq(*n, name) || *n == name {
                return i as NameId;
            }
        }
        if known.len() == usize::from(NameId::MAX) {
            known[usize::from(NameId::MAX) - 1] = OTHER_NAMES;
            return NameId::MAX - 1;
        }
        known.push(name);
        (known.len() - 1) as NameId
    }

    /// All names, in the order of their numbers.
    pub fn all(&self) -> Vec<&'static str> {
        self.0.borrow().clone()
    }
}
