use std::net::TcpListener;
use std::process::Command;
use std::time::Instant;

use super::*;
use crate::proc::ProcessId;

/// Starts it with what makes tests short, or says that the test is skipped.
macro_rules! start {
    ($builder:expr) => {
        match $builder.setting("fsync", "off").start_blocking() {
            Err(error) if error.is_missing() => {
                eprintln!("SKIPPED: {error}");
                return;
            }
            result => result,
        }
    };
}

fn psql(postgres: &Postgres, password: &str, sql: &str) -> Result<String, String> {
    let output = Command::new(postgres.programs().join("psql"))
        .args(["-XAtq", "-h", "127.0.0.1", "-p", &postgres.addr().port().to_string(), "-U", postgres.user()])
        .args(["-d", postgres.database(), "-c", sql])
        .env("PGPASSWORD", password)
        .env("PGCONNECT_TIMEOUT", "20")
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap().trim().to_owned();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

fn ask(postgres: &Postgres, sql: &str) -> String {
    psql(postgres, postgres.password(), sql).unwrap()
}

fn shared_memory_of(creator: u32) -> usize {
    let table = std::fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    table
        .lines()
        .filter(|line| line.split_ascii_whitespace().nth(4) == Some(creator.to_string().as_str()))
        .count()
}

#[test]
fn it_keeps_its_data_through_restarts_and_a_crash_and_leaves_nothing() {
    let postgres =
        start!(Postgres::builder().setting("max_connections", "33").setting("work_mem", "5MB")).unwrap();
    assert_eq!(ask(&postgres, "show max_connections"), "33");
    assert_eq!(ask(&postgres, "show listen_addresses"), "127.0.0.1");
    assert!(ask(&postgres, "show server_version").starts_with(postgres.version()), "{}", postgres.version());
    assert!(psql(&postgres, "wrong", "select 1").unwrap_err().contains("password authentication failed"));
    assert!(!format!("{postgres:?}").contains(postgres.password()), "not in Debug");
    assert_eq!(postgres.describe().settings["max_connections"], "33");
    assert!(!postgres.process().dir().join("password").exists());
    if rustix::process::geteuid().is_root() {
        let owner = std::os::unix::fs::MetadataExt::uid(
            &std::fs::metadata(format!("/proc/{}", postgres.pid())).unwrap(),
        );
        assert_ne!(owner, 0);
    }

    ask(&postgres, "create table marker as select 42 as answer");
    postgres.process().restart_blocking().unwrap();
    assert_eq!(ask(&postgres, "select answer from marker"), "42");
    ask(&postgres, "insert into marker values (43)");
    postgres.restart_immediate_blocking().unwrap();
    assert_eq!(ask(&postgres, "select count(*) from marker"), "2");

    let ids: Vec<_> = postgres.process().pids().into_iter().map(|pid| ProcessId::of(pid).unwrap()).collect();
    assert!(ids.len() > 3, "the children are found though each leads a group of its own");
    let killed = postgres.pid();
    assert!(shared_memory_of(killed) > 0);
    postgres.process().kill().unwrap();
    assert!(ids.iter().all(|id| !id.is_alive()));
    assert_eq!(shared_memory_of(killed), 0, "what a killed server leaves outside its directory is removed");
    postgres.process().start_blocking().unwrap();
    assert_eq!(ask(&postgres, "select count(*) from marker"), "2");

    postgres.process().pause().unwrap();
    assert!(!postgres.process().is_ready());
    postgres.process().resume().unwrap();
    assert!(postgres.process().is_ready());

    let (dir, pid) = (postgres.process().dir().to_owned(), postgres.pid());
    drop(postgres);
    assert!(!dir.exists());
    assert_eq!(shared_memory_of(pid), 0);
}

#[test]
fn an_open_session_does_not_hold_up_the_end() {
    let postgres = start!(Postgres::builder()).unwrap();
    let mut session = Command::new(postgres.programs().join("psql"))
        .args(["-X", "-c", "select pg_sleep(600)", &postgres.url_with_password()])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let sessions =
        || ask(&postgres, "select count(*) from pg_stat_activity where query like '%pg_sleep(600)%'");
    while sessions() != "2" {
        std::thread::sleep(Duration::from_millis(5));
    }
    let began = Instant::now();
    drop(postgres);
    assert!(began.elapsed() < Duration::from_secs(25), "stopped, not killed after 30 s");
    session.wait().unwrap();
}

#[test]
fn what_is_wrong_is_said_without_secrets() {
    let error = start!(Postgres::builder().setting("wombat_size", "1")).unwrap_err();
    assert!(matches!(error, Error::Exited { .. }) && error.to_string().contains("wombat_size"), "{error}");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let error = start!(Postgres::builder().port(taken.local_addr().unwrap().port())).unwrap_err();
    assert!(error.to_string().contains("Address already in use"), "{error}");
}

#[test]
fn settings_are_checked_before_anything_starts() {
    for (name, value) in [("port", "1"), ("Upper", "x"), ("", "x"), ("a", "b\nc"), ("a b", "c")] {
        let error = Postgres::builder().setting(name, value).start_blocking().unwrap_err();
        assert!(matches!(error, Error::Config { field: "setting", .. }), "{name}: {error}");
    }
    let secret = Postgres::builder().setting("primary_conninfo", "password=hunter2");
    assert!(!format!("{secret:?}").contains("hunter2"));
}
