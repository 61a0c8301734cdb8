//! The flags that all examples have.

use crate::{Failed, interrupt};
use std::{path::PathBuf, time::Duration};

/// Flags that mean the same in every example.
#[derive(Debug, Clone, clap::Args)]
pub struct Flags {
    /// Seconds measured at each level (default: as published)
    #[arg(long, value_name = "N", value_parser = seconds)]
    seconds: Option<Duration>,
    /// Seconds of warm-up before each level, not measured
    #[arg(long, value_name = "N", value_parser = seconds_or_none)]
    warmup: Option<Duration>,
    /// Rounds; figures are medians over them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: Option<u32>,
    /// A smoke test in a few seconds: one short round
    #[arg(long)]
    pub quick: bool,
    /// Write the record to FILE
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a page to FILE
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Where the servers run
    #[arg(long, value_name = "WHERE", default_value = "auto")]
    stack: Place,
    /// Allow targets that are not on this machine
    #[arg(long)]
    pub allow_remote: bool,
}

/// Where the servers of an example run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Place {
    /// The best that is there
    Auto,
    /// Local processes
    Process,
    /// Containers
    Docker,
}

/// Reads the arguments; a bad one is named, and the program ends with status 1 (could not run).
pub fn arguments<A: clap::Parser>() -> A {
    A::try_parse().unwrap_or_else(|error| {
        let _ = error.print();
        std::process::exit(i32::from(error.use_stderr()))
    })
}

impl Flags {
    /// Begins an example: what the crates have to say goes to standard error (`RUST_LOG` as usual, warnings unless told
    /// otherwise), what this version cannot do is refused in words, and from now on Ctrl-C ends in good order.
    ///
    /// # Errors
    /// Names the flag.
    pub fn begin(&self) -> Result<(), Failed> {
        let filter = tracing_subscriber::EnvFilter::try_from_default_env();
        let filter = filter.unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
        // A second example in one process keeps the first one's.
        let _ = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .with_ansi(false)
            .without_time()
            .try_init();
        if self.html.is_some() {
            return Err(Failed::new(
                "--html: pages are not written yet; use --json FILE, or read the text report",
            ));
        }
        if self.stack == Place::Docker {
            return Err(Failed::new(
                "--stack docker: containers are not started yet; use --stack process, or start them yourself with \
                 their ports on 127.0.0.1 and give the servers by URL (--help lists the flags)",
            ));
        }
        interrupt::listen();
        Ok(())
    }

    /// How long each level is measured.
    pub fn seconds(&self, published: u64) -> Duration {
        let quick = Duration::from_secs(1);
        self.seconds.unwrap_or(if self.quick { quick } else { Duration::from_secs(published) })
    }

    /// How long each level is warmed up.
    pub fn warmup(&self, default: u64) -> Duration {
        let quick = Duration::from_millis(300);
        self.warmup.unwrap_or(if self.quick { quick } else { Duration::from_secs(default) })
    }

    /// How many rounds.
    pub fn rounds(&self, published: u32) -> u32 {
        self.rounds.unwrap_or(if self.quick { 1 } else { published })
    }
}

fn seconds_or_none(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds, such as 15 or 0.5".to_string())?;
    if !(0.0..=86_400.0 * 31.0).contains(&seconds) {
        return Err("between 0 and 31 days".into());
    }
    Ok(Duration::from_secs_f64(seconds))
}

fn seconds(text: &str) -> Result<Duration, String> {
    match seconds_or_none(text)? {
        d if d < Duration::from_millis(1) => Err("above zero".into()),
        d => Ok(d),
    }
}
