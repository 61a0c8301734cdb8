//! Making a database so that whatever stops us in the middle leaves either none or one that says whose it is.

use super::{Held, TemporaryDatabase, remove::remove_on};
use crate::{Connection, Error, Server};
use std::time::Duration;
use tokio::time::sleep;
use tokio_postgres::types::Type;

/// A name that is taken is refused by the server, and stays a stranger's.
pub(super) async fn make(
    admin: &Server,
    connection: &Connection,
    name: String,
    comment: String,
) -> Result<TemporaryDatabase, Error> {
    let server = admin.clone().with_database(&name);
    // From template0: nobody can be connected to it, which would be in the way.
    let create = format!("create database {name} template template0");
    let sign = format!("comment on database {name} is '{}'", comment.replace('\'', "''"));
    let create = connection.execute(format!("making database {name}"), &create);
    let mut database = TemporaryDatabase { admin: admin.clone(), server, name, held: Held::Nothing };
    let name = &database.name;
    let (taken, process) = look(connection, name).await?;
    let made = if taken {
        create.await
    } else {
        // A database cannot be made and signed in one transaction. But the server has both statements before it begins with
        // the first, and so does the second even if we are gone by then. Nobody's comment is written over, should another
        // have been quicker to make one of this name.
        let sign_if_new = format!(
            "do $do$ begin if (select shobj_description(oid, 'pg_database') from pg_database where datname = '{name}') \
             is null then {sign}; end if; end $do$"
        );
        let sign_if_new = connection.execute("signing", &sign_if_new);
        database.held = Held::Making(Unfinished { comment, process });
        futures_util::future::join(create, sign_if_new).await.0
    };
    if let Err(error) = made {
        // Refused, there is none of ours; else it has to be looked for.
        if error.sqlstate().is_some() {
            database.held = Held::Nothing;
        }
        return Err(error);
    }
    database.held = Held::Ours;
    let signed = connection.execute(format!("signing database {}", database.name), &sign).await;
    if let Err(error) = signed {
        database.remove().await;
        return Err(error);
    }
    Ok(database)
}

/// Whether the name is taken, and which of the server's processes serves us.
async fn look(connection: &Connection, name: &str) -> Result<(bool, i32), Error> {
    let sql = "select exists(select from pg_database where datname = $1), pg_backend_pid()";
    let row = connection.client().query_typed_one(sql, &[(&name, Type::TEXT)]).await;
    let row = row.map_err(Error::statement("looking for databases of this name"))?;
    Ok((row.get(0), row.get(1)))
}

/// A database that was being made when its making was given up.
pub(super) struct Unfinished {
    comment: String,
    /// The process of the server that makes it.
    process: i32,
}

impl Unfinished {
    /// Stops the making, and removes what has come of it nevertheless.
    pub(super) async fn remove(self, admin: &Server, name: &str) -> Result<(), Error> {
        let connection = admin.connect().await?;
        let client = connection.client();
        let what = || Error::statement(format!("looking for database {name}"));
        // To cancel what it does is not enough: it may not have begun.
        let end = "select pg_terminate_backend(pid) from pg_stat_activity \
                   where pid = $1 and usename = current_user and application_name = current_setting('application_name')";
        client.execute_typed(end, &[(&self.process, Type::INT4)]).await.map_err(what())?;
        let there = "select exists(select from pg_stat_activity where pid = $1)";
        while client.query_typed_one(there, &[(&self.process, Type::INT4)]).await.map_err(what())?.get(0) {
            sleep(Duration::from_millis(20)).await;
        }
        // Its process may have been ended between making and signing.
        let ours = "select exists(select from pg_database where datname = $1 \
                    and coalesce(shobj_description(oid, 'pg_database'), $2) = $2)";
        let parameters: [(&(dyn tokio_postgres::types::ToSql + Sync), Type); 2] =
            [(&name, Type::TEXT), (&self.comment, Type::TEXT)];
        let removed = match client.query_typed_one(ours, &parameters).await.map_err(what())?.get(0) {
            true => remove_on(&connection, name).await,
            false => Ok(()),
        };
        connection.close().await;
        removed
    }
}
