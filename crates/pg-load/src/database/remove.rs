//! Dropping a database and making sure of it.

use crate::{Connection, Error, Server};
use tokio_postgres::types::Type;

/// `DROP DATABASE .. WITH (FORCE)`, from this version of the server on.
const FORCES: i32 = 130_000;

/// Drops a database of ours over a connection of its own.
pub(super) async fn remove(admin: &Server, name: &str) -> Result<(), Error> {
    let connection = admin.connect().await?;
    let removed = remove_on(&connection, name).await;
    connection.close().await;
    removed
}

/// Drops a database of ours and makes sure of it.
pub(super) async fn remove_on(connection: &Connection, name: &str) -> Result<(), Error> {
    let client = connection.client();
    let what = || Error::statement(format!("dropping database {name}"));
    let version = client
        .query_typed_one("select current_setting('server_version_num')::int", &[])
        .await
        .map_err(what())?;
    let dropped = if version.get::<_, i32>(0) >= FORCES {
        client.batch_execute(&format!("drop database if exists {name} with (force)")).await
    } else {
        let sql = "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()";
        client.execute_typed(sql, &[(&name, Type::TEXT)]).await.map_err(what())?;
        client.batch_execute(&format!("drop database if exists {name}")).await
    };
    if let Err(cause) = dropped {
        let held_by = sessions(connection, name).await.unwrap_or_default();
        let held_by =
            if held_by.is_empty() { String::new() } else { format!("; connected to it: {held_by}") };
        return Err(Error::Statement { what: format!("dropping database {name}{held_by}"), cause });
    }
    let sql = "select count(*) from pg_database where datname = $1";
    match client.query_typed_one(sql, &[(&name, Type::TEXT)]).await.map_err(what())?.get::<_, i64>(0) {
        0 => Ok(()),
        _ => Err(Error::Remains { what: format!("database {name}") }),
    }
}

/// Who is connected to a database, in words.
async fn sessions(connection: &Connection, name: &str) -> Result<String, Error> {
    let sql = "select coalesce(string_agg(format('process %s (%s, user %s)', pid, \
               coalesce(nullif(application_name, ''), backend_type), usename), ', ' order by pid), '') \
               from pg_stat_activity where datname = $1";
    let row = connection.client().query_typed_one(sql, &[(&name, Type::TEXT)]).await;
    Ok(row.map_err(Error::statement("looking for sessions"))?.get(0))
}
