//! pgbench's own transactions.

use super::{Draw, Script};
use crate::pgbench::{ACCOUNTS, TELLERS, valid_scale};
use load_core::ConfigError;

const SELECT: &str = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid";
const UPDATE_ACCOUNTS: &str = "UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid";
const UPDATE_TELLERS: &str = "UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid";
const UPDATE_BRANCHES: &str = "UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid";
const INSERT: &str = "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) \
                      VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP)";

impl Script {
    /// pgbench's `tpcb-like`: seven statements in one transaction, five of them writing. All transactions of a branch
    /// wait for each other, so the scale should be at least the number of sessions.
    ///
    /// # Errors
    /// When the scale is 0 or above what pgbench takes.
    pub fn tpcb(scale: u32) -> Result<Script, ConfigError> {
        let script = Script::of_pgbench("TPC-B-like", scale, true)?
            .statement("begin", "BEGIN")?
            .statement("update_accounts", UPDATE_ACCOUNTS)?
            .rows(1)
            .statement("select", SELECT)?
            .rows(1)
            .statement("update_tellers", UPDATE_TELLERS)?
            .rows(1)
            .statement("update_branches", UPDATE_BRANCHES)?
            .rows(1)
            .statement("insert_history", INSERT)?
            .rows(1);
        script.statement("end", "END")
    }

    /// pgbench's `simple-update`: as [`tpcb`](Script::tpcb) without tellers and branches.
    ///
    /// # Errors
    /// As [`tpcb`](Script::tpcb).
    pub fn simple_update(scale: u32) -> Result<Script, ConfigError> {
        let script = Script::of_pgbench("simple-update", scale, false)?
            .statement("begin", "BEGIN")?
            .statement("update_accounts", UPDATE_ACCOUNTS)?
            .rows(1)
            .statement("select", SELECT)?
            .rows(1)
            .statement("insert_history", INSERT)?
            .rows(1);
        script.statement("end", "END")
    }

    /// pgbench's `select-only`: one row of the accounts.
    ///
    /// # Errors
    /// As [`tpcb`](Script::tpcb).
    pub fn select_only(scale: u32) -> Result<Script, ConfigError> {
        let scale = valid_scale(scale)?;
        let mut script = Script::new("select-only")
            .variable("aid", Draw::uniform(1, ACCOUNTS * i64::from(scale))?)?
            .statement("select", SELECT)?
            .rows(1);
        script.data = Some((scale, false));
        Ok(script)
    }

    fn of_pgbench(name: &str, scale: u32, meets: bool) -> Result<Script, ConfigError> {
        let scale = valid_scale(scale)?;
        let mut script = Script::new(name)
            .variable("aid", Draw::uniform(1, ACCOUNTS * i64::from(scale))?)?
            .variable("bid", Draw::uniform(1, i64::from(scale))?)?
            .variable("tid", Draw::uniform(1, TELLERS * i64::from(scale))?)?
            .variable("delta", Draw::uniform(-5000, 5000)?)?;
        script.data = Some((scale, meets));
        Ok(script)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_whole_and_scale_0_is_refused() {
        for script in [Script::tpcb(1), Script::simple_update(1), Script::select_only(1)] {
            let script = script.unwrap();
            script.validate().unwrap();
            assert!(script.is_one_transaction() && script.has_room_for_steps());
        }
        for refused in [Script::tpcb(0), Script::simple_update(0), Script::select_only(0)] {
            assert!(refused.unwrap_err().to_string().starts_with("scale: 0 "));
        }
    }
}
