//! The sums that a TPC-B-like run keeps in step.

use crate::Error;
use load_core::record::Check;
use tokio_postgres::Client;

/// Sums of pgbench's tables. Every committed transaction adds the same delta to one account, one teller, one branch and
/// the history (`simple-update`: to account and history), so what they grew by during a run tells whether something was
/// lost or done twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Balances {
    /// Sum over the accounts.
    pub accounts: i64,
    /// Sum over the tellers.
    pub tellers: i64,
    /// Sum over the branches.
    pub branches: i64,
    /// Sum of the history's deltas.
    pub history: i64,
    /// Rows in the history: committed transactions since it was last emptied.
    pub history_rows: i64,
}

impl Balances {
    /// What was added since `before`, which must not be older than the last time that the history was emptied
    /// ([`Pgbench::tidy`](crate::Pgbench::tidy) does).
    pub fn since(&self, before: &Balances) -> Balances {
        Balances {
            accounts: self.accounts - before.accounts,
            tellers: self.tellers - before.tellers,
            branches: self.branches - before.branches,
            history: self.history - before.history,
            history_rows: self.history_rows - before.history_rows,
        }
    }

    /// Whether these, what was added by a run, are in step.
    pub fn agree(&self) -> bool {
        self.accounts == self.history
            && self.tellers == self.branches
            && (self.tellers == self.history || self.tellers == 0)
    }

    /// The same as a check for the record, `postgres.balances`. `elapsed_ns` is how long it took to read them.
    pub fn check(&self, elapsed_ns: u64) -> Check {
        let Balances { accounts, tellers, branches, history, history_rows } = self;
        let detail = format!(
            "added to accounts {accounts}, tellers {tellers}, branches {branches}, history {history} in {history_rows} rows"
        );
        Check::new("postgres.balances", self.agree(), elapsed_ns, detail)
    }
}

pub(super) async fn read(client: &Client) -> Result<Balances, Error> {
    let sql = "select (select coalesce(sum(abalance), 0)::bigint from pgbench_accounts), \
                      (select coalesce(sum(tbalance), 0)::bigint from pgbench_tellers), \
                      (select coalesce(sum(bbalance), 0)::bigint from pgbench_branches), \
                      coalesce(sum(delta), 0)::bigint, count(*) from pgbench_history";
    let row = client.query_typed_one(sql, &[]).await.map_err(Error::statement("reading the balances"))?;
    Ok(Balances {
        accounts: row.get(0),
        tellers: row.get(1),
        branches: row.get(2),
        history: row.get(3),
        history_rows: row.get(4),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_added_must_agree() {
        let before = Balances { accounts: 9, tellers: 9, branches: 9, history: 0, history_rows: 0 };
        let after = Balances { accounts: 4, tellers: 4, branches: 4, history: -5, history_rows: 2 };
        assert!(after.since(&before).agree());
        let simple_update = Balances { tellers: 9, branches: 9, ..after };
        assert!(simple_update.since(&before).agree());
        for lost in [
            Balances { accounts: 5, ..after },
            Balances { tellers: 5, ..after },
            Balances { branches: 9, ..after },
            Balances { history: -4, ..after },
        ] {
            assert!(!lost.since(&before).agree(), "{lost:?}");
        }
    }
}
