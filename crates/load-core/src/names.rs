//! Names of steps, kinds and counters, interned once so that an operation carries a small number.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

/// A name's number within one [`Names`] table.
pub type NameId = u8;

/// Where names go once a table is full (255 names): counted together under this one.
pub const OTHER_NAMES: &str = "(other names)";

/// A table of names, one for each stream on each worker. Looking a name up costs a few nanoseconds and never
/// allocates after the first time.
///
/// A name may be said within a [scope](crate::Op::scoped), such as the arm of a mix: `"select"` in the scope `"read"`
/// is the name `"read/select"`.
#[derive(Debug, Default)]
pub struct Names {
    known: RefCell<Vec<Known>>,
    /// Scopes but the root, each with the one it lies in. Scope n is at n − 1.
    scopes: RefCell<Vec<(Scope, &'static str)>>,
}

#[derive(Debug)]
struct Known {
    scope: Scope,
    said: &'static str,
    full: &'static str,
}

/// A prefix under which names are said; it belongs to one [`Names`] table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Scope(u8);

impl Scope {
    pub(crate) const ROOT: Scope = Scope(0);
}

impl Names {
    /// The number of `name`, given on first use.
    #[inline]
    pub fn id(&self, name: &'static str) -> NameId {
        self.id_in(Scope::ROOT, name)
    }

    #[inline]
    pub(crate) fn id_in(&self, scope: Scope, name: &'static str) -> NameId {
        let known = self.known.borrow();
        for (i, n) in known.iter().enumerate() {
            if n.scope == scope && same(n.said, name) {
                return i as NameId;
            }
        }
        drop(known);
        self.add(scope, name)
    }

    #[cold]
    fn add(&self, scope: Scope, said: &'static str) -> NameId {
        let full = self.full(scope, said);
        let mut known = self.known.borrow_mut();
        let last = usize::from(NameId::MAX) - 1;
        if known.len() == usize::from(NameId::MAX) {
            known[last] = Known { scope: Scope::ROOT, said: OTHER_NAMES, full: OTHER_NAMES };
            return last as NameId;
        }
        known.push(Known { scope, said, full });
        (known.len() - 1) as NameId
    }

    /// The scope `name` within `outer`. When there are too many (255), the outer one: its names are then not kept
    /// apart.
    #[inline]
    pub(crate) fn scope(&self, outer: Scope, name: &'static str) -> Scope {
        let mut scopes = self.scopes.borrow_mut();
        let known = |s: &(Scope, &'static str)| s.0 == outer && same(s.1, name);
        if let Some(i) = scopes.iter().position(known) {
            return Scope(i as u8 + 1);
        }
        if scopes.len() == usize::from(u8::MAX) {
            return outer;
        }
        scopes.push((outer, name));
        Scope(scopes.len() as u8)
    }

    /// A name with its scopes before it.
    pub(crate) fn full(&self, scope: Scope, name: &'static str) -> &'static str {
        let Some(index) = scope.0.checked_sub(1) else { return name };
        let (outer, outer_name) = self.scopes.borrow()[usize::from(index)];
        intern(format!("{}/{name}", self.full(outer, outer_name)))
    }

    /// All names, in the order of their numbers.
    pub fn all(&self) -> Vec<&'static str> {
        self.known.borrow().iter().map(|n| n.full).collect()
    }
}

#[inline]
fn same(a: &'static str, b: &'static str) -> bool {
    // The same literal is nearly always at the same address.
    std::ptr::eq(a, b) || a == b
}

/// One copy of each text for the life of the process: there are as many as a program's workloads have names, however
/// many runs it makes.
fn intern(text: String) -> &'static str {
    static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(text.as_str()) {
        return known;
    }
    let text = Box::leak(text.into_boxed_str());
    texts.insert(text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_different_scopes_are_kept_apart() {
        let names = Names::default();
        let read = names.scope(Scope::ROOT, "read");
        let inner = names.scope(read, "cache");
        let ids = [Scope::ROOT, read, inner].map(|scope| names.id_in(scope, "get"));
        assert_eq!(ids, [0, 1, 2]);
        assert_eq!(names.all(), ["get", "read/get", "read/cache/get"]);
        assert_eq!((names.id("get"), names.id_in(inner, "get")), (0, 2));
        assert_eq!(names.scope(Scope::ROOT, "read"), read);
    }

    #[test]
    fn a_text_is_kept_once_however_many_tables_there_are() {
        let full = || {
            let names = Names::default();
            names.full(names.scope(Scope::ROOT, "a text"), "kept once")
        };
        assert!(std::ptr::eq(full(), full()));
    }

    #[test]
    fn a_full_table_counts_the_rest_together() {
        let names = Names::default();
        let leaked: Vec<&'static str> = (0..300).map(|i| intern(format!("full table {i}"))).collect();
        let ids: Vec<_> = leaked.iter().map(|name| names.id(name)).collect();
        assert_eq!((ids[0], ids[253], ids[254], ids[299]), (0, 253, 254, 254));
        assert_eq!(names.all()[254], OTHER_NAMES);
        assert_eq!(names.id(leaked[299]), 254);
        let scopes: Vec<_> = leaked.iter().map(|name| names.scope(Scope::ROOT, name)).collect();
        assert_eq!(scopes[299], Scope::ROOT);
    }
}
