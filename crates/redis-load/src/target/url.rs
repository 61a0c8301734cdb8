//! A target by URL.

use super::{Endpoint, Target};
use crate::{Protocol, RedisError};
use percent_encoding::percent_decode_str;
use url::Url;

/// Where Redis listens unless told otherwise.
const PORT: u16 = 6379;

/// An error that names what is wrong but never shows the URL: it may hold a password.
fn wrong(value: &str, reason: &str) -> RedisError {
    RedisError::config("url", value, reason)
}

fn decoded(text: &str) -> Result<String, RedisError> {
    let text = percent_decode_str(text).decode_utf8();
    Ok(text.map_err(|_| wrong("user or password", "is not UTF-8 when decoded"))?.into_owned())
}

fn database(text: &str) -> Result<u32, RedisError> {
    text.parse()
        .map_err(|_| RedisError::config("database", text, "give the number of a database, such as 15"))
}

pub(super) fn parse(text: &str) -> Result<Target, RedisError> {
    let url = Url::parse(text).map_err(|e| wrong("(not shown)", &format!("not a URL: {e}")))?;
    let unix = matches!(url.scheme(), "unix" | "redis+unix");
    let mut target = if unix {
        let path = decoded(url.path())?;
        if path.len() < 2 {
            return Err(wrong("unix://", "give the path of the socket, as in unix:///run/redis.sock"));
        }
        Target::unix(path)
    } else if matches!(url.scheme(), "redis" | "rediss") {
        let host = url.host_str().filter(|h| !h.is_empty()).unwrap_or("127.0.0.1");
        let host = decoded(host.trim_start_matches('[').trim_end_matches(']'))?;
        let mut target = Target::at(Endpoint::Tcp { host, port: url.port().unwrap_or(PORT) });
        target.tls = url.scheme() == "rediss";
        match url.path().trim_matches('/') {
            "" => {}
            number => target.database = database(number)?,
        }
        target
    } else {
        return Err(wrong(&format!("{}://", url.scheme()), "give redis://, rediss:// or unix://"));
    };
    if let Some(password) = url.password() {
        target = target.password(decoded(password)?);
    }
    if !url.username().is_empty() {
        let name = decoded(url.username())?;
        // redis-cli takes a lone name for a password; here it would be sent as neither.
        if target.password.is_none() {
            return Err(wrong(
                "user without password",
                "write redis://:password@host or redis://user:password@host",
            ));
        }
        target = target.user(name);
    }
    for (name, value) in url.query_pairs() {
        match (&*name, &*value) {
            ("db", number) if unix => target.database = database(number)?,
            ("protocol", "2") => target.protocol = Protocol::Resp2,
            ("protocol", "3") => target.protocol = Protocol::Resp3,
            ("protocol", other) => return Err(RedisError::config("protocol", other, "give 2 or 3")),
            (other, _) => {
                return Err(wrong(
                    &format!("?{other}"),
                    "is not known; there are ?protocol and, for unix, ?db",
                ));
            }
        }
    }
    target.check()?;
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read() {
        let t = parse("redis://127.0.0.1").unwrap();
        assert_eq!(t.to_string(), "127.0.0.1:6379 database 15");
        let t = parse("redis://lo%61d:p%40ss%2F@[::1]:7000/3?protocol=3").unwrap();
        assert_eq!(t.to_string(), "[::1]:7000 database 3");
        assert_eq!(t.user.as_ref().unwrap().reveal(), "load");
        assert_eq!(t.password.as_ref().unwrap().reveal(), "p@ss/");
        assert_eq!(t.protocol, Protocol::Resp3);
        let t = parse("unix:///run/redis.sock?db=2").unwrap();
        assert_eq!(t.to_string(), "/run/redis.sock database 2");
    }

    #[test]
    fn no_secret_is_shown() {
        let secret = "hunter2secret";
        let t = parse(&format!("redis://u:{secret}@127.0.0.1/1")).unwrap();
        assert!(!format!("{t:?} {t}").contains(secret));
        for bad in [
            format!("http://u:{secret}@h"),
            format!("redis://u:{secret}@h/x"),
            format!("redis://u:{secret}@h:99999"),
            format!("redis://u:{secret}@h/?nope=1"),
            format!("redis://{secret}@h"),
            secret.to_string(),
        ] {
            let said = parse(&bad).unwrap_err().to_string();
            assert!(!said.contains(secret), "{said}");
        }
    }

    #[test]
    fn errors_name_field_and_value() {
        let said = |url: &str| parse(url).unwrap_err().to_string();
        assert!(said("redis://h/x").contains("database: x is not allowed"), "{}", said("redis://h/x"));
        assert!(said("redis://h?protocol=4").contains("protocol: 4"), "{}", said("redis://h?protocol=4"));
        assert!(said("memcached://h").contains("memcached://"));
        assert!(said("unix://").contains("path of the socket"));
        if cfg!(not(feature = "tls")) {
            assert!(said("rediss://h").contains("feature `tls`"));
        }
    }
}
