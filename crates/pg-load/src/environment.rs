//! What a server is and how it is set.

use crate::{Error, Server};
use load_core::record;
use tokio_postgres::types::Type;

/// Settings that change what is measured. None of them can hold a secret.
const SETTINGS: &[&str] = &[
    "autovacuum",
    "checkpoint_completion_target",
    "checkpoint_timeout",
    "commit_delay",
    "data_checksums",
    "default_transaction_isolation",
    "effective_cache_size",
    "effective_io_concurrency",
    "enable_partition_pruning",
    "fsync",
    "full_page_writes",
    "huge_pages",
    "io_method",
    "io_workers",
    "jit",
    "lc_collate",
    "maintenance_work_mem",
    "max_connections",
    "max_parallel_workers",
    "max_parallel_workers_per_gather",
    "max_wal_size",
    "min_wal_size",
    "password_encryption",
    "plan_cache_mode",
    "random_page_cost",
    "server_encoding",
    "shared_buffers",
    "shared_preload_libraries",
    "ssl",
    "superuser_reserved_connections",
    "synchronous_commit",
    "temp_buffers",
    "track_io_timing",
    "wal_buffers",
    "wal_compression",
    "wal_level",
    "wal_sync_method",
    "work_mem",
];

impl Server {
    /// Version and settings that matter, for the record's environment. Settings are as a session of ours has them, so that what
    /// is set for the role or the database counts.
    ///
    /// # Errors
    /// [`Error::Connect`], [`Error::Statement`].
    pub async fn environment(&self) -> Result<record::Server, Error> {
        let connection = self.connect().await?;
        let encrypted = connection.is_encrypted();
        let sql = "select name, current_setting(name) from pg_settings where name = any($1) order by name";
        let names: Vec<&str> = SETTINGS.to_vec();
        let rows = connection
            .client()
            .query_typed(sql, &[(&names, Type::TEXT_ARRAY)])
            .await
            .map_err(Error::statement("reading settings"))?;
        let version = connection.server_version().to_owned();
        connection.close().await;
        let server = rows.iter().fold(record::Server::new(version), |server, row| {
            server.setting(row.get::<_, String>(0), row.get::<_, String>(1))
        });
        Ok(server.setting("connection_tls", if encrypted { "on" } else { "off" }))
    }
}
