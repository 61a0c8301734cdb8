//! pgbench's tables: made, filled, checked and counted up.

mod balances;
mod check;
mod load;
mod table;

pub use balances::Balances;
pub use load::Progress;

use crate::{Connection, Error, Server};
use load_core::ConfigError;
use table::TABLES;

/// Accounts for each unit of the scale; each unit is one branch.
pub(crate) const ACCOUNTS: i64 = 100_000;
/// Tellers for each unit of the scale.
pub(crate) const TELLERS: i64 = 10;
/// The numbers of the tellers must fit into 31 bits.
const HIGHEST_SCALE: u32 = i32::MAX as u32 / TELLERS as u32;

pub(crate) fn valid_scale(scale: u32) -> Result<u32, ConfigError> {
    if (1..=HIGHEST_SCALE).contains(&scale) {
        return Ok(scale);
    }
    Err(ConfigError::invalid("scale", scale, format!("between 1 and {HIGHEST_SCALE}")))
}

/// The data of pgbench at a scale: 1 branch, 10 tellers and 100,000 accounts (about 15 MB) for each unit of it.
///
/// What [`load`](Pgbench::load) makes is what `pgbench -i` makes, and either is good for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pgbench {
    scale: u32,
    fillfactor: u32,
    replace: bool,
}

impl Pgbench {
    /// Data of this scale.
    ///
    /// # Errors
    /// When the scale is 0 or above what pgbench takes.
    pub fn scale(scale: u32) -> Result<Pgbench, ConfigError> {
        Ok(Pgbench { scale: valid_scale(scale)?, fillfactor: 100, replace: false })
    }

    /// How full the pages of the tables are made, in percent; 100 unless told otherwise, as pgbench has it.
    ///
    /// # Errors
    /// When it is not between 10 and 100.
    pub fn fillfactor(mut self, percent: u32) -> Result<Pgbench, ConfigError> {
        if !(10..=100).contains(&percent) {
            return Err(ConfigError::invalid("fillfactor", percent, "between 10 and 100"));
        }
        self.fillfactor = percent;
        Ok(self)
    }

    /// Whether [`load`](Pgbench::load) may replace tables of pgbench's that are there already. Tables of the same name
    /// that are not pgbench's are never touched.
    pub fn replace(mut self, yes: bool) -> Pgbench {
        self.replace = yes;
        self
    }

    /// How many branches there are.
    pub fn branches(&self) -> u32 {
        self.scale
    }

    /// What pgbench does before a run: vacuums the small tables and empties the history.
    ///
    /// # Errors
    /// [`Error::Connect`], [`Error::Statement`].
    pub async fn tidy(&self, server: &Server) -> Result<(), Error> {
        let connection = server.connect().await?;
        for sql in ["vacuum pgbench_branches", "vacuum pgbench_tellers", "truncate pgbench_history"] {
            connection.execute(sql, sql).await?;
        }
        connection.close().await;
        Ok(())
    }

    /// Looks whether the tables are there, are pgbench's, and are of this scale. Takes a few milliseconds at any scale.
    ///
    /// # Errors
    /// [`Error::MissingTable`] and [`Error::ForeignTable`] name the table; [`Error::Connect`], [`Error::Statement`].
    pub async fn check(&self, server: &Server) -> Result<(), Error> {
        let connection = server.connect().await?;
        let checked = self.check_on(connection.client()).await;
        connection.close().await;
        checked
    }

    pub(crate) async fn check_on(&self, client: &tokio_postgres::Client) -> Result<(), Error> {
        for table in TABLES {
            if !check::exists(client, table.name).await? {
                return Err(Error::MissingTable { table: table.name.into(), scale: self.scale });
            }
            check::is_pgbench(client, table).await?;
        }
        check::has_scale(client, self.scale).await
    }

    /// Makes the tables and fills them by `COPY`: the steps `dtgvp` of `pgbench -i`, of which dropping, making and filling
    /// are one transaction, so that a load that is cut short leaves what was there before. `progress` is told how far
    /// it has come, at least once for each 100,000 rows.
    ///
    /// # Errors
    /// [`Error::TableExists`] unless [`replace`](Pgbench::replace) allows it; [`Error::ForeignTable`] when a table to be
    /// replaced is not pgbench's; [`Error::Connect`], [`Error::Statement`].
    pub async fn load(&self, server: &Server, mut progress: impl FnMut(Progress)) -> Result<(), Error> {
        let connection = server.connect().await?;
        let loaded = self.load_on(&connection, &mut progress).await;
        connection.close().await;
        loaded
    }

    async fn load_on(
        &self,
        connection: &Connection,
        progress: &mut impl FnMut(Progress),
    ) -> Result<(), Error> {
        for table in TABLES {
            if check::exists(connection.client(), table.name).await? {
                if !self.replace {
                    return Err(Error::TableExists { table: table.name.into() });
                }
                check::is_pgbench(connection.client(), table).await?;
            }
        }
        load::load(connection, self, progress).await
    }

    /// The sums that every run must keep in step.
    ///
    /// # Errors
    /// [`Error::Connect`], [`Error::Statement`].
    pub async fn balances(&self, server: &Server) -> Result<Balances, Error> {
        let connection = server.connect().await?;
        let balances = balances::read(connection.client()).await;
        connection.close().await;
        balances
    }
}
