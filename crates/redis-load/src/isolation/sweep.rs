//! Removing exactly the keys of one run.

use crate::{RedisError, admin::Admin, commands::Prefix, resp::Value};
use std::fmt;

/// Keys that SCAN looks at, and that UNLINK takes, at once: a millisecond of the server's time.
const BATCH: &[u8] = b"1000";
/// A run whose requests are still being carried out (a server that was frozen, say) may write while we remove.
const PASSES: usize = 5;

/// The keys of a dead run that were removed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Swept {
    /// The run's key prefix.
    pub prefix: String,
    /// When it began, in seconds since 1970; 0 when not known.
    pub began: u64,
    /// How many keys it left.
    pub keys: u64,
}

impl fmt::Display for Swept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} keys of a dead run under {} (began {} s after 1970)",
            self.keys, self.prefix, self.began
        )
    }
}

/// Walks over all keys that match; the server may name a key more than once.
pub(super) struct Scan<'a> {
    admin: &'a mut Admin,
    pattern: Option<Vec<u8>>,
    cursor: Option<Vec<u8>>,
}

impl<'a> Scan<'a> {
    pub(super) fn all(admin: &'a mut Admin) -> Scan<'a> {
        Scan { admin, pattern: None, cursor: Some(b"0".to_vec()) }
    }

    pub(super) fn of(admin: &'a mut Admin, prefix: Prefix) -> Scan<'a> {
        // A prefix has no character that means something in a pattern.
        Scan { admin, pattern: Some([prefix.bytes(), b"*"].concat()), cursor: Some(b"0".to_vec()) }
    }

    /// The next keys, perhaps none; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<Vec<u8>>>, RedisError> {
        let Some(cursor) = self.cursor.take() else { return Ok(None) };
        let mut parts: Vec<&[u8]> = vec![b"SCAN", &cursor, b"COUNT", BATCH];
        if let Some(pattern) = &self.pattern {
            parts.extend([&b"MATCH"[..], pattern]);
        }
        let answer = self.admin.ask(&parts).await?.into_list();
        let Some([Value::Bytes(next), Value::List(keys)]) =
            answer.and_then(|list| <[Value; 2]>::try_from(list).ok())
        else {
            return Err(self.admin.unexpected("SCAN"));
        };
        self.cursor = (next != b"0").then_some(next);
        let keys = keys.into_iter().filter_map(|k| if let Value::Bytes(key) = k { Some(key) } else { None });
        Ok(Some(keys.collect()))
    }
}

/// Removes all keys of a run; gives how many. Ends when a walk over the database has found none.
///
/// # Errors
/// When the server does not take it, or keys appear again and again.
pub(super) async fn sweep(admin: &mut Admin, prefix: Prefix) -> Result<u64, RedisError> {
    let mut removed = 0;
    for _ in 0..PASSES {
        let mut found = 0;
        let mut cursor = Some(());
        let mut scan = Scan::of(admin, prefix);
        while cursor.is_some() {
            cursor = None;
            if let Some(keys) = scan.next().await? {
                cursor = Some(());
                let ours: Vec<&[u8]> =
                    keys.iter().map(Vec::as_slice).filter(|key| prefix.owns(key)).collect();
                found += ours.len() as u64;
                if !ours.is_empty() {
                    let parts: Vec<&[u8]> = [&b"UNLINK"[..]].into_iter().chain(ours).collect();
                    removed += scan.admin.ask(&parts).await?.as_integer().unwrap_or(0).unsigned_abs();
                }
            }
        }
        if found == 0 {
            return Ok(removed);
        }
    }
    Err(RedisError::Server {
        target: admin.target().to_string(),
        what: format!(
            "keys under {} appear while they are removed: is the load still running?",
            prefix.text()
        ),
    })
}
