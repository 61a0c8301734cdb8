//! What to ask for, and which of several next.

use super::Pattern;
use bytes::Bytes;
use hyper::{Uri, http::uri::PathAndQuery};
use load_core::{ConfigError, Op};
use rand::RngExt;

/// In which order the paths of a list are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// By the number of the operation.
    InTurn,
    /// Evenly.
    Random,
    /// The sums of the weights up to and with each path.
    Weighted(Vec<u64>),
}

/// One path or more.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    list: Vec<Path>,
    pub(crate) order: Order,
}

#[derive(Clone, Debug)]
struct Path {
    /// In origin form.
    uri: Uri,
    /// When there is one, it makes the URI of each request.
    pattern: Option<Pattern>,
}

impl Paths {
    /// Of paths with their queries, one at least, in which there may be placeholders.
    pub(crate) fn new<'a>(
        paths: impl IntoIterator<Item = &'a str>,
        order: Order,
    ) -> Result<Paths, ConfigError> {
        let list = paths.into_iter().map(Path::parse).collect::<Result<_, _>>()?;
        Ok(Paths { list, order })
    }

    /// The first, for people.
    pub(crate) fn first(&self) -> &str {
        self.list[0].uri.path()
    }

    pub(crate) fn count(&self) -> usize {
        self.list.len()
    }

    #[inline]
    pub(crate) fn next(&self, op: &mut Op, session: usize) -> Uri {
        let path = match &*self.list {
            [only] => only,
            list => &list[self.choose(op)],
        };
        match &path.pattern {
            None => path.uri.clone(),
            Some(pattern) => origin_form(pattern.fill(op, session)).unwrap_or_else(|| path.uri.clone()),
        }
    }

    fn choose(&self, op: &mut Op) -> usize {
        let count = self.list.len();
        match &self.order {
            Order::InTurn => (op.seq() % count as u64) as usize,
            Order::Random => op.rng().random_range(0..count),
            Order::Weighted(sums) => {
                let at = op.rng().random_range(0..*sums.last().expect("one at least"));
                sums.partition_point(|sum| *sum <= at)
            }
        }
    }
}

impl Path {
    fn parse(path: &str) -> Result<Path, ConfigError> {
        let shown = path.split('?').next().unwrap_or_default();
        let refused = |why: String| ConfigError::invalid("url", shown, why);
        let pattern = Pattern::parse(path).map_err(refused)?;
        let text = pattern.as_ref().map_or_else(|| path.to_string(), Pattern::sample);
        // The parser lets braces through; what is left of them is a placeholder that was misspelt.
        match origin_form(text) {
            Some(uri) if !uri.path().contains(['{', '}']) => Ok(Path { uri, pattern }),
            Some(_) => Err(refused("placeholders are {seq}, {session} and {random:a..b}".into())),
            None => Err(refused("the path or query has a character that must be percent-encoded".into())),
        }
    }
}

fn origin_form(path: String) -> Option<Uri> {
    PathAndQuery::from_maybe_shared(Bytes::from(path)).ok().map(Uri::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use load_core::Clock;
    use std::collections::BTreeMap;

    fn drawn(paths: &Paths, n: u64) -> BTreeMap<String, u64> {
        let mut op = Op::for_session(Clock::real(), Default::default(), 7);
        let mut counts = BTreeMap::new();
        for seq in 0..n {
            op.begin(0, seq);
            *counts.entry(paths.next(&mut op, 5).to_string()).or_default() += 1;
        }
        counts
    }

    #[test]
    fn lists_are_asked_for_in_turn_evenly_or_by_weight() {
        let list = ["/a", "/b", "/c"];
        let in_turn = drawn(&Paths::new(list, Order::InTurn).unwrap(), 301);
        assert_eq!(in_turn, BTreeMap::from([("/a".into(), 101), ("/b".into(), 100), ("/c".into(), 100)]));
        for count in drawn(&Paths::new(list, Order::Random).unwrap(), 3000).values() {
            assert!((800..1200).contains(count), "{count}");
        }
        let weighted = drawn(&Paths::new(list, Order::Weighted(vec![1, 1, 10])).unwrap(), 10_000);
        assert_eq!(weighted.get("/b"), None, "its weight is 0");
        assert!((800..1200).contains(&weighted["/a"]), "{weighted:?}");
    }

    #[test]
    fn placeholders_stand_in_path_and_query() {
        let paths = Paths::new(["/u/{session}?n={seq}"], Order::InTurn).unwrap();
        assert_eq!(drawn(&paths, 2), BTreeMap::from([("/u/5?n=0".into(), 1), ("/u/5?n=1".into(), 1)]));
        assert_eq!(paths.first(), "/u/0");
    }

    #[test]
    fn paths_that_cannot_be_sent_are_refused_without_the_query() {
        for (path, words) in [
            ("/b c?token", "percent-encoded"),
            ("/\\r\\nX: y", "percent-encoded"),
            ("/{sequel}?token", "{seq}, {session}"),
            ("/{random:9..1}?token", "{random:0..1000}"),
        ] {
            let path = path.replace("\\r\\n", "\r\n");
            let said = Paths::new([&*path], Order::InTurn).unwrap_err().to_string();
            assert!(said.starts_with("url: ") && said.contains(words), "{said}");
            assert!(!said.contains("token"), "{said}");
        }
    }
}
