//! A PostgreSQL of the test's own: on a free port of 127.0.0.1, gone with the test.

use crate::run::on_worker;
use pg_load::{Pgbench, Server};
use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::{Path, PathBuf},
    process::Command,
};

/// The password of the superuser that tests log in as; it must appear nowhere.
pub(crate) const CANARY: &str = "canary-7f3a";

/// The same as the server keeps it, for one iteration instead of 4096: without optimisation those take the client a tenth
/// of a second.
const VERIFIER: &str = "SCRAM-SHA-256$1:AAECAwQFBgcICQoLDA0ODw==$Fy07YdGpH61//WkzpLUwhpNWMPZLLizr5SWWEdbhJIk=:uil77ZtfSOrmK3zxclIb9RY0Va5UduoUomz4AwMz0ik=";

pub(crate) struct Pg {
    server: testbed::Postgres,
    pub(crate) port: u16,
    dir: tempfile::TempDir,
}

impl Pg {
    /// `None`, with a word on stderr, when there is no PostgreSQL here.
    pub(crate) fn start(settings: &[(&str, &str)]) -> Option<Pg> {
        // Another version than the newest installed: the directory with its programs.
        let programs = std::env::var_os("PG_LOAD_TEST_PROGRAMS");
        if programs.is_none() && !testbed::Postgres::is_installed() {
            eprintln!("SKIPPED: no PostgreSQL server is installed");
            return None;
        }
        // For files of the test that the server has to read, and for its socket and log.
        let dir = tempfile::Builder::new().prefix("pg-load-test-").tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o711)).unwrap();
        let own = dir.path().join("own");
        fs::create_dir(&own).unwrap();
        give(&own);
        let own = own.to_str().unwrap();
        let mut builder = testbed::Postgres::builder()
            .setting("fsync", "off")
            .setting("shared_buffers", "32MB")
            .setting("unix_socket_directories", own)
            .setting("logging_collector", "on")
            .setting("log_directory", own)
            .setting("log_filename", "log")
            .setting("log_rotation_age", "0")
            .setting("log_rotation_size", "0");
        if let Some(programs) = programs {
            builder = builder.programs(programs);
        }
        for (name, value) in settings {
            builder = builder.setting(*name, *value);
        }
        let server = builder.start_blocking().expect("PostgreSQL starts");
        let pg = Pg { port: server.addr().port(), server, dir };
        let sql = format!("create role tester superuser login password '{VERIFIER}'");
        let mut psql = pg.program("psql");
        psql.env("PGUSER", pg.server.user()).env("PGPASSWORD", pg.server.password());
        let made = psql.args(["-X", "-q", "-d", "postgres", "-c", &sql]).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Some(pg)
    }

    /// A directory for files of the test.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Where the server's unix socket is.
    pub(crate) fn socket_dir(&self) -> PathBuf {
        self.dir.path().join("own")
    }

    /// What the server has written into its log.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.socket_dir().join("log")).unwrap()
    }

    /// A connection URL for this database.
    pub(crate) fn url(&self, database: &str) -> String {
        format!("postgres://tester:{CANARY}@127.0.0.1:{}/{database}", self.port)
    }

    pub(crate) fn server(&self) -> Server {
        Server::parse(&self.url("postgres")).unwrap()
    }

    /// The server's process.
    pub(crate) fn process(&self) -> &testbed::LocalProcess {
        self.server.process()
    }

    /// Stops the server; clients are cut off.
    pub(crate) fn down(&self) {
        self.process().stop_blocking().unwrap();
    }

    /// Starts it again and waits until it answers.
    pub(crate) fn up(&self) {
        self.process().start_blocking().unwrap();
    }

    /// Restarts it with a checkpoint, or (`crash`) without.
    pub(crate) fn restart(&self, crash: bool) {
        if crash {
            self.server.restart_immediate_blocking().unwrap();
        } else {
            self.process().restart_blocking().unwrap();
        }
    }

    /// A program of PostgreSQL's, with what it needs to connect.
    pub(crate) fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.server.programs().join(name));
        command
            .current_dir("/")
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("PGHOST", "127.0.0.1")
            .env("PGPORT", self.port.to_string())
            .env("PGUSER", "tester")
            .env("PGPASSWORD", CANARY)
            .env("LC_ALL", "C");
        command
    }

    /// Runs a program to its good end and gives what it wrote.
    pub(crate) fn run(&self, name: &str, args: &[&str]) -> String {
        let done = self.program(name).args(args).output().unwrap();
        let error = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{name} {args:?}: {error}");
        String::from_utf8(done.stdout).unwrap()
    }

    /// One value by psql, which shares no code with what is tested.
    pub(crate) fn psql(&self, database: &str, sql: &str) -> String {
        let args = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", sql];
        self.run("psql", &args).trim().to_owned()
    }

    /// The log that pgbench wrote into the test's directory under this prefix, of its first thread.
    pub(crate) fn log_of_pgbench(&self, prefix: &str) -> Vec<Logged> {
        let mut files = fs::read_dir(self.dir()).unwrap().flatten();
        let file = files.find(|f| f.file_name().to_string_lossy().starts_with(prefix)).unwrap();
        fs::read_to_string(file.path()).unwrap().lines().map(Logged::parse).collect()
    }

    /// Sessions of clients in this database that are not psql's.
    pub(crate) fn sessions(&self, database: &str) -> u32 {
        let sql = format!(
            "select count(*) from pg_stat_activity where datname = '{database}' and backend_type = 'client backend' \
             and application_name <> 'psql'"
        );
        self.psql("postgres", &sql).parse().unwrap()
    }
}

/// A line of pgbench's log (`-l`) of a run with `-R`, in µs.
#[derive(Debug)]
pub(crate) struct Logged {
    /// `None`: skipped.
    pub(crate) latency: Option<f64>,
    /// When it was written down, since 1970.
    pub(crate) at: f64,
    pub(crate) lag: f64,
}

impl Logged {
    fn parse(line: &str) -> Logged {
        // client, transaction, latency, script, seconds, microseconds, lag
        let fields: Vec<&str> = line.split(' ').collect();
        let number = |i: usize| fields[i].parse::<f64>().unwrap();
        let latency = (fields[2] != "skipped").then(|| number(2));
        Logged { latency, at: number(4) * 1e6 + number(5), lag: number(6) }
    }
}

/// A server with pgbench's tables at this scale.
pub(crate) fn loaded(settings: &[(&str, &str)], scale: u32) -> Option<(Pg, Server, Pgbench)> {
    let pg = Pg::start(settings)?;
    let server = pg.server();
    let data = Pgbench::scale(scale).unwrap();
    on_worker(data.load(&server, |_| ())).unwrap();
    Some((pg, server, data))
}

/// Whom servers run as when we are root.
pub(crate) fn server_user() -> Option<(u32, u32)> {
    if fs::metadata("/proc/self").is_ok_and(|m| m.uid() != 0) {
        return None;
    }
    let passwd = fs::read_to_string("/etc/passwd").unwrap();
    let ids = |name: &str| {
        let line = passwd.lines().find(|l| l.split(':').next() == Some(name))?;
        let mut ids = line.split(':').skip(2).map(|f| f.parse().unwrap());
        Some((ids.next()?, ids.next()?))
    };
    Some(ids("postgres").or_else(|| ids("nobody")).unwrap())
}

/// Makes the servers' user the owner of a file.
pub(crate) fn give(file: &Path) {
    if let Some((uid, gid)) = server_user() {
        chown(file, Some(uid), Some(gid)).unwrap();
    }
}
