//! The URL of a request, taken apart.

use hyper::header::HeaderValue;
use load_core::ConfigError;
use std::{
    fmt,
    net::{IpAddr, Ipv6Addr, SocketAddr},
};

/// Whom to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    Name(String),
    Ip(IpAddr),
}

impl fmt::Display for Host {
    /// As a URL and the `Host` header have it: IPv6 in brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Name(name) => f.write_str(name),
            Host::Ip(IpAddr::V6(ip)) => write!(f, "[{ip}]"),
            Host::Ip(ip) => write!(f, "{ip}"),
        }
    }
}

/// Where requests go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) tls: bool,
    pub(crate) host: Host,
    pub(crate) port: u16,
}

impl Target {
    /// The value of the `Host` header: the port is left out when it is the scheme's own.
    pub(crate) fn authority(&self) -> HeaderValue {
        let Target { host, port, .. } = self;
        let text = if *port == usual_port(self.tls) { host.to_string() } else { format!("{host}:{port}") };
        HeaderValue::try_from(text).expect("hosts were checked to be visible ASCII")
    }

    /// The address, when no name has to be resolved.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        match self.host {
            Host::Ip(ip) => Some(SocketAddr::new(ip, self.port)),
            Host::Name(_) => None,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

fn usual_port(tls: bool) -> u16 {
    if tls { 443 } else { 80 }
}

/// A URL as it may be shown: without credentials, and without the query, which often carries a token.
pub(crate) fn shown(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(s, r)| (s, r));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let credentials = if host.len() < authority.len() { "..@" } else { "" };
    let cut = path.find(['?', '#']).unwrap_or(path.len());
    let query = if path[cut..].starts_with('?') { "?.." } else { "" };
    let separator = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{separator}{credentials}{host}{}{query}", &path[..cut])
}

