//! Filling the tables.

use super::{ACCOUNTS, Pgbench, TABLES, TELLERS};
use crate::{Connection, Error};
use bytes::{Bytes, BytesMut};
use futures_util::SinkExt;
use std::{fmt::Write as _, pin::pin};

/// How much is given to the server at a time, in bytes.
const CHUNK: usize = 64 * 1024;
/// `COPY .. FREEZE` by pgbench, from this version of the server on.
const FREEZES: i32 = 140_000;

/// How far a load has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// What is being done: `"pgbench_accounts"` while that is filled, `"vacuum"`, `"primary keys"`.
    pub step: &'static str,
    /// Rows written so far, of all tables.
    pub rows: u64,
    /// Rows there will be.
    pub of: u64,
}

pub(super) async fn load(
    connection: &Connection,
    data: &Pgbench,
    progress: &mut impl FnMut(Progress),
) -> Result<(), Error> {
    let scale = i64::from(data.scale);
    let names = TABLES.map(|t| t.name).join(", ");
    connection.execute("beginning to load", &format!("begin; drop table if exists {names}")).await?;
    for table in TABLES {
        let sql = table.create(data.scale, data.fillfactor);
        connection.execute(format!("making {}", table.name), &sql).await?;
    }
    let version =
        connection.client().query_typed_one("select current_setting('server_version_num')::int", &[]).await;
    let freezes = version.map_err(Error::statement("asking for the version"))?.get::<_, i32>(0) >= FREEZES;
    let mut filling =
        Filling { connection, freezes, progress, rows: 0, of: (scale * (ACCOUNTS + TELLERS + 1)) as u64 };
    // As pgbench has it: the filler is null, but blank in the accounts.
    filling.fill("pgbench_branches", scale, |out, i| writeln!(out, "{i}\t0\t\\N")).await?;
    let branch = |i: i64, each: i64| (i - 1) / each + 1;
    filling
        .fill("pgbench_tellers", scale * TELLERS, |out, i| {
            writeln!(out, "{i}\t{}\t0\t\\N", branch(i, TELLERS))
        })
        .await?;
    filling
        .fill("pgbench_accounts", scale * ACCOUNTS, |out, i| {
            writeln!(out, "{i}\t{}\t0\t", branch(i, ACCOUNTS))
        })
        .await?;
    connection.execute("committing the data", "commit").await?;
    let rows = filling.rows;
    progress(Progress { step: "vacuum", rows, of: rows });
    for table in ["branches", "tellers", "accounts", "history"] {
        let sql = format!("vacuum analyze pgbench_{table}");
        connection.execute(sql.clone(), &sql).await?;
    }
    progress(Progress { step: "primary keys", rows, of: rows });
    for (table, key) in [("branches", "bid"), ("tellers", "tid"), ("accounts", "aid")] {
        let sql = format!("alter table pgbench_{table} add primary key ({key})");
        connection.execute(sql.clone(), &sql).await?;
    }
    Ok(())
}

struct Filling<'a, P> {
    connection: &'a Connection,
    freezes: bool,
    progress: &'a mut P,
    rows: u64,
    of: u64,
}

impl<P: FnMut(Progress)> Filling<'_, P> {
    /// Writes rows 1 to `count` of a table.
    async fn fill(
        &mut self,
        table: &'static str,
        count: i64,
        row: impl Fn(&mut BytesMut, i64) -> std::fmt::Result,
    ) -> Result<(), Error> {
        let what = || Error::statement(format!("filling {table}"));
        let with = if self.freezes { " with (freeze on)" } else { "" };
        let sql = format!("copy {table} from stdin{with}");
        let sink = self.connection.client().copy_in::<_, Bytes>(&sql).await.map_err(what())?;
        let mut sink = pin!(sink);
        let mut chunk = BytesMut::with_capacity(CHUNK + 128);
        for i in 1..=count {
            row(&mut chunk, i).expect("writing to memory");
            self.rows += 1;
            if chunk.len() >= CHUNK || i == count {
                sink.as_mut().send(chunk.split().freeze()).await.map_err(what())?;
                chunk.reserve(CHUNK + 128);
            }
            if i % ACCOUNTS == 0 || i == count {
                (self.progress)(Progress { step: table, rows: self.rows, of: self.of });
            }
        }
        sink.finish().await.map_err(what())?;
        Ok(())
    }
}
