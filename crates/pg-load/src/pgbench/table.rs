//! What pgbench's tables look like.

/// From this scale on pgbench makes the account's number a `bigint`.
const BIG_SCALE: u32 = 20_000;

/// One table.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// Columns with type and whether null is refused; the account's number is `bigint` at large scales.
    columns: &'static [(&'static str, &'static str, bool)],
    /// The column of the primary key. The history has none, and is made without a fillfactor.
    pub(crate) key: Option<&'static str>,
}

pub(crate) const TABLES: [&Table; 4] = [&HISTORY, &TELLERS, &ACCOUNTS, &BRANCHES];

const HISTORY: Table = Table {
    name: "pgbench_history",
    columns: &[
        ("tid", "integer", false),
        ("bid", "integer", false),
        ("aid", "integer", false),
        ("delta", "integer", false),
        ("mtime", "timestamp without time zone", false),
        ("filler", "character(22)", false),
    ],
    key: None,
};

const TELLERS: Table = Table {
    name: "pgbench_tellers",
    columns: &[
        ("tid", "integer", true),
        ("bid", "integer", false),
        ("tbalance", "integer", false),
        ("filler", "character(84)", false),
    ],
    key: Some("tid"),
};

const ACCOUNTS: Table = Table {
    name: "pgbench_accounts",
    columns: &[
        ("aid", "integer", true),
        ("bid", "integer", false),
        ("abalance", "integer", false),
        ("filler", "character(84)", false),
    ],
    key: Some("aid"),
};

const BRANCHES: Table = Table {
    name: "pgbench_branches",
    columns: &[("bid", "integer", true), ("bbalance", "integer", false), ("filler", "character(88)", false)],
    key: Some("bid"),
};

impl Table {
    /// The statement that makes it.
    pub(crate) fn create(&self, scale: u32, fillfactor: u32) -> String {
        let columns: Vec<String> = self
            .columns
            .iter()
            .map(|(name, ty, not_null)| {
                let ty = if *name == "aid" && scale >= BIG_SCALE { "bigint" } else { ty };
                format!("{name} {ty}{}", if *not_null { " not null" } else { "" })
            })
            .collect();
        let with =
            if self.key.is_some() { format!(" with (fillfactor={fillfactor})") } else { String::new() };
        format!("create table {}({}){with}", self.name, columns.join(","))
    }

    /// What is different from pgbench's in a table with these columns (name and type), if anything is.
    pub(crate) fn difference(&self, found: &[(String, String)]) -> Option<String> {
        for (i, (name, ty, _)) in self.columns.iter().enumerate() {
            let Some((found_name, found_type)) = found.get(i) else {
                return Some(format!("it has no column {name}"));
            };
            if found_name != name {
                return Some(format!("column {} is {found_name}, not {name}", i + 1));
            }
            if found_type != ty && !(*name == "aid" && found_type == "bigint") {
                return Some(format!("column {name} is of type {found_type}, not {ty}"));
            }
        }
        found.get(self.columns.len()).map(|(name, _)| format!("it has a column {name} more"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_scales_have_large_numbers() {
        assert_eq!(
            ACCOUNTS.create(20_000, 90),
            "create table pgbench_accounts(aid bigint not null,bid integer,abalance integer,filler character(84)) \
             with (fillfactor=90)"
        );
        assert!(HISTORY.create(19_999, 100).ends_with(",filler character(22))"));
        assert!(HISTORY.create(20_000, 100).contains("aid bigint,"));
    }

    #[test]
    fn differences_are_named() {
        let own =
            |t: &Table| t.columns.iter().map(|(n, t, _)| (n.to_string(), t.to_string())).collect::<Vec<_>>();
        assert_eq!(BRANCHES.difference(&own(&BRANCHES)), None);
        let mut big = own(&ACCOUNTS);
        big[0].1 = "bigint".into();
        assert_eq!(ACCOUNTS.difference(&big), None);
        let mut text = own(&BRANCHES);
        text[1].1 = "text".into();
        assert_eq!(BRANCHES.difference(&text).unwrap(), "column bbalance is of type text, not integer");
        assert_eq!(BRANCHES.difference(&own(&BRANCHES)[..2]).unwrap(), "it has no column filler");
        assert_eq!(BRANCHES.difference(&own(&TELLERS)).unwrap(), "column 1 is tid, not bid");
        let mut more = own(&BRANCHES);
        more.push(("x".into(), "text".into()));
        assert_eq!(BRANCHES.difference(&more).unwrap(), "it has a column x more");
    }
}
