//! From a plan to a report, files and an exit status.

use crate::{Flags, check_interrupted, interrupt, progress};
use openloop::{Plan, Record, RunError, Status, record::Check, report};
use std::{
    fs::File,
    io::{IsTerminal, Write},
    path::Path,
    process::ExitCode,
};

/// Why there is no result.
#[derive(Debug)]
pub struct Failed {
    text: String,
    interrupted: bool,
}

impl Failed {
    /// It could not run, in words.
    pub fn new(text: impl Into<String>) -> Failed {
        Failed { text: text.into(), interrupted: false }
    }

    /// It was told to stop before anything was measured.
    pub fn interrupted() -> Failed {
        Failed { text: "interrupted before anything was measured".into(), interrupted: true }
    }
}

impl<E: std::error::Error> From<E> for Failed {
    fn from(error: E) -> Failed {
        let mut text = error.to_string();
        let mut next = error.source();
        while let Some(error) = next {
            let said = error.to_string();
            if !text.ends_with(&said) {
                text = format!("{text}: {said}");
            }
            next = error.source();
        }
        Failed::new(text)
    }
}

/// Runs a plan with progress on standard error; Ctrl-C stops it and keeps what was measured.
///
/// # Errors
/// As [`RunError`]. What was measured before is printed nevertheless.
pub fn measure(plan: Plan) -> Result<Record, Failed> {
    check_interrupted()?;
    let running = plan.start();
    interrupt::begin(running.stopper());
    let shown = progress::show(&running);
    let result = running.wait();
    drop(shown);
    interrupt::end();
    result.map_err(failed)
}

/// The same from async code.
///
/// # Errors
/// The same.
pub async fn measure_async(plan: Plan) -> Result<Record, Failed> {
    check_interrupted()?;
    let running = plan.start();
    interrupt::begin(running.stopper());
    let shown = progress::show(&running);
    let result = running.await;
    drop(shown);
    interrupt::end();
    result.map_err(failed)
}

fn failed(error: RunError) -> Failed {
    if let Some(partial) = error.partial() {
        println!("{}", report::text(partial));
    }
    match error {
        RunError::Cancelled => Failed::interrupted(),
        error => Failed::from(error),
    }
}

/// Adds to a record how the cleaning up went. Without a record what was not cleaned up is said here.
///
/// # Errors
/// As it was given.
pub fn cleaned(
    result: Result<Record, Failed>,
    cleanup: impl IntoIterator<Item = Check>,
) -> Result<Record, Failed> {
    match result {
        Ok(mut record) => {
            record.checks.extend(cleanup);
            Ok(record)
        }
        Err(failed) => {
            for check in cleanup.into_iter().filter(|check| !check.passed) {
                eprintln!("{}: {}", check.name, check.detail);
            }
            Err(failed)
        }
    }
}

/// Prints the report, writes the files that were asked for, and answers the exit status.
pub fn finish(result: Result<Record, Failed>, flags: &Flags) -> ExitCode {
    finish_with(result, flags, |_| String::new())
}

/// The same, with more to print after the report.
pub fn finish_with(
    result: Result<Record, Failed>,
    flags: &Flags,
    more: impl FnOnce(&Record) -> String,
) -> ExitCode {
    let record = match result {
        Ok(record) => record,
        Err(Failed { text, interrupted: true }) => {
            eprintln!("{text}");
            return ExitCode::from(130);
        }
        Err(Failed { text, .. }) => {
            eprintln!("error: {text}");
            return ExitCode::from(1);
        }
    };
    let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    // A closed pipe (`| head`) is no reason to lose the file.
    let _ = writeln!(std::io::stdout(), "{}", report::Text::new().colour(colour).render(&record));
    let _ = write!(std::io::stdout(), "{}", more(&record));
    if let Some(path) = &flags.json {
        match write(path, &record) {
            Ok(()) => eprintln!("record: {}", path.display()),
            Err(Failed { text, .. }) => {
                eprintln!("error: --json {}: {text}", path.display());
                return ExitCode::from(1);
            }
        }
    }
    status(&record)
}

fn status(record: &Record) -> ExitCode {
    ExitCode::from(if record.interrupted {
        130
    } else if record.verdict.status == Status::Rejected || record.checks.iter().any(|c| !c.passed) {
        2
    } else {
        0
    })
}

/// Written beside and renamed, so that a crash leaves the old file or the new one.
fn write(path: &Path, record: &Record) -> Result<(), Failed> {
    let text = report::json(record)?;
    let mut name = path.file_name().ok_or_else(|| Failed::new("not the name of a file"))?.to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let mut file = File::create(&part)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&part, path)?;
    Ok(())
}
