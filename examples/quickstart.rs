//! Five seconds of HTTP load at 500 requests a second on a server inside this process: nothing to install.

use clap::Parser;
use openloop::{prelude::*, testbed::Known};
use openloop_examples::{Failed, Flags, arguments, finish, measure};
use std::{process::ExitCode, time::Duration};

#[derive(Debug, Parser)]
#[command(about = "HTTP load at a constant rate on a server inside this process")]
struct Arguments {
    #[command(flatten)]
    flags: Flags,
    /// Requests per second, whatever the server does
    #[arg(long, default_value = "500/s")]
    rate: Rate,
}

fn run(arguments: &Arguments) -> Result<Record, Failed> {
    let flags = &arguments.flags;
    flags.begin()?;
    // Answers after 2 ms, and every hundredth time only after 20.
    let server = Known::http()
        .body("hello")
        .delay_by(|n| Duration::from_millis(if n % 100 == 99 { 20 } else { 2 }))
        .start()?;

    let page = Http::get(&server.url())?.expect_status(200)?.timeout(Duration::from_secs(2))?;
    let plan = Plan::new()
        .experiment("quickstart")
        .stream("web", page, Load::open(Schedule::constant(arguments.rate)?).sessions(50))
        .warmup(flags.warmup(1))
        .measure(flags.seconds(5))
        .rounds(flags.rounds(1));
    measure(plan)
}

fn main() -> ExitCode {
    let arguments: Arguments = arguments();
    finish(run(&arguments), &arguments.flags)
}
