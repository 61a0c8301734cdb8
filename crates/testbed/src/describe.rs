//! What the record says of a server that we started.

use std::collections::BTreeMap;

use load_core::record::Server;

pub(crate) fn server(version: &str, settings: BTreeMap<String, String>) -> Server {
    settings.into_iter().fold(Server::new(version), |server, (name, value)| server.setting(name, value))
}

/// Whether a setting of this name may hold something that nobody else should read.
pub(crate) fn is_secret(name: &str) -> bool {
    const SIGNS: [&str; 7] = ["pass", "auth", "secret", "user", "key", "token", "conninfo"];
    let name = name.to_ascii_lowercase();
    SIGNS.iter().any(|sign| name.contains(sign))
}

/// The value to show for a setting.
pub(crate) fn shown(name: &str, value: &str) -> String {
    if is_secret(name) { "***".to_owned() } else { value.to_owned() }
}

/// The first word of `text` that follows `mark` and is a version: digits and dots.
pub(crate) fn version_after(text: &str, mark: &str) -> Option<String> {
    let rest = &text[text.find(mark)? + mark.len()..];
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    (end > 0).then(|| rest[..end].trim_end_matches('.').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found() {
        assert_eq!(version_after("Redis server v=7.0.15 sha=0", " v=").as_deref(), Some("7.0.15"));
        assert_eq!(
            version_after("postgres (PostgreSQL) 15.14 (Debian 15.14-0)", "(PostgreSQL) ").as_deref(),
            Some("15.14")
        );
        assert_eq!(version_after("postgres (PostgreSQL) 18beta1", "(PostgreSQL) ").as_deref(), Some("18"));
        assert_eq!(version_after("memcached x", "memcached "), None);
        assert_eq!(version_after("other", "memcached "), None);
    }

    #[test]
    fn secrets_are_not_shown() {
        assert_eq!(shown("maxmemory", "1gb"), "1gb");
        for name in ["requirepass", "masterauth", "user", "tls-key-file-pass", "primary_conninfo"] {
            assert_eq!(shown(name, "x"), "***");
        }
    }
}
