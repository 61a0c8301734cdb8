//! A PostgreSQL of the test's own: on a free port of 127.0.0.1, in a temporary directory, gone with the test.

use std::{
    fs,
    net::TcpListener,
    os::unix::{fs::chown, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// The password of the superuser; it must appear nowhere.
pub(crate) const CANARY: &str = "canary-7f3a";

/// The same as the server keeps it, for one iteration instead of 4096: without optimisation those take the client a tenth
/// of a second.
const VERIFIER: &str = "SCRAM-SHA-256$1:AAECAwQFBgcICQoLDA0ODw==$Fy07YdGpH61//WkzpLUwhpNWMPZLLizr5SWWEdbhJIk=:uil77ZtfSOrmK3zxclIb9RY0Va5UduoUomz4AwMz0ik=";

pub(crate) struct Pg {
    bin: PathBuf,
    user: Option<(u32, u32)>,
    /// Holds the server: dropping its stdin ends it, also when this process is killed.
    keeper: Option<Child>,
    pub(crate) port: u16,
    settings: Vec<(String, String)>,
    dir: tempfile::TempDir,
}

impl Pg {
    /// `None`, with a word on stderr, when there is no PostgreSQL here.
    pub(crate) fn start(settings: &[(&str, &str)]) -> Option<Pg> {
        Pg::start_with(settings, |_| ())
    }

    /// The same with something done after the cluster was made and before it is started.
    pub(crate) fn start_with(settings: &[(&str, &str)], prepare: impl FnOnce(&Pg)) -> Option<Pg> {
        let Some(bin) = newest() else {
            eprintln!("SKIPPED: no PostgreSQL server found in /usr/lib/postgresql or PATH");
            return None;
        };
        let dir = tempfile::Builder::new().prefix("pg-load-test-").tempdir().unwrap();
        let user = is_root().then(|| account("postgres").or_else(|| account("nobody")).unwrap());
        if let Some((uid, gid)) = user {
            chown(dir.path(), Some(uid), Some(gid)).unwrap();
        }
        let settings = settings.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        let mut pg = Pg { bin, user, keeper: None, port: free_port(), settings, dir };
        let password = pg.dir.path().join("password");
        fs::write(&password, CANARY).unwrap();
        pg.own(&password);
        let done = pg
            .program("initdb")
            .args(["--no-sync", "--username=tester", "--auth=scram-sha-256", "--locale=C", "--encoding=UTF8"])
            .arg("-D")
            .arg(pg.data())
            .arg("--pwfile")
            .arg(&password)
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        fs::remove_file(password).unwrap();
        prepare(&pg);
        pg.up();
        pg.psql("postgres", &format!("alter role tester password '{VERIFIER}'"));
        Some(pg)
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Whom the server runs as, when that is not us.
    pub(crate) fn user(&self) -> Option<(u32, u32)> {
        self.user
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// A connection URL for this database.
    pub(crate) fn url(&self, database: &str) -> String {
        format!("postgres://tester:{CANARY}@127.0.0.1:{}/{database}", self.port)
    }

    pub(crate) fn server(&self) -> pg_load::Server {
        pg_load::Server::parse(&self.url("postgres")).unwrap()
    }

    /// A program of PostgreSQL's, as the server's user and with what it needs to connect.
    pub(crate) fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.bin.join(name));
        if let Some((uid, gid)) = self.user {
            command.uid(uid).gid(gid);
        }
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
        self.run("psql", &["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", sql])
            .trim()
            .to_owned()
    }

    /// Makes the server's user the owner of a file.
    pub(crate) fn own(&self, file: &Path) {
        if let Some((uid, gid)) = self.user {
            chown(file, Some(uid), Some(gid)).unwrap();
        }
    }

    /// Starts the server and waits until it answers.
    pub(crate) fn up(&mut self) {
        let log = fs::File::create(self.dir.path().join("log")).unwrap();
        let mut settings = vec![
            ("listen_addresses".to_owned(), "127.0.0.1".to_owned()),
            ("port".into(), self.port.to_string()),
            ("unix_socket_directories".into(), self.dir.path().display().to_string()),
            ("fsync".into(), "off".into()),
            ("shared_buffers".into(), "32MB".into()),
        ];
        settings.extend(self.settings.iter().cloned());
        // A shell between us and the server: it ends the server when our end of its stdin closes.
        let script = "\"$@\" </dev/null & server=$!; cat >/dev/null; kill -QUIT $server; wait $server";
        let mut keeper = Command::new("/bin/sh");
        if let Some((uid, gid)) = self.user {
            keeper.uid(uid).gid(gid);
        }
        keeper.current_dir("/").arg("-c").arg(script).arg("keeper").arg(self.bin.join("postgres"));
        keeper.arg("-D").arg(self.data());
        for (name, value) in &settings {
            keeper.arg("-c").arg(format!("{name}={value}"));
        }
        self.keeper =
            Some(keeper.stdin(Stdio::piped()).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap());
        let end = Instant::now() + Duration::from_secs(60);
        while !self.program("pg_isready").stdout(Stdio::null()).status().unwrap().success() {
            let log = || fs::read_to_string(self.dir.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < end, "the server did not start:\n{}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Stops the server: `"fast"`, `"immediate"`.
    pub(crate) fn down(&mut self, mode: &str) {
        let data = self.data();
        self.run("pg_ctl", &["stop", "-w", "-D", data.to_str().unwrap(), "-m", mode]);
        self.keeper.take().unwrap().wait_with_output().unwrap();
    }

    /// Sends a signal to the postmaster and to all of its processes, or to the postmaster alone.
    pub(crate) fn signal(&self, signal: &str, whole_family: bool) {
        let pidfile = fs::read_to_string(self.data().join("postmaster.pid")).unwrap();
        let postmaster = pidfile.lines().next().unwrap().to_owned();
        let mut pids = vec![postmaster.clone()];
        if whole_family {
            let children =
                fs::read_to_string(format!("/proc/{postmaster}/task/{postmaster}/children")).unwrap();
            pids.extend(children.split_whitespace().map(str::to_owned));
        }
        assert!(Command::new("/bin/kill").arg(format!("-{signal}")).args(pids).status().unwrap().success());
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

impl Drop for Pg {
    fn drop(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            let _ = keeper.wait();
        }
    }
}

fn newest() -> Option<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|e| Some((e.file_name().to_str()?.parse().ok()?, e.path().join("bin"))))
        .collect();
    found.sort();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let dirs = found.into_iter().rev().map(|(_, dir)| dir).chain(std::env::split_paths(&paths));
    dirs.into_iter().find(|dir| dir.join("initdb").is_file() && dir.join("postgres").is_file())
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0)
}

fn account(name: &str) -> Option<(u32, u32)> {
    let passwd = fs::read_to_string("/etc/passwd").unwrap();
    let line = passwd.lines().find(|l| l.split(':').next() == Some(name))?;
    let mut ids = line.split(':').skip(2).map(|f| f.parse().unwrap());
    Some((ids.next()?, ids.next()?))
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
