//! What happens, on standard error: a line that changes on a terminal, a line for each level elsewhere.

use openloop::{Progress, Running, Stage};
use std::{
    io::{IsTerminal, Write},
    sync::mpsc,
    time::Duration,
};

/// Shows the progress of a run until the returned value is dropped.
pub(crate) fn show(running: &Running) -> Shown {
    let mut progress = running.progress();
    let (stop, stopped) = mpsc::channel::<()>();
    let terminal = std::io::stderr().is_terminal();
    let thread = std::thread::spawn(move || {
        let mut last = String::new();
        while let Err(mpsc::RecvTimeoutError::Timeout) = stopped.recv_timeout(Duration::from_millis(200)) {
            let now = progress.borrow_and_update().clone();
            let text = if terminal { line(&now) } else { heading(&now) };
            if text != last && !text.is_empty() {
                let end = if terminal { "" } else { "\n" };
                let _ = write!(std::io::stderr(), "{}{text}{end}", if terminal { "\r\x1b[K" } else { "" });
                last = text;
            }
        }
        if terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    });
    Shown { stop: Some(stop), thread: Some(thread) }
}

pub(crate) struct Shown {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn heading(p: &Progress) -> String {
    if p.stage != Stage::Measuring {
        return String::new();
    }
    let level = place(p);
    let length = p.length.map_or(String::new(), |l| format!(" for {} s", l.as_secs_f64()));
    format!("round {} of {}{level}: measuring{length}", p.round, p.rounds)
}

/// Phase and level, where there are several.
fn place(p: &Progress) -> String {
    let mut text = String::new();
    if !matches!(p.phase.as_str(), "" | "measure") {
        text += &format!(", {}", p.phase);
    }
    if !p.level.is_empty() {
        text += &format!(", level {}", p.level);
    }
    text
}

fn line(p: &Progress) -> String {
    let level = place(p);
    let stage = match p.stage {
        Stage::Connecting => "connecting",
        Stage::WarmingUp => "warming up",
        Stage::Measuring => "measuring",
        Stage::Draining => "waiting for what is in flight",
        _ => return String::new(),
    };
    let mut text = format!("round {} of {}{level}: {stage}", p.round, p.rounds);
    if p.stage == Stage::Measuring
        && let Some(length) = p.length
    {
        text += &format!(" {:.0}/{:.0} s", p.elapsed.as_secs_f64(), length.as_secs_f64());
        for s in &p.streams {
            let p95 = s.p95.map_or("–".into(), |d| format!("{:.2} ms", d.as_secs_f64() * 1e3));
            text += &format!("  {}: {:.0}/s, P95 {p95}, {} failed", s.name, s.succeeded_per_s, s.failed);
        }
    }
    text
}
