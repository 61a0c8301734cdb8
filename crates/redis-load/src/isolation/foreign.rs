//! Keys that no run of ours made.

use super::{BEAT, RUNS, sweep::Scan};
use crate::{RedisError, admin::Admin, commands::Prefix};

/// The search ends when it has seen this many: the database is refused all the same.
const ENOUGH: u64 = 100;
/// How many are shown.
const SHOWN: usize = 3;
/// How much of a key is shown at most: what comes after may be a secret, as in `session:<token>`.
const SHOWN_BYTES: usize = 12;

/// A name that is allowed: exact, or a beginning when it ends in `*`.
fn allows(pattern: &str, key: &[u8]) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => key.starts_with(beginning.as_bytes()),
        None => key == pattern.as_bytes(),
    }
}

/// The beginning of a key, up to a separator.
fn beginning(key: &[u8]) -> String {
    let end = key.iter().take(SHOWN_BYTES).position(|b| b":/.-|{".contains(b)).unwrap_or(key.len().min(4));
    let shown = String::from_utf8_lossy(&key[..end]).replace(char::is_control, "?");
    format!("{shown}...")
}

/// Refuses a database in which there are keys that are neither of a run in `runs` nor allowed by name.
pub(super) async fn refuse(admin: &mut Admin, runs: &[Prefix], allowed: &[String]) -> Result<(), RedisError> {
    if allowed.iter().any(|pattern| pattern == "*") {
        return Ok(());
    }
    let (mut seen, mut examples) = (0, Vec::new());
    let target = admin.target().to_string();
    let mut scan = Scan::all(admin);
    while seen < ENOUGH
        && let Some(keys) = scan.next().await?
    {
        for key in keys {
            let ours = key == RUNS.as_bytes()
                || key.starts_with(BEAT.as_bytes())
                || runs.iter().any(|prefix| prefix.owns(&key));
            if ours || allowed.iter().any(|pattern| allows(pattern, &key)) {
                continue;
            }
            seen += 1;
            if examples.len() < SHOWN {
                examples.push(beginning(&key));
            }
        }
    }
    if seen == 0 {
        Ok(())
    } else {
        Err(RedisError::ForeignKeys { target, seen, examples: examples.join(" ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_exact_or_beginnings() {
        assert!(allows("user:*", b"user:1") && allows("user:*", b"user:") && !allows("user:*", b"users"));
        assert!(allows("one", b"one") && !allows("one", b"ones"));
    }

    #[test]
    fn what_may_be_a_secret_is_not_shown() {
        assert_eq!(beginning(b"session:s3cr3t"), "session...");
        assert_eq!(beginning(b"s3cr3ttoken"), "s3cr...");
        assert_eq!(beginning(b"\x01\xff"), "?\u{fffd}...");
    }
}
