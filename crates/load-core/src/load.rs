//! How load arrives: closed loop, or open loop by a schedule; and what happens when no session is free.

use crate::{ConfigError, Schedule};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The most sessions a stream can ask for.
pub const MAX_SESSIONS: usize = 1_000_000;
/// How many arrivals can wait where the [overload policy](Overload) has no limit of its own.
pub const MAX_WAITING: usize = 100_000;
/// Sessions of an open loop unless told otherwise.
pub const DEFAULT_OPEN_SESSIONS: usize = 64;

/// How the operations of one stream come about. Which loop answers which question is told in
/// [`guide::open_or_closed`](crate::guide::open_or_closed).
///
/// ```
/// use load_core::{Load, Overload, Schedule};
/// let closed = Load::closed(50);
/// let open = Load::open(Schedule::constant("500/s")?).sessions(100).overload(Overload::Drop);
/// # Ok::<(), load_core::ConfigError>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Load {
    kind: Kind,
    sessions: usize,
    workers: Option<usize>,
    overload: Overload,
    /// Whether the policy was asked for, which a closed loop refuses.
    #[serde(skip)]
    overload_asked: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum Kind {
    Closed,
    Open(Schedule),
}

impl Load {
    /// Closed loop: each of `concurrency` sessions starts its next operation when the last one has ended. The rate
    /// follows the server, so a slow server is asked less.
    pub fn closed(concurrency: usize) -> Load {
        Load::new(Kind::Closed, concurrency)
    }

    /// Open loop: operations start when the schedule says, whether or not earlier ones have ended, as far as there
    /// are sessions ([`DEFAULT_OPEN_SESSIONS`] unless told otherwise). Takes a [`Schedule`] or an
    /// [`ArrivalProcess`](crate::ArrivalProcess).
    ///
    /// The schedule begins when measuring begins; a warm-up runs at its [initial rate](Schedule::initial_rate). Arrival
    /// i belongs to session slot i mod sessions and stays with that slot's worker, where any free session takes it.
    pub fn open(schedule: impl Into<Schedule>) -> Load {
        Load::new(Kind::Open(schedule.into()), DEFAULT_OPEN_SESSIONS)
    }

    fn new(kind: Kind, sessions: usize) -> Load {
        Load { kind, sessions, workers: None, overload: Overload::default(), overload_asked: false }
    }

    /// How many sessions there are, and so how many operations can be in flight.
    pub fn sessions(mut self, sessions: usize) -> Load {
        self.sessions = sessions;
        self
    }

    /// How many worker threads the sessions are spread over. Each is a queue of its own, so the number belongs to the
    /// method. By default one for an open loop; for a closed loop one for each available core but one, at least one.
    /// Never more than sessions.
    pub fn workers(mut self, workers: usize) -> Load {
        self.workers = Some(workers);
        self
    }

    /// What happens to an arrival when no session is free. Open loop only: in a closed one nothing arrives, and
    /// [`validate`](Load::validate) refuses it.
    pub fn overload(mut self, overload: Overload) -> Load {
        (self.overload, self.overload_asked) = (overload, true);
        self
    }

    /// The schedule, when this is an open loop.
    pub fn schedule(&self) -> Option<&Schedule> {
        match &self.kind {
            Kind::Closed => None,
            Kind::Open(schedule) => Some(schedule),
        }
    }

    /// Whether this is an open loop.
    pub fn is_open(&self) -> bool {
        self.schedule().is_some()
    }

    /// How many sessions were asked for.
    pub fn session_count(&self) -> usize {
        self.sessions
    }

    /// How many workers there will be on a machine with so many available cores.
    pub fn worker_count(&self, available_cores: usize) -> usize {
        let default = if self.is_open() { 1 } else { available_cores.saturating_sub(1).max(1) };
        self.workers.unwrap_or(default).min(self.sessions)
    }

    /// The overload policy.
    pub fn overload_policy(&self) -> &Overload {
        &self.overload
    }

    /// Checks the settings against each other.
    ///
    /// # Errors
    /// When a number is zero or beyond what can be meant, or a closed loop has an overload policy.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let sessions_field = if self.is_open() { "sessions" } else { "concurrency" };
        if self.sessions == 0 || self.sessions > MAX_SESSIONS {
            return Err(ConfigError::invalid(
                sessions_field,
                self.sessions,
                format!("there are at least 1 and at most {MAX_SESSIONS}"),
            ));
        }
        if let Some(workers) = self.workers
            && (workers == 0 || workers > 4096)
        {
            return Err(ConfigError::invalid("workers", workers, "there are at least 1 and at most 4096"));
        }
        if let Some(schedule) = self.schedule() {
            schedule.validate()?;
            self.overload.validate(self.sessions)?;
        } else if self.overload_asked {
            let reason = "a closed loop has no arrivals that could find no session free; an open loop has";
            return Err(ConfigError::invalid("overload", self.overload.describe(), reason));
        }
        Ok(())
    }
}

