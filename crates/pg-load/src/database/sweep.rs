//! Removing the databases of dead runs.

use super::{
    PREFIX,
    owner::{Owner, State},
    remove::remove_on,
};
use crate::{Connection, Error};
use std::fmt;
use tokio_postgres::types::Type;

/// What a sweep did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SweptDatabases {
    /// Names of the databases that were dropped.
    pub dropped: Vec<String>,
    /// Those that were not, and do not belong to a living process that is seen from here.
    pub left: Vec<LeftDatabase>,
}

/// A database that a sweep did not drop.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftDatabase {
    /// Its name.
    pub name: String,
    /// Why not.
    pub why: String,
}

impl SweptDatabases {
    /// Whether there was nothing to do and nothing to say.
    pub fn is_empty(&self) -> bool {
        self.dropped.is_empty() && self.left.is_empty()
    }
}

impl fmt::Display for SweptDatabases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in &self.dropped {
            writeln!(f, "dropped database {name}, which a dead run had left")?;
        }
        for left in &self.left {
            writeln!(f, "left database {}: {}", left.name, left.why)?;
        }
        Ok(())
    }
}

pub(super) async fn sweep(connection: &Connection) -> Result<SweptDatabases, Error> {
    let sql = "select d.datname::text, coalesce(shobj_description(d.oid, 'pg_database'), '') from pg_database d \
               where starts_with(d.datname::text, $1) order by 1";
    let rows = connection.client().query_typed(sql, &[(&PREFIX, Type::TEXT)]).await;
    let mut swept = SweptDatabases::default();
    for row in rows.map_err(Error::statement("looking for databases that were left over"))? {
        let (name, comment): (String, String) = (row.get(0), row.get(1));
        let left = |why: String| LeftDatabase { name: name.clone(), why };
        let Some(owner) = Owner::from_comment(&comment) else {
            swept.left.push(left("its comment does not say who made it".into()));
            continue;
        };
        match owner.state() {
            State::Alive => {}
            State::OutOfSight => {
                let why = format!(
                    "process {} of run {} is on another machine or in a container",
                    owner.pid, owner.run
                );
                swept.left.push(left(why));
            }
            State::Dead
                if !name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_') =>
            {
                swept.left.push(left("its name is not one that we give".into()));
            }
            State::Dead => match remove_on(connection, &name).await {
                Ok(()) => swept.dropped.push(name),
                Err(error) => swept.left.push(left(error.to_string())),
            },
        }
    }
    Ok(swept)
}
