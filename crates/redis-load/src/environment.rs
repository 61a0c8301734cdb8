//! What a server is and how it is set.

use crate::{RedisError, Target, admin::Admin, status::Info};
use load_core::record;

/// Settings that change what is measured. None of them can hold a secret.
const SETTINGS: &[&str] = &[
    "activedefrag",
    "appendfsync",
    "appendonly",
    "databases",
    "hz",
    "io-threads",
    "io-threads-do-reads",
    "latency-monitor-threshold",
    "lfu-decay-time",
    "maxclients",
    "maxmemory",
    "maxmemory-policy",
    "notify-keyspace-events",
    "repl-diskless-sync",
    "save",
    "slowlog-log-slower-than",
    "tcp-backlog",
    "tcp-keepalive",
    "timeout",
    "tls-port",
];

/// What INFO tells beside the version: field and name.
const TOLD: &[(&str, &str)] = &[
    ("arch_bits", "arch_bits"),
    ("gcc_version", "gcc_version"),
    ("mem_allocator", "mem_allocator"),
    ("multiplexing_api", "multiplexing_api"),
    ("os", "os"),
    ("redis_mode", "mode"),
    ("role", "role"),
    ("server_name", "server_name"),
];

impl Admin {
    pub(crate) async fn info(&mut self) -> Result<Info, RedisError> {
        let text = self.ask(&[b"INFO"]).await?.as_text().ok_or_else(|| self.unexpected("INFO"))?;
        Ok(Info::parse(&text))
    }
}

impl Target {
    /// Version and settings that matter, for the record's environment: persistence, memory limit, threads. Settings that the
    /// user may not read are left out.
    ///
    /// # Errors
    /// [`RedisError::Server`], [`RedisError::Refused`].
    pub async fn environment(&self) -> Result<record::Server, RedisError> {
        self.check()?;
        let mut admin = Admin::open(self).await?;
        let info = admin.info().await?;
        // Valkey says a version of Redis too, for compatibility.
        let version = info.text("valkey_version").or(info.text("redis_version")).unwrap_or("unknown");
        let mut server = record::Server::new(version);
        for (field, name) in TOLD {
            if let Some(text) = info.text(field) {
                server = server.setting(*name, text);
            }
        }
        for name in SETTINGS {
            match admin.ask(&[b"CONFIG", b"GET", name.as_bytes()]).await {
                Ok(pairs) => {
                    for (key, value) in pairs.into_pairs().unwrap_or_default() {
                        if let (Some(key), Some(value)) = (key.as_text(), value.as_text()) {
                            server =
                                server.setting(key, if value.is_empty() { "(none)".into() } else { value });
                        }
                    }
                }
                Err(RedisError::Refused { .. }) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(server)
    }
}
