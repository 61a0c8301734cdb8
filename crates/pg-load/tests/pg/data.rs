//! pgbench's tables, made by us and by pgbench.

use crate::{fixture::Pg, run::on_worker};
use pg_load::{Error, Pgbench, Server};

const CONTENT: &str = "select md5(string_agg(t::text, chr(10))) from (\
    select to_jsonb(b) t from pgbench_branches b union all select to_jsonb(l) from pgbench_tellers l union all \
    select to_jsonb(a) from pgbench_accounts a union all select to_jsonb(h) from pgbench_history h order by 1) x";

fn server(pg: &Pg, database: &str) -> Server {
    Server::parse(&pg.url(database)).unwrap()
}

#[test]
fn ours_and_pgbenchs_are_the_same_and_each_takes_the_other() {
    let Some(pg) = Pg::start(&[]) else { return };
    for database in ["ours", "theirs"] {
        pg.psql("postgres", &format!("create database {database}"));
    }
    pg.run("pgbench", &["-i", "-q", "-s", "2", "-F", "90", "theirs"]);
    let data = Pgbench::scale(2).unwrap().fillfactor(90).unwrap();
    on_worker(async {
        let mut said = Vec::new();
        data.load(&server(&pg, "ours"), |p| said.push((p.step, p.rows, p.of))).await.unwrap();
        let of = 200_022;
        let expected = [
            ("pgbench_branches", 2, of),
            ("pgbench_tellers", 22, of),
            ("pgbench_accounts", 100_022, of),
            ("pgbench_accounts", of, of),
            ("vacuum", of, of),
            ("primary keys", of, of),
        ];
        assert_eq!(said, expected);
        data.check(&server(&pg, "ours")).await.unwrap();
        data.check(&server(&pg, "theirs")).await.unwrap();
    });
    let dump = |database: &str| pg.run("pg_dump", &["--schema-only", "--no-comments", database]);
    let comparable = |dump: String| -> Vec<String> {
        // pg_dump of late writes a random word into its output.
        dump.lines()
            .filter(|l| !l.starts_with("\\restrict") && !l.starts_with("\\unrestrict"))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(comparable(dump("ours")), comparable(dump("theirs")));
    assert_eq!(pg.psql("ours", CONTENT), pg.psql("theirs", CONTENT));
    let pages = "select string_agg(relname || ' ' || relpages || ' ' || reltuples || ' ' || relallvisible, ',' order by 1) \
                 from pg_class where relname like 'pgbench%'";
    assert_eq!(pg.psql("ours", pages), pg.psql("theirs", pages), "as large, vacuumed and analyzed");

    let said = pg.run("pgbench", &["-c", "2", "-t", "50", "ours"]);
    assert!(
        said.contains("scaling factor: 2")
            && said.contains("number of transactions actually processed: 100/100")
    );
    on_worker(async {
        let balances = data.balances(&server(&pg, "ours")).await.unwrap();
        assert_eq!(balances.history_rows, 100);
        assert!(balances.agree() && balances.history != 0, "{balances:?}");
        data.tidy(&server(&pg, "ours")).await.unwrap();
        assert_eq!(data.balances(&server(&pg, "ours")).await.unwrap().history_rows, 0);
    });
}

#[test]
fn tables_that_are_missing_or_not_pgbenchs_are_named() {
    let Some(pg) = Pg::start(&[]) else { return };
    let data = Pgbench::scale(1).unwrap();
    let server = server(&pg, "postgres");
    let load = || on_worker(data.load(&server, |_| ()));
    let check = || on_worker(data.check(&server)).unwrap_err().to_string();

    assert!(check().starts_with("table pgbench_history is missing"));
    // A stranger's table stops a load before anything is made.
    pg.psql(
        "postgres",
        "create table pgbench_tellers(precious text); insert into pgbench_tellers values ('x')",
    );
    assert!(matches!(load().unwrap_err(), Error::TableExists { table } if table == "pgbench_tellers"));
    let replacing = on_worker(data.replace(true).load(&server, |_| ())).unwrap_err().to_string();
    assert!(
        replacing.starts_with("table pgbench_tellers is not what is needed: column 1 is precious"),
        "{replacing}"
    );
    assert_eq!(pg.psql("postgres", "select precious from pgbench_tellers"), "x");
    assert_eq!(pg.psql("postgres", "select count(*) from pg_class where relname like 'pgbench%'"), "1");
    pg.psql("postgres", "drop table pgbench_tellers; create view pgbench_tellers as select 1 as tid");
    let replacing = on_worker(data.replace(true).load(&server, |_| ())).unwrap_err().to_string();
    assert!(replacing.ends_with("it is no table"), "{replacing}");
    pg.psql("postgres", "drop view pgbench_tellers");

    load().unwrap();
    on_worker(data.check(&server)).unwrap();
    assert!(matches!(load().unwrap_err(), Error::TableExists { .. }));
    on_worker(data.replace(true).load(&server, |_| ())).unwrap();

    let two = on_worker(Pgbench::scale(2).unwrap().check(&server)).unwrap_err().to_string();
    assert_eq!(two, "table pgbench_branches is not what is needed: it has 1 rows; scale 2 has 2");
    pg.psql("postgres", "delete from pgbench_accounts where aid = 100000");
    assert!(check().contains("pgbench_accounts is not what is needed: it has 99999 as highest aid"));
    pg.psql("postgres", "alter table pgbench_accounts drop constraint pgbench_accounts_pkey");
    assert!(check().contains("aid is not its primary key"));
    pg.psql("postgres", "alter table pgbench_history alter filler type text");
    assert!(check().contains("pgbench_history is not what is needed: column filler is of type text"));
    // Partitioned, as `pgbench --partitions` makes it, is as good.
    pg.run("pgbench", &["-i", "-q", "--partitions", "3", "postgres"]);
    on_worker(data.check(&server)).unwrap();
}

#[test]
fn a_load_that_is_cut_short_leaves_what_was_there() {
    let Some(pg) = Pg::start(&[]) else { return };
    let server = server(&pg, "postgres");
    on_worker(Pgbench::scale(1).unwrap().load(&server, |_| ())).unwrap();
    let before = pg.psql("postgres", CONTENT);
    let cut = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let data = Pgbench::scale(2).unwrap().replace(true);
        on_worker(data.load(&server, |p| assert!(p.rows < 150_000, "enough")))
    }));
    assert!(cut.is_err());
    // The server may take a moment to see that the connection is gone; it holds a lock on the tables until then.
    assert_eq!(pg.psql("postgres", CONTENT), before);
}