/// What happens to an arrival when no session is free.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Overload {
    /// It waits its turn, first come, first served. Beyond `max_waiting` it is dropped. After a stall those that wait
    /// are sent as fast as sessions come free, or at no more than `catch_up` times the schedule's rate: the present one;
    /// while that is 0 (in a pause, after the end) the one at which the arrival was due; when neither is known, as of a
    /// process that does not say, the mean rate of the arrivals up to it.
    #[non_exhaustive]
    Queue {
        /// How many may wait.
        max_waiting: usize,
        /// The highest rate of starts while catching up, as a multiple of the schedule's; none is no limit.
        catch_up: Option<f64>,
    },
    /// It is dropped.
    Drop,
    /// It waits, but is skipped when its turn comes more than `after` too late (as pgbench's `-L` with `-R`). When
    /// [`MAX_WAITING`] wait, those that are too late already are skipped without waiting for their turn; if none is, the
    /// new one is dropped.
    #[non_exhaustive]
    SkipLate {
        /// How late is too late.
        after: Duration,
    },
    /// A new session is opened for it, up to `max_sessions`; then it waits. When [`MAX_WAITING`] wait it is dropped.
    #[non_exhaustive]
    Expand {
        /// The most sessions.
        max_sessions: usize,
    },
    /// The run is stopped: what was measured until then is kept and marked.
    Abort,
}

impl Default for Overload {
    /// A queue of 100,000 without a limit on catching up.
    fn default() -> Overload {
        Overload::queue(MAX_WAITING)
    }
}

impl Overload {
    /// A queue of at most `max_waiting`, without a limit on catching up.
    pub fn queue(max_waiting: usize) -> Overload {
        Overload::Queue { max_waiting, catch_up: None }
    }

    /// A queue that, after a stall, is worked off at no more than `ratio` times the schedule's rate.
    pub fn queue_capped(max_waiting: usize, ratio: f64) -> Overload {
        Overload::Queue { max_waiting, catch_up: Some(ratio) }
    }

    /// Skip what is more than `after` late.
    pub fn skip_late(after: Duration) -> Overload {
        Overload::SkipLate { after }
    }

    /// Open more sessions, up to `max_sessions`.
    pub fn expand(max_sessions: usize) -> Overload {
        Overload::Expand { max_sessions }
    }

    fn validate(&self, sessions: usize) -> Result<(), ConfigError> {
        match self {
            Overload::Queue { catch_up: Some(ratio), .. } if !(ratio.is_finite() && *ratio >= 1.0) => {
                Err(ConfigError::invalid(
                    "overload.catch_up",
                    ratio,
                    "a ratio of the schedule's rate, at least 1",
                ))
            }
            Overload::SkipLate { after } if after.is_zero() => {
                Err(ConfigError::invalid("overload.after", "0 s", "how late is too late: above zero"))
            }
            Overload::Expand { max_sessions } if *max_sessions < sessions || *max_sessions > MAX_SESSIONS => {
                Err(ConfigError::invalid(
                    "overload.max_sessions",
                    max_sessions,
                    format!("between the sessions at the start ({sessions}) and {MAX_SESSIONS}"),
                ))
            }
            _ => Ok(()),
        }
    }

    /// A short text for reports: `queue(100000)`, `drop`, ...
    pub fn describe(&self) -> String {
        match self {
            Overload::Queue { max_waiting, catch_up: None } => format!("queue({max_waiting})"),
            Overload::Queue { max_waiting, catch_up: Some(r) } => {
                format!("queue({max_waiting}, catch up at {r}x)")
            }
            Overload::Drop => "drop".into(),
            Overload::SkipLate { after } => format!("skip when {} late", humantime::format_duration(*after)),
            Overload::Expand { max_sessions } => format!("expand to {max_sessions} sessions"),
            Overload::Abort => "abort".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_numbers_are_refused_by_field_and_value() {
        let open = || Load::open(Schedule::constant(1.0).unwrap());
        for (load, field) in [
            (Load::closed(0), "concurrency: 0 "),
            (Load::closed(u32::MAX as usize), "concurrency: 4294967295 "),
            (open().sessions(0), "sessions: 0 "),
            (Load::closed(1).workers(0), "workers: 0 "),
            (open().overload(Overload::queue_capped(1, f64::NAN)), "overload.catch_up: NaN "),
            (open().overload(Overload::skip_late(Duration::ZERO)), "overload.after: 0 s "),
            (open().sessions(9).overload(Overload::expand(8)), "overload.max_sessions: 8 "),
            (Load::closed(9).overload(Overload::Drop), "overload: drop "),
        ] {
            let said = load.validate().unwrap_err().to_string();
            assert!(said.starts_with(field), "{said}");
        }
    }

    #[test]
    fn workers_by_default() {
        assert_eq!(Load::closed(10).worker_count(2), 1);
        assert_eq!(Load::closed(10).worker_count(8), 7);
        assert_eq!(Load::closed(3).worker_count(8), 3, "never more than sessions");
        assert_eq!(Load::closed(10).worker_count(1), 1);
        assert_eq!(Load::open(Schedule::constant(1.0).unwrap()).worker_count(8), 1);
    }
}
