//! Each setting of fred, said aloud.

use crate::{Protocol, RedisError, Target, target::Endpoint};
use fred::types::{
    Builder, RespVersion,
    config::{
        Blocking, Config, ConnectionConfig, PerformanceConfig, Server, ServerConfig, TcpConfig,
        UnresponsiveConfig,
    },
};
use std::time::Duration;

/// Commands that may wait for one connection; a session has a pipeline's worth.
const QUEUED: usize = 100_000;

impl Target {
    /// A builder of fred clients for this server with settings for measuring, also for those clients that this crate does
    /// not use itself (`build_subscriber_client`). No reconnecting, no command is sent twice, limits on all times, a bounded queue,
    /// `TCP_NODELAY`.
    ///
    /// # Errors
    /// [`RedisError::Config`] for a database above 255, which fred cannot select.
    pub fn fred_builder(&self) -> Result<Builder, RedisError> {
        self.check()?;
        let mut builder = Builder::from_config(config(self)?);
        // No policy: a client that has lost its connection ends, and the engine makes a new session.
        builder.set_performance_config(performance(self)).set_connection_config(connection(self));
        Ok(builder)
    }
}

#[allow(
    clippy::needless_update,
    reason = "fields that exist only when someone else enables a feature of fred"
)]
fn config(target: &Target) -> Result<Config, RedisError> {
    let database = u8::try_from(target.database)
        .map_err(|_| RedisError::config("database", target.database, "the client fred takes 0 to 255"))?;
    Ok(Config {
        fail_fast: true,
        blocking: Blocking::Block,
        username: target.user.as_ref().map(|user| user.reveal().to_owned()),
        password: target.password.as_ref().map(|password| password.reveal().to_owned()),
        server: match &target.endpoint {
            Endpoint::Tcp { host, port } => {
                ServerConfig::Centralized { server: Server::new(host.as_str(), *port) }
            }
            Endpoint::Unix(path) => ServerConfig::Unix { path: path.clone() },
        },
        version: match target.protocol {
            Protocol::Resp2 => RespVersion::RESP2,
            Protocol::Resp3 => RespVersion::RESP3,
        },
        database: Some(database),
        #[cfg(feature = "tls")]
        tls: tls(target)?,
        // Fields that exist only when someone else enables a feature of fred.
        ..Config::default()
    })
}

#[cfg(feature = "tls")]
fn tls(target: &Target) -> Result<Option<fred::types::config::TlsConfig>, RedisError> {
    use fred::types::config::{TlsConfig, TlsConnector};
    if !target.tls {
        return Ok(None);
    }
    let tls = target.tls_config().map_err(|failure| RedisError::server(target, &failure))?;
    Ok(Some(TlsConfig::from(TlsConnector::Rustls(tokio_rustls::TlsConnector::from(tls.0)))))
}

#[allow(
    clippy::needless_update,
    reason = "fields that exist only when someone else enables a feature of fred"
)]
fn performance(target: &Target) -> PerformanceConfig {
    PerformanceConfig {
        default_command_timeout: target.timeout,
        // Frames that are written before the socket is flushed; a deep pipeline must not be cut.
        max_feed_count: 10_000,
        broadcast_channel_capacity: 32,
        ..PerformanceConfig::default()
    }
}

#[allow(
    clippy::needless_update,
    reason = "fields that exist only when someone else enables a feature of fred"
)]
fn connection(target: &Target) -> ConnectionConfig {
    ConnectionConfig {
        connection_timeout: target.connect_timeout,
        internal_command_timeout: target.connect_timeout,
        cluster_cache_update_delay: Duration::ZERO,
        // Sent once: whether a command took effect before the connection was lost is not known.
        max_command_attempts: 1,
        // Redirections of a cluster are counted, not followed.
        max_redirections: 0,
        // On, it would send commands again.
        unresponsive: UnresponsiveConfig { max_timeout: None, interval: Duration::from_secs(2) },
        reconnect_on_auth_error: false,
        auto_client_setname: false,
        max_command_buffer_len: QUEUED,
        disable_cluster_health_check: false,
        tcp: TcpConfig {
            nodelay: Some(true),
            linger: None,
            ttl: None,
            keepalive: None,
            ..TcpConfig::default()
        },
        ..ConnectionConfig::default()
    }
}
