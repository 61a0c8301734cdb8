//! Connection strings: libpq's TLS options are taken out, for the client knows only some of them, and errors are told
//! without the text, for it may hold a password.

use super::SslMode;
use load_core::ConfigError;
use std::{borrow::Cow, error::Error, path::PathBuf};
use tokio_postgres::Config;

/// The field that errors name when they cannot name an option.
const FIELD: &str = "connection string";

/// What the client itself knows.
const OPTIONS: &[&str] = &[
    "user",
    "password",
    "dbname",
    "options",
    "application_name",
    "sslnegotiation",
    "host",
    "hostaddr",
    "port",
    "connect_timeout",
    "tcp_user_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "target_session_attrs",
    "channel_binding",
    "load_balance_hosts",
];

#[derive(Default)]
pub(super) struct Parsed {
    pub(super) config: Config,
    pub(super) ssl: Option<SslMode>,
    pub(super) root_certificate: Option<PathBuf>,
}

impl Parsed {
    /// Takes the option if it is one of ours; `false`: it is the client's.
    fn take(&mut self, key: &str, value: &str) -> Result<bool, ConfigError> {
        match key {
            "sslmode" => self.ssl = Some(value.parse()?),
            "sslrootcert" => self.root_certificate = Some(value.into()),
            "sslcert" | "sslkey" | "sslcrl" => {
                return Err(ConfigError::invalid(
                    key,
                    value,
                    "client certificates and revocation lists are not supported",
                ));
            }
            _ if OPTIONS.contains(&key) => return Ok(false),
            _ => return Err(unknown(key)),
        }
        Ok(true)
    }
}

pub(super) fn parse(text: &str) -> Result<Parsed, ConfigError> {
    let mut parsed = Parsed::default();
    let rest = match ["postgres://", "postgresql://"].iter().find_map(|s| text.strip_prefix(s)) {
        Some(rest) => format!("postgres://{}", url(rest, &mut parsed)?),
        None => words(text, &mut parsed)?,
    };
    parsed.config = rest.parse().map_err(|e: tokio_postgres::Error| wrong(&explain(&e)))?;
    Ok(parsed)
}

/// What stands after `postgres://`, without our options.
fn url(rest: &str, parsed: &mut Parsed) -> Result<String, ConfigError> {
    let (login, address) = match rest.split_once('@') {
        Some((login, address)) => (format!("{login}@"), address),
        None => (String::new(), rest),
    };
    let (place, query) = address.split_once('?').unwrap_or((address, ""));
    if address.contains('@') {
        // The password's end was taken for the host, which errors name.
        return Err(wrong("more than one @: in a user or password write it as %40"));
    }
    if login.is_empty()
        && place.split('/').next().is_some_and(|host| host.matches(':').count() > 1 && !host.contains('['))
    {
        return Err(wrong("more than one : in the host"));
    }
    let mut kept = Vec::new();
    for pair in query.split('&').filter(|p| !p.is_empty()) {
        let (key, value) = pair.split_once('=').ok_or_else(|| wrong("an option without ="))?;
        if !parsed.take(key, &decode(value))? {
            kept.push(pair);
        }
    }
    Ok(format!("{login}{place}{}{}", if kept.is_empty() { "" } else { "?" }, kept.join("&")))
}

/// `key=value` words, without our options.
fn words(text: &str, parsed: &mut Parsed) -> Result<String, ConfigError> {
    let mut kept = String::new();
    let mut rest = text.trim_start();
    let mut after_password = false;
    while !rest.is_empty() {
        let (key, tail) = rest.split_once('=').ok_or_else(|| wrong("a word without ="))?;
        let key = key.trim_end();
        let (value, length) = word(tail)?;
        if after_password && key.contains(char::is_whitespace) {
            return Err(wrong("a password with blanks stands in single quotes"));
        }
        if after_password && !OPTIONS.contains(&key) && !key.starts_with("ssl") {
            return Err(wrong("the word after the password is no option; quote a password with blanks"));
        }
        if !parsed.take(key, &value)? {
            kept.push_str(&format!("{key}={} ", &tail[..length]));
        }
        after_password = key == "password";
        rest = tail[length..].trim_start();
    }
    Ok(kept)
}

/// The value at the start of `text` and how many bytes it takes.
fn word(text: &str) -> Result<(String, usize), ConfigError> {
    let blanks = text.len() - text.trim_start().len();
    let mut chars = text[blanks..].char_indices().peekable();
    let quoted = chars.next_if(|(_, c)| *c == '\'').is_some();
    let mut value = String::new();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => value.extend(chars.next().map(|(_, c)| c)),
            '\'' if quoted => return Ok((value, blanks + at + 1)),
            c if c.is_whitespace() && !quoted => return Ok((value, blanks + at)),
            c => value.push(c),
        }
    }
    if quoted { Err(wrong("a quote without its end")) } else { Ok((value, text.len())) }
}

