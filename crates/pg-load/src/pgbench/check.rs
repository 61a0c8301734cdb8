//! Whether tables are there and are pgbench's.

use super::{ACCOUNTS, TELLERS, table::Table};
use crate::Error;
use tokio_postgres::{Client, types::Type};

pub(super) async fn exists(client: &Client, table: &str) -> Result<bool, Error> {
    let row = client.query_typed_one("select to_regclass($1) is not null", &[(&table, Type::TEXT)]).await;
    Ok(row.map_err(Error::statement(format!("looking for table {table}")))?.get(0))
}

pub(super) async fn is_pgbench(client: &Client, table: &Table) -> Result<(), Error> {
    let sql = "select c.relkind in ('r', 'p'), \
                      coalesce((select i.indkey[0] = k.attnum from pg_index i join pg_attribute k on k.attrelid = c.oid \
                                where i.indrelid = c.oid and i.indisprimary and i.indnkeyatts = 1 and k.attname = $2), false), \
                      coalesce(array_agg(a.attname::text order by a.attnum) filter (where a.attnum is not null), '{}'), \
                      coalesce(array_agg(format_type(a.atttypid, a.atttypmod) order by a.attnum) \
                               filter (where a.attnum is not null), '{}') \
               from pg_class c \
               left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped \
               where c.oid = to_regclass($1) group by c.oid, c.relkind";
    let what = || Error::statement(format!("looking at table {}", table.name));
    let row = client
        .query_typed_one(sql, &[(&table.name, Type::TEXT), (&table.key.unwrap_or_default(), Type::TEXT)])
        .await
        .map_err(what())?;
    let (is_table, has_key): (bool, bool) = (row.get(0), row.get(1));
    let columns: Vec<(String, String)> =
        row.get::<_, Vec<String>>(2).into_iter().zip(row.get::<_, Vec<String>>(3)).collect();
    let why = if !is_table {
        Some("it is no table".to_owned())
    } else if let Some(difference) = table.difference(&columns) {
        Some(difference)
    } else {
        table.key.filter(|_| !has_key).map(|key| format!("{key} is not its primary key"))
    };
    match why {
        Some(why) => Err(Error::ForeignTable { table: table.name.into(), why }),
        None => Ok(()),
    }
}

/// The small tables are counted; of the accounts the highest number is enough, which the primary key has at hand.
pub(super) async fn has_scale(client: &Client, scale: u32) -> Result<(), Error> {
    let sql = "select (select count(*) from pgbench_branches), (select count(*) from pgbench_tellers), \
                      (select coalesce(max(aid), 0)::bigint from pgbench_accounts)";
    let row = client
        .query_typed_one(sql, &[])
        .await
        .map_err(Error::statement("looking at the scale of the data"))?;
    let scale = i64::from(scale);
    for (i, (table, what, expected)) in [
        ("pgbench_branches", "rows", scale),
        ("pgbench_tellers", "rows", scale * TELLERS),
        ("pgbench_accounts", "as highest aid", scale * ACCOUNTS),
    ]
    .into_iter()
    .enumerate()
    {
        let found: i64 = row.get(i);
        if found != expected {
            let why = format!("it has {found} {what}; scale {scale} has {expected}");
            return Err(Error::ForeignTable { table: table.into(), why });
        }
    }
    Ok(())
}
