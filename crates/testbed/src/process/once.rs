//! A program that prepares a server and ends by itself, such as `initdb`: held to the same rules as a server.

use std::time::{Duration, Instant};

use super::inner::exited;
use super::{Spec, Tree, gate, log};
use crate::Error;
use crate::lease::ServerDir;

/// Runs it to its end, for `spec.ready_within` at most.
///
/// # Errors
/// [`Error::Exited`] if it does not succeed, [`Error::NotReady`] if it takes too long and had to be killed.
pub(crate) fn run_once(spec: &Spec, dir: &ServerDir) -> Result<(), Error> {
    let mut running = gate::spawn(spec, dir)?;
    let began = Instant::now();
    let result = loop {
        let log = || log::tail(&gate::log_path(dir), running.log_from, &spec.secrets);
        match exited(&running) {
            Ok(None) if began.elapsed() < spec.ready_within => std::thread::sleep(Duration::from_millis(5)),
            Ok(None) => {
                let (name, last) = (spec.name.clone(), "it still works".to_owned());
                break Err(Error::NotReady { name, after: began.elapsed(), last, log: log() });
            }
            Ok(Some(status)) if status.success() => break Ok(()),
            Ok(Some(status)) => {
                break Err(Error::Exited { name: spec.name.clone(), status: status.to_string(), log: log() });
            }
            Err(error) => break Err(error),
        }
    };
    let what = || Error::io(format!("ending {}", spec.name));
    // Also what it may have left in its group.
    Tree::new(running.id, dir.path()).kill().map_err(what())?;
    running.child.wait().map_err(what())?;
    result
}
