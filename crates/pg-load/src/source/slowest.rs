//! The statements that take most of the server's time.

use crate::{Error, Server};
use std::{fmt, time::Duration};
use tokio_postgres::Client;

/// How much of a statement's text is kept.
const LENGTH: usize = 200;

/// What `pg_stat_statements` says of one statement.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StatementTime {
    /// Its text with `$1` for constants, cut after 200 characters.
    pub query: String,
    /// How often it was executed.
    pub calls: u64,
    /// What all of that took.
    pub total: Duration,
    /// Rows that it gave or changed.
    pub rows: u64,
}

impl StatementTime {
    /// What an execution took on average.
    pub fn mean(&self) -> Duration {
        self.total.div_f64(self.calls.max(1) as f64)
    }
}

impl fmt::Display for StatementTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mean, total) = (self.mean().as_secs_f64() * 1e3, self.total.as_secs_f64());
        write!(f, "{} calls, {mean:.3} ms each, {total:.3} s in all: {}", self.calls, self.query)
    }
}

/// The `count` statements of this database that took most time since `pg_stat_statements` was reset, the longest first;
/// none where that extension is not there. Only statements that read or change rows: what others hold (`ALTER ROLE .. PASSWORD`)
/// is written down by the server as it was sent.
///
/// # Errors
/// [`Error::Connect`], [`Error::Statement`].
pub async fn slowest_statements(server: &Server, count: u32) -> Result<Vec<StatementTime>, Error> {
    let connection = server.connect().await?;
    let views = super::Views::of(connection.client()).await?;
    let read =
        if views.statements { read(connection.client(), views.version, count).await } else { Ok(vec![]) };
    connection.close().await;
    read
}

pub(super) async fn read(client: &Client, version: i32, count: u32) -> Result<Vec<StatementTime>, Error> {
    let time = if version >= 130_000 { "total_exec_time" } else { "total_time" };
    let sql = format!(
        "select left(regexp_replace(s.query, '\\s+', ' ', 'g'), {LENGTH}), s.calls, s.{time}, s.rows \
         from pg_stat_statements s join pg_database d on d.oid = s.dbid \
         where d.datname = current_database() and s.query ~* '^\\s*(select|insert|update|delete|merge|with|values)\\M' \
         order by s.{time} desc limit {count}"
    );
    let rows = client.query_typed(&sql, &[]).await.map_err(Error::statement("reading pg_stat_statements"))?;
    let number = |n: i64| u64::try_from(n).unwrap_or_default();
    Ok(rows
        .iter()
        .map(|row| StatementTime {
            query: row.get(0),
            calls: number(row.get(1)),
            total: Duration::from_secs_f64(row.get::<_, f64>(2).max(0.0) / 1e3),
            rows: number(row.get(3)),
        })
        .collect())
}