/// Takes a URL apart: whom to connect to, and what to ask for (path and query).
pub(crate) fn parse(url: &str) -> Result<(Target, String), ConfigError> {
    let refuse = |why: String| Err(ConfigError::invalid("url", shown(url), why));
    let Some((scheme, rest)) = url.split_once("://") else {
        let hint = if url.matches(':').count() > 1 { IPV6_HINT } else { "" };
        return refuse(format!("it must begin with http://{hint}"));
    };
    let tls = match scheme.to_ascii_lowercase().as_str() {
        "http" => false,
        "https" if cfg!(feature = "tls") => true,
        "https" => return refuse("https needs the feature `tls` of http-load".into()),
        _ => return refuse(format!("the scheme {scheme:?} is not supported, only http and https are")),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if authority.contains('@') {
        return refuse("credentials in a URL are not supported; use the header `Authorization`".into());
    }
    let path = path.split('#').next().unwrap_or_default();
    let path = if path.starts_with('/') { path.to_string() } else { format!("/{path}") };
    match host_and_port(authority, tls) {
        Ok(target) => Ok((target, path)),
        Err(why) => refuse(why),
    }
}

const IPV6_HINT: &str = " (an IPv6 address stands in brackets: http://[::1]:8080/)";

fn host_and_port(authority: &str, tls: bool) -> Result<Target, String> {
    let (host, port) = if let Some(inner) = authority.strip_prefix('[') {
        let Some((ip, port)) = inner.split_once(']') else { return Err("a bracket is not closed".into()) };
        if ip.contains('%') {
            return Err("zone ids of IPv6 addresses are not supported".into());
        }
        let ip: Ipv6Addr = ip.parse().map_err(|_| format!("{ip:?} is not an IPv6 address"))?;
        let port = match port.strip_prefix(':') {
            Some(port) => port,
            None if port.is_empty() => "",
            None => return Err("only a port may follow the bracket".into()),
        };
        (Host::Ip(ip.into()), port)
    } else {
        if authority.matches(':').count() > 1 {
            return Err(format!("there is more than one colon{IPV6_HINT}"));
        }
        let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
        if host.is_empty() {
            return Err("the host is missing".into());
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        if !host.chars().all(plain) {
            return Err("a host name has letters, digits, dots and hyphens (others in punycode)".into());
        }
        (host.parse().map_or_else(|_| Host::Name(host.to_ascii_lowercase()), Host::Ip), port)
    };
    let port = match port {
        "" => usual_port(tls),
        text => match text.parse() {
            Ok(port) if port > 0 && text.bytes().all(|b| b.is_ascii_digit()) => port,
            _ => return Err(format!("the port {text:?} is not a number from 1 to 65535")),
        },
    };
    Ok(Target { tls, host, port })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> (String, String, String) {
        let (target, path) = parse(url).unwrap_or_else(|e| panic!("{e}"));
        (target.to_string(), target.authority().to_str().unwrap().to_string(), path)
    }

    #[test]
    fn the_host_header_has_the_port_unless_it_is_80() {
        for (url, host) in [
            ("http://127.0.0.1:8081/", "127.0.0.1:8081"),
            ("http://127.0.0.1:80/", "127.0.0.1"),
            ("http://127.0.0.1", "127.0.0.1"),
            ("http://[::1]:8080/", "[::1]:8080"),
            ("http://[0:0::1]/", "[::1]"),
            ("HTTP://Example.Test:81", "example.test:81"),
        ] {
            assert_eq!(parsed(url).1, host, "{url}");
        }
    }

    #[cfg(feature = "tls")]
    #[test]
    fn the_usual_port_is_the_schemes() {
        assert_eq!(parsed("https://a/").1, "a");
        assert_eq!(parsed("https://a/").0, "a:443");
        assert_eq!(parsed("https://a:80/").1, "a:80");
    }

    #[cfg(not(feature = "tls"))]
    #[test]
    fn https_names_the_feature_that_it_needs() {
        assert!(parse("https://a/").unwrap_err().to_string().contains("feature `tls`"));
    }

    #[test]
    fn paths_are_in_origin_form() {
        for (url, path) in [
            ("http://a", "/"),
            ("http://a/", "/"),
            ("http://a/b/c?d=e&f", "/b/c?d=e&f"),
            ("http://a?d=e", "/?d=e"),
            ("http://a/b#part", "/b"),
            ("http://a:99/%20", "/%20"),
        ] {
            assert_eq!(parsed(url).2, path, "{url}");
        }
    }

    #[test]
    fn urls_that_cannot_be_meant_are_refused_in_words() {
        for (url, words) in [
            ("::1:8080", "http://[::1]:8080/"),
            ("http://::1:8080/", "http://[::1]:8080/"),
            ("http://[fe80::1%25lo]:8080/", "zone ids"),
            ("http://[fe80::1%lo]:8080/", "zone ids"),
            ("http://[::1", "not closed"),
            ("http://[::1]8080/", "port may follow"),
            ("http://[example]/", "not an IPv6 address"),
            ("127.0.0.1:8080", "must begin with http://"),
            ("ftp://a/", "\"ftp\" is not supported"),
            ("http:///path", "host is missing"),
            ("http://:80/", "host is missing"),
            ("http://a:0/", "\"0\" is not a number"),
            ("http://a:65536/", "\"65536\" is not a number"),
            ("http://a:+1/", "\"+1\" is not a number"),
            ("http://a b/", "letters, digits"),
            ("", "must begin with http://"),
        ] {
            let said = parse(url).expect_err(url).to_string();
            assert!(said.starts_with("url: ") && said.contains(words), "{url}: {said}");
        }
    }

    #[test]
    fn credentials_and_queries_are_not_printed() {
        let said = parse("http://me:hunter2@a/b?token=hunter2").unwrap_err().to_string();
        assert!(
            said.contains("Authorization") && !said.contains("hunter2") && !said.contains("me:"),
            "{said}"
        );
        assert_eq!(shown("http://me:p@ss@a:1/b?token=x#y"), "http://..@a:1/b?..");
        assert_eq!(shown("http://a/b#y"), "http://a/b");
        assert_eq!(shown("::1:80"), "::1:80");
    }
}
