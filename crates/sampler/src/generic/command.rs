//! A program that prints numbers.

use super::values::{Values, values};
use load_core::{Readings, Source, SourceError};
use std::{ffi::OsString, fmt, process::Stdio, time::Duration};
use tokio::{io::AsyncReadExt, process::Command};

/// More of its output is not read.
const LARGEST: u64 = 1 << 20;

/// Numbers from the output of a program, such as `smartctl` or `sensors`. Run every minute unless told otherwise, and
/// killed when it takes longer than 10 s.
///
/// Its arguments, its output and what it writes to stderr are in no record and no error: they may hold secrets.
///
/// ```
/// let wear = sampler::FromCommand::new("smartctl")
///     .args(["-A", "-j", "/dev/nvme0"])
///     .value("disk.wear", "1", |json| {
///         let after = json.split("\"percentage_used\":").nth(1)?;
///         Some(after.split([',', '}']).next()?.trim().parse::<f64>().ok()? / 100.0)
///     });
/// ```
pub struct FromCommand {
    program: OsString,
    args: Vec<OsString>,
    values: Values,
    every: Duration,
    limit: Duration,
}

values!(FromCommand);

impl fmt::Debug for FromCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromCommand")
            .field("program", &self.program)
            .field("values", &self.values)
            .finish_non_exhaustive()
    }
}

impl FromCommand {
    /// A program, looked for on the `PATH`; no shell is involved.
    pub fn new(program: impl Into<OsString>) -> FromCommand {
        FromCommand {
            program: program.into(),
            args: Vec::new(),
            values: Values::default(),
            every: Duration::from_secs(60),
            limit: Duration::from_secs(10),
        }
    }

    /// Its arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> FromCommand {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// How long it may take before it is killed.
    pub fn limit(mut self, limit: Duration) -> FromCommand {
        self.limit = limit;
        self
    }

    async fn output(&self) -> Result<String, SourceError> {
        let program = self.origin();
        let mut child = Command::new(&self.program)
            .args(&self.args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // Also when the reading is given up from outside.
            .kill_on_drop(true)
            .spawn()
            .map_err(|e| {
                let why = format!("{program}: {e}");
                match e.kind() {
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::PermissionDenied => {
                        SourceError::Unavailable(why)
                    }
                    _ => SourceError::Failed(why),
                }
            })?;
        let failed = |e: std::io::Error| SourceError::Failed(format!("{program}: {e}"));
        let mut bytes = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            stdout.take(LARGEST).read_to_end(&mut bytes).await.map_err(failed)?;
        }
        let status = child.wait().await.map_err(failed)?;
        if !status.success() {
            return Err(SourceError::Failed(format!("{program}: {status}")));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Source for FromCommand {
    fn origin(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    fn interval(&self) -> Duration {
        self.every
    }

    async fn read(&mut self, readings: &mut Readings) -> Result<(), SourceError> {
        let text = match tokio::time::timeout(self.limit, self.output()).await {
            Ok(text) => text?,
            Err(_) => {
                let why = format!("{}: took longer than {:?} and was killed", self.origin(), self.limit);
                return Err(SourceError::Failed(why));
            }
        };
        self.values.take(crate::probe::now(), &text, &self.program.to_string_lossy(), readings)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::testing::value;
    use std::time::Instant;

    async fn read(mut source: FromCommand) -> (Readings, Result<(), SourceError>) {
        let mut readings = Readings::new();
        let result = source.read(&mut readings).await;
        (readings, result)
    }

    fn sh(script: &str) -> FromCommand {
        FromCommand::new("sh").args(["-c", script]).number("x", "1")
    }

    #[tokio::test]
    async fn the_number_that_it_prints() {
        let (readings, result) = read(sh("echo 42.5")).await;
        result.unwrap();
        assert_eq!(value(&readings, "x"), Some(42.5));
    }

    #[tokio::test]
    async fn what_fails_says_neither_arguments_nor_output() {
        for script in ["echo secret", "echo 1; echo secret >&2; exit 3"] {
            let (readings, result) = read(sh(script)).await;
            let text = format!("{result:?} {:?}", sh(script));
            assert!(readings.values().is_empty() && result.is_err() && !text.contains("secret"), "{text}");
        }
        let missing = FromCommand::new("/no/such/program").number("x", "1");
        assert!(matches!(read(missing).await.1, Err(SourceError::Unavailable(_))));
    }

    #[tokio::test]
    async fn one_that_prints_without_end_is_cut_off() {
        let from = Instant::now();
        let (readings, result) = read(sh("exec yes 1")).await;
        assert!(readings.values().is_empty() && matches!(result, Err(SourceError::Failed(_))), "{result:?}");
        assert!(from.elapsed() < Duration::from_secs(60));
    }

    #[tokio::test]
    async fn one_that_hangs_is_killed_in_time() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("pid");
        let from = Instant::now();
        let script = format!("echo $$ > {}; exec sleep 600", file.display());
        let (_, result) = read(sh(&script).limit(Duration::from_millis(500))).await;
        assert!(matches!(result, Err(SourceError::Failed(why)) if why.contains("killed")));
        assert!(from.elapsed() < Duration::from_secs(60));
        // Nothing is left: the shell may not even have come to writing its number.
        if let Ok(pid) = std::fs::read_to_string(&file) {
            let stat = format!("/proc/{}/stat", pid.trim());
            while std::fs::read_to_string(&stat).is_ok_and(|s| !s.contains(") Z ")) {
                assert!(from.elapsed() < Duration::from_secs(60), "it still runs");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
}
