//! Targets that are given by URL.

use crate::{Failed, Flags};
use std::net::ToSocketAddrs;

/// Checks a target: without `--allow-remote` only this machine is loaded.
///
/// # Errors
/// When the URL has no host, the host is not known, or it is not this machine.
pub fn http_target(flag: &str, url: &str, flags: &Flags) -> Result<String, Failed> {
    let rest = url
        .strip_prefix("http://")
        .ok_or_else(|| Failed::new(format!("{flag} {url}: write it as http://HOST:PORT/PATH")))?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let address = if has_port { authority.to_string() } else { format!("{authority}:80") };
    let addresses: Vec<_> =
        address.to_socket_addrs().map_err(|error| Failed::new(format!("{flag} {url}: {error}")))?.collect();
    if !flags.allow_remote && addresses.iter().any(|a| !a.ip().is_loopback()) {
        return Err(Failed::new(format!(
            "{flag} {url}: is not this machine; load only servers that are yours, and say --allow-remote"
        )));
    }
    Ok(if rest.contains('/') { url.to_string() } else { format!("{url}/") })
}

/// Refuses a server that is not this machine, without `--allow-remote`. A path is a unix socket, which is.
///
/// # Errors
/// When a host is not this machine, or not known.
pub fn is_local(flag: &str, hosts: &[String], flags: &Flags) -> Result<(), Failed> {
    for host in hosts.iter().filter(|host| !flags.allow_remote && !host.starts_with('/')) {
        let addresses = (host.as_str(), 0).to_socket_addrs();
        let mut addresses = addresses.map_err(|error| Failed::new(format!("{flag}: {host}: {error}")))?;
        if addresses.any(|a| !a.ip().is_loopback()) {
            return Err(Failed::new(format!(
                "{flag}: {host} is not this machine; load only servers that are yours, and say --allow-remote"
            )));
        }
    }
    Ok(())
}
