//! Starting a child process that is written down before its program runs.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::Spec;
use super::inner::Running;
use crate::Error;
use crate::lease::{Made, ServerDir};
use crate::proc::ProcessId;

/// Waits for a line on standard input and then becomes the server, with the same process id and start time. If we
/// die before that line is written, the pipe closes, `read` fails, and nothing is left.
const GATE: &str = r#"umask 077; read -r _ && exec "$@" </dev/null"#;

pub(super) fn log_path(dir: &ServerDir) -> PathBuf {
    dir.path().join("server.log")
}

pub(super) fn spawn(spec: &Spec, dir: &ServerDir) -> Result<Running, Error> {
    for path in &spec.stale {
        // Unlinks what stands there, were it a link of the server's user; it does not follow it.
        let _ = std::fs::remove_file(path);
    }
    let path = log_path(dir);
    let log = OpenOptions::new().append(true).create(true).mode(0o600).open(&path);
    let log = log.map_err(Error::io(format!("opening {}", path.display())))?;
    let log_from = log.metadata().map_or(0, |meta| meta.len());
    let also_log = log.try_clone().map_err(Error::io("preparing the server's log"))?;

    let mut command = Command::new("/bin/sh");
    command.args(["-c", GATE, "gate"]).arg(&spec.program).args(&spec.args);
    command.current_dir(dir.data()).process_group(0);
    command.stdin(Stdio::piped()).stdout(log).stderr(also_log);
    // What our environment holds, tokens perhaps, is not the server's business; and its messages have to be English
    // where we look for one.
    command.env_clear().env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    command.env("HOME", dir.data()).env("LC_ALL", "C").env("TZ", "UTC").envs(spec.envs.iter().cloned());
    if let Some(user) = &spec.user {
        command.uid(user.uid).gid(user.gid);
    }
    let mut child = command.spawn().map_err(|source| Error::Io { what: spawning(spec, dir), source })?;
    let mut open = || -> Result<ProcessId, Error> {
        let id = ProcessId::of(child.id()).map_err(Error::io(format!("looking at {}", spec.name)))?;
        dir.lease().record(&Made::Process { name: spec.name.clone(), id, stop: spec.stop })?;
        if let Some(mut gate) = child.stdin.take() {
            // Should the child be dead already, this fails, and its exit status says more than the error here.
            let _ = gate.write_all(b"\n");
        }
        Ok(id)
    };
    match open() {
        Ok(id) => Ok(Running { child, id, log_from }),
        Err(error) => {
            // The gate is closed with its pipe; nothing but the shell has run.
            drop(child.stdin.take());
            let _ = child.wait();
            Err(error)
        }
    }
}

fn spawning(spec: &Spec, dir: &ServerDir) -> String {
    let Some(user) = &spec.user else { return format!("starting {}", spec.name) };
    let barred = user.barred_at(&dir.data()).map_or_else(String::new, |closed| {
        format!(
            " ({} is closed to that user; name another directory in OPENLOOP_STATE_DIR)",
            closed.display()
        )
    });
    format!("starting {} as {}{barred}", spec.name, user.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_runs_after_the_word_and_not_at_all_without_it() {
        let dir = tempfile::tempdir().unwrap();
        let run = |file: &str, word: &[u8]| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", GATE, "gate", "touch", file]).current_dir(dir.path()).stdin(Stdio::piped());
            let mut child = command.spawn().unwrap();
            // Closed afterwards, as by our death.
            child.stdin.take().unwrap().write_all(word).unwrap();
            (child.wait().unwrap().success(), dir.path().join(file).exists())
        };
        assert_eq!(run("told", b"\n"), (true, true));
        assert_eq!(run("not told", b""), (false, false));
        assert_eq!(run("half told", b"x"), (false, false));
    }
}
