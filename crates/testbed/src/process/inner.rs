//! Starting and stopping, one at a time.

use std::process::{Child, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Spec, StopSignal, Tree, gate, log};
use crate::Error;
use crate::lease::ServerDir;
use crate::proc::ProcessId;

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) spec: Spec,
    /// Held while the process is started or stopped.
    operation: Mutex<()>,
    /// Held for moments only.
    state: Mutex<State>,
    /// The last field: removed when the process is gone.
    pub(super) dir: ServerDir,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) running: Option<Running>,
    /// The owner has dropped it: nothing is started any more.
    pub(super) closed: bool,
}

#[derive(Debug)]
pub(super) struct Running {
    pub(super) child: Child,
    pub(super) id: ProcessId,
    /// Where in the log this start begins.
    pub(super) log_from: u64,
}

impl Inner {
    pub(super) fn new(spec: Spec, dir: ServerDir) -> Self {
        Self { spec, operation: Mutex::new(()), state: Mutex::default(), dir }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn id(&self) -> Option<ProcessId> {
        self.lock().running.as_ref().map(|running| running.id)
    }

    pub(super) fn tree(&self) -> Option<Tree> {
        self.id().map(|id| Tree::new(id, self.dir.path()))
    }

    pub(super) fn log_tail(&self, from: u64) -> String {
        log::tail(&gate::log_path(&self.dir), from, &self.spec.secrets)
    }

    pub(super) fn log_length(&self) -> u64 {
        std::fs::metadata(gate::log_path(&self.dir)).map_or(0, |meta| meta.len())
    }

    pub(super) fn start(&self) -> Result<Duration, Error> {
        let _operation = self.operation.lock().unwrap_or_else(PoisonError::into_inner);
        self.start_held(true)
    }

    pub(super) fn stop(&self, signal: StopSignal) -> Result<(), Error> {
        let _operation = self.operation.lock().unwrap_or_else(PoisonError::into_inner);
        self.stop_held(signal)
    }

    pub(super) fn restart(&self, signal: StopSignal, awaited: bool) -> Result<Duration, Error> {
        let _operation = self.operation.lock().unwrap_or_else(PoisonError::into_inner);
        let began = Instant::now();
        self.stop_held(signal)?;
        self.start_held(awaited)?;
        Ok(began.elapsed())
    }

    fn start_held(&self, awaited: bool) -> Result<Duration, Error> {
        let refuse = |why: &str| Error::NotStartable { name: self.spec.name.clone(), why: why.to_owned() };
        if self.id().is_some_and(|id| id.is_alive()) {
            return Err(refuse("it runs already"));
        }
        // What an end of its own, or a crash, may have left of its children.
        self.stop_held(self.spec.stop)?;
        let began = Instant::now();
        {
            let mut state = self.lock();
            if state.closed {
                return Err(refuse("it has been dropped"));
            }
            state.running = Some(gate::spawn(&self.spec, &self.dir)?);
        }
        if !awaited {
            return Ok(began.elapsed());
        }
        match self.wait_ready(began) {
            Ok(()) => Ok(began.elapsed()),
            Err(error) => {
                self.stop_held(self.spec.stop)?;
                Err(error)
            }
        }
    }

    fn wait_ready(&self, began: Instant) -> Result<(), Error> {
        let name = || self.spec.name.clone();
        let mut pause = Duration::from_millis(1);
        loop {
            let pid = self.id().map_or(0, |id| id.pid);
            let answer = self.spec.ready.ask(pid);
            {
                let mut state = self.lock();
                let Some(running) = state.running.as_mut() else {
                    return Err(Error::NotRunning { name: name() });
                };
                let log_from = running.log_from;
                // Looked at after the answer: what answered may be another server on the port that ours did not get.
                if let Some(status) = exited(running)? {
                    drop(state);
                    return Err(Error::Exited {
                        name: name(),
                        status: status.to_string(),
                        log: self.log_tail(log_from),
                    });
                }
                let Err(last) = answer else { return Ok(()) };
                let after = began.elapsed();
                if state.closed || after >= self.spec.ready_within {
                    drop(state);
                    let (last, log) = (last.to_string(), self.log_tail(log_from));
                    return Err(Error::NotReady { name: name(), after, last, log });
                }
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    fn stop_held(&self, signal: StopSignal) -> Result<(), Error> {
        let Some(tree) = self.tree() else { return Ok(()) };
        let what = || Error::io(format!("stopping {}", self.spec.name));
        let how = tree.stop(signal, self.spec.stop_within).map_err(what())?;
        if how == Some(crate::HowStopped::Killed) {
            tracing::warn!(
                name = self.spec.name,
                "did not end within {:?} and was killed",
                self.spec.stop_within
            );
        }
        self.reap().map_err(what())
    }

    pub(super) fn disturb(&self, what: &str, how: fn(&Tree) -> std::io::Result<bool>) -> Result<(), Error> {
        let tree = self.tree().ok_or_else(|| Error::NotRunning { name: self.spec.name.clone() })?;
        match how(&tree) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::NotRunning { name: self.spec.name.clone() }),
            Err(error) => Err(Error::io(format!("{what} {}", self.spec.name))(error)),
        }
    }

    /// Takes note of the end of the process; only then may the system reuse its id.
    fn reap(&self) -> std::io::Result<()> {
        let Some(mut running) = self.lock().running.take() else { return Ok(()) };
        running.child.wait().map(drop)
    }
}

/// The exit status if the process has ended. It stays a zombie, so that its id stays ours until its children are gone.
pub(super) fn exited(running: &Running) -> Result<Option<ExitStatus>, Error> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    use std::os::unix::process::ExitStatusExt;
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let status = waitid(WaitId::Pid(Pid::from_child(&running.child)), options)
        .map_err(|e| Error::io("looking whether a server has ended")(e.into()))?;
    Ok(status.map(|status| {
        // `wait`'s encoding: the low byte is the signal, the next one the exit status.
        let signal = status.terminating_signal().unwrap_or(0);
        ExitStatus::from_raw(status.exit_status().unwrap_or(0) << 8 | signal)
    }))
}
