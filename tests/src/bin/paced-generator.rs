//! A load generator as a process of its own, so that a test can stop it while its server runs on.

use clap::Parser;
use openloop::prelude::*;
use std::{process::ExitCode, time::Duration};

/// An open loop against an HTTP server; the record goes to standard output.
#[derive(Debug, Parser)]
struct Arguments {
    /// The server
    url: String,
    /// Requests per second
    rate: Rate,
    /// Milliseconds measured
    measure: u64,
    /// Milliseconds for what is in flight then
    drain: u64,
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let page = Http::get(&arguments.url)?;
    let running = Plan::new()
        .stream("s", page, Load::open(Schedule::constant(arguments.rate)?).sessions(4))
        .measure(Duration::from_millis(arguments.measure))
        .drain(Duration::from_millis(arguments.drain))
        .start();
    let mut progress = running.progress();
    std::thread::spawn(move || {
        while progress.borrow_and_update().stage != openloop::Stage::Measuring {
            std::thread::sleep(Duration::from_millis(5));
        }
        eprintln!("measuring");
    });
    println!("{}", report::json(&running.wait()?)?);
    Ok(())
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
