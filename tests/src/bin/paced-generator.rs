//! A load generator as a process of its own, so that a test can stop it while its server runs on.

use clap::Parser;
use openloop::{Stage, http::HttpSession, prelude::*};
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
    /// Milliseconds that a session takes to connect; it may take as long again
    #[arg(default_value_t = 0)]
    connect: u64,
}

/// Sessions that need some time to connect.
struct Slow {
    page: Http,
    connect: Duration,
}

impl Workload for Slow {
    type Session = HttpSession;

    async fn connect(&self, id: &SessionId, op: &mut Op) -> Result<HttpSession, Failure> {
        // Here, and not by the run's stage: that is what a run begins with, before anything connects.
        eprintln!("connecting");
        tokio::time::sleep(self.connect).await;
        self.page.connect(id, op).await
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let connect = Duration::from_millis(arguments.connect);
    let slow = Slow { page: Http::get(&arguments.url)?, connect };
    let mut plan = Plan::new();
    if !connect.is_zero() {
        plan = plan.connect_timeout(2 * connect);
    }
    let running = plan
        .stream("s", slow, Load::open(Schedule::constant(arguments.rate)?).sessions(4))
        .measure(Duration::from_millis(arguments.measure))
        .drain(Duration::from_millis(arguments.drain))
        .start();
    let mut progress = running.progress();
    std::thread::spawn(move || {
        while progress.borrow_and_update().stage != Stage::Measuring {
            std::thread::sleep(Duration::from_millis(1));
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