fn decode(value: &str) -> Cow<'_, str> {
    if !value.contains('%') {
        return value.into();
    }
    let bytes = value.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let hex =
            value.get(i + 1..i + 3).filter(|_| bytes[i] == b'%').and_then(|h| u8::from_str_radix(h, 16).ok());
        plain.push(hex.unwrap_or(bytes[i]));
        i += if hex.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&plain).into_owned().into()
}

fn wrong(reason: &str) -> ConfigError {
    ConfigError::invalid(FIELD, "this text", reason)
}

/// Names the option only when it looks like one: what is not may be a piece of a password.
fn unknown(key: &str) -> ConfigError {
    if !key.is_empty() && key.len() < 30 && key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') {
        return ConfigError::invalid(FIELD, key, "no such option");
    }
    wrong("an option that is not known")
}

/// The client's reason, if it is one that does not repeat the text.
fn explain(error: &tokio_postgres::Error) -> String {
    let reason = error.source().map(|e| e.to_string()).unwrap_or_default();
    match OPTIONS.iter().find(|o| reason == format!("invalid value for option `{o}`")) {
        Some(option) => format!("{option} has a value that is not allowed"),
        None => "not understood; write postgres://user:password@host:port/database".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Server;
    use super::*;

    #[test]
    fn both_forms_say_the_same() {
        for text in [
            "postgres://bench:p%40ss@localhost:5433/data?sslmode=verify-full&sslrootcert=/etc/my%20ca.pem&connect_timeout=3",
            "postgresql://bench:p%40ss@localhost:5433/data?connect_timeout=3&sslrootcert=/etc/my%20ca.pem&sslmode=verify-full",
            "host=localhost port = 5433 user=bench password=p@ss dbname=data connect_timeout=3 sslmode=verify-full sslrootcert='/etc/my ca.pem'",
            "sslrootcert=/etc/my\\ ca.pem sslmode='verify-full' host=localhost port=5433 user=bench password='p@ss' dbname=data connect_timeout=3",
        ] {
            let parsed = parse(text).unwrap();
            assert_eq!(parsed.ssl, Some(SslMode::VerifyFull), "{text}");
            assert_eq!(parsed.root_certificate.as_deref(), Some("/etc/my ca.pem".as_ref()));
            assert_eq!(parsed.config.get_password(), Some(&b"p@ss"[..]));
            assert_eq!(parsed.config.get_connect_timeout(), Some(&std::time::Duration::from_secs(3)));
            assert_eq!(Server::parse(text).unwrap().to_string(), "localhost:5433/data");
        }
    }

    #[test]
    fn unix_sockets_and_addresses() {
        for (text, shown) in [
            ("host=/run/postgresql user=me", "/run/postgresql:5432/me"),
            ("postgres://me@%2Frun%2Fpostgresql/d", "/run/postgresql:5432/d"),
            ("postgres://me@[::1]:5/d", "::1:5/d"),
            ("postgres://127.0.0.1/d", "127.0.0.1:5432/d"),
        ] {
            assert_eq!(Server::parse(text).unwrap().to_string(), shown);
        }
    }

    #[test]
    fn all_hosts_are_told() {
        for (text, hosts) in [
            ("host=a,b user=x", &["a", "b"][..]),
            ("host=/run/postgresql user=x", &["/run/postgresql"]),
            ("host=name hostaddr=10.0.0.1 user=x", &["name", "10.0.0.1"]),
            ("postgres://x@[::1]/d", &["::1"]),
        ] {
            assert_eq!(Server::parse(text).unwrap().hosts(), hosts, "{text}");
        }
    }

    #[test]
    fn mistakes_are_named_but_the_password_is_not() {
        for (text, said) in [
            (
                "postgres://u:canary@h/d?sslmode=sometimes",
                "sslmode: sometimes is not allowed: one of disable",
            ),
            ("postgres://u:canary@h/d?sslmode=allow", "sslmode: allow"),
            ("postgres://u:canary@h/d?sslmod=disable", "sslmod is not allowed: no such option"),
            ("postgres://u:canary@h:port/d", "port has a value"),
            ("host=h port=x password=canary", "port has a value"),
            ("postgres://u:a@canary@h/d", "more than one @"),
            ("postgres://u:canary:1/d", "more than one :"),
            ("host=h password=my canary sslmode=disable", "in single quotes"),
            ("host=h password=my canary=1", "no option"),
            ("host=h password='canary", "without its end"),
            ("host=h canary", "a word without ="),
            ("user=u password=canary", "host: none is not allowed"),
            ("host=h sslcert=x password=canary", "sslcert: x"),
            ("canary", "a word without ="),
        ] {
            let error = Server::parse(text).map(|s| s.to_string()).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
            assert!(!error.contains("canary"), "{error}");
        }
    }

    #[test]
    fn a_password_is_not_shown() {
        let server = Server::parse("postgres://u:canary@h/d").unwrap();
        assert!(!format!("{server:?} {server}").contains("canary"));
        assert!(!format!("{server:?}", server = server.password("canary2")).contains("canary"));
    }
}
