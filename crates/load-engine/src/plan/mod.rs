//! The plan of a run.

mod data;
mod method;
mod validate;

use crate::{AbortWhen, RunError, Running, run, stream::Stream};
use load_core::{
    Classify, ConfigError, Load, VirtualTime, Workload,
    record::{Environment, Server},
};
use sampler::Sampler;
use serde_json::Value;
use std::{collections::BTreeMap, fmt::Display, sync::Arc, time::Duration};

/// How long a phase may take when only a count was asked for.
pub const DEFAULT_COUNT_LIMIT: Duration = Duration::from_secs(3600);

/// What is to be run: streams of load and the method. Nothing happens before [`start`](Plan::start).
///
/// Defaults: no warm-up, 10 s measured, one round, windows of 1 s, drain limit 5 s, connect limit 5 s, seed 0.
#[derive(Debug)]
#[must_use = "a plan does nothing until it is started"]
pub struct Plan {
    pub(crate) experiment: String,
    pub(crate) streams: Vec<Arc<Stream>>,
    pub(crate) levels: Vec<(String, Load)>,
    /// Levels were asked for, but none was given.
    no_level: bool,
    pub(crate) warmup: Duration,
    pub(crate) measure: Option<Duration>,
    pub(crate) count: Option<u64>,
    pub(crate) drain: Duration,
    pub(crate) window: Duration,
    pub(crate) rounds: u32,
    pub(crate) seed: u64,
    pub(crate) connect_timeout: Duration,
    pub(crate) strict_connections: bool,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) settings: BTreeMap<String, Value>,
    pub(crate) environment: Environment,
    pub(crate) classifiers: Vec<Classify>,
    pub(crate) virtual_time: Option<VirtualTime>,
    pub(crate) phases: Vec<(String, Vec<String>)>,
    pub(crate) calibration: Duration,
    pub(crate) sampler: Option<Sampler>,
    pub(crate) until: Option<f64>,
    pub(crate) aborts: Vec<AbortWhen>,
    pub(crate) failure_limit: Option<u64>,
}

/// How long a calibration runs unless told otherwise.
const CALIBRATION: Duration = Duration::from_millis(300);

impl Default for Plan {
    fn default() -> Plan {
        Plan::new()
    }
}

impl Plan {
    /// A plan without streams.
    pub fn new() -> Plan {
        Plan {
            experiment: "run".into(),
            streams: Vec::new(),
            levels: Vec::new(),
            no_level: false,
            warmup: Duration::ZERO,
            measure: None,
            count: None,
            drain: Duration::from_secs(5),
            window: Duration::from_secs(1),
            rounds: 1,
            seed: 0,
            connect_timeout: Duration::from_secs(5),
            strict_connections: false,
            labels: BTreeMap::new(),
            settings: BTreeMap::new(),
            environment: Environment::default(),
            classifiers: Vec::new(),
            virtual_time: None,
            phases: Vec::new(),
            calibration: CALIBRATION,
            sampler: None,
            until: None,
            aborts: Vec::new(),
            failure_limit: None,
        }
    }

    /// What the run is called in its record.
    pub fn experiment(mut self, name: impl Into<String>) -> Plan {
        self.experiment = name.into();
        self
    }

    /// Adds a stream: a workload with its own load, under a name. All streams run together, on one clock.
    pub fn stream(mut self, name: impl Into<String>, workload: impl Workload, load: Load) -> Plan {
        self.streams.push(Arc::new(Stream::new(name.into(), workload, load)));
        self
    }

    /// Measures at several levels one after the other, each with the load that `load` makes of it, for every stream and in
    /// place of the stream's own. Their order is rotated from round to round, so that none is always the first. There is at
    /// least one.
    ///
    /// ```
    /// # use load_engine::Plan; use load_core::Load;
    /// let plan = Plan::new().levels([10, 50, 100], |c| Load::closed(*c));
    /// ```
    pub fn levels<L: Display>(
        mut self,
        levels: impl IntoIterator<Item = L>,
        load: impl Fn(&L) -> Load,
    ) -> Plan {
        self.levels = levels.into_iter().map(|level| (level.to_string(), load(&level))).collect();
        self.no_level = self.levels.is_empty();
        self
    }

    /// [`levels`](Plan::levels) of loads that may be impossible, such as rates that came as text.
    ///
    /// ```
    /// # use load_engine::Plan; use load_core::{ConfigError, Load, Schedule};
    /// let plan = Plan::new().try_levels(["100/s", "1k/s"], |rate| Ok(Load::open(Schedule::constant(*rate)?)))?;
    /// # Ok::<(), ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// The first that `load` gives.
    pub fn try_levels<L: Display>(
        mut self,
        levels: impl IntoIterator<Item = L>,
        load: impl Fn(&L) -> Result<Load, ConfigError>,
    ) -> Result<Plan, ConfigError> {
        let named = |level: L| Ok((level.to_string(), load(&level)?));
        self.levels = levels.into_iter().map(named).collect::<Result<_, ConfigError>>()?;
        self.no_level = self.levels.is_empty();
        Ok(self)
    }

    /// Adds a named phase in which only these streams run, together; with none it is an idle one. Phases follow each other
    /// in each round (and level), each with its own warm-up. Without phases there is one, `"measure"`, of all streams.
    ///
    /// ```
    /// # use load_engine::Plan;
    /// let plan = Plan::new()
    ///     .phase("idle", [])
    ///     .phase("nginx alone", ["nginx"])
    ///     .phase("together", ["nginx", "postgres"]);
    /// ```
    pub fn phase<'a>(mut self, name: impl Into<String>, streams: impl IntoIterator<Item = &'a str>) -> Plan {
        self.phases.push((name.into(), streams.into_iter().map(Into::into).collect()));
        self
    }

    /// Reads sources beside the load, on a thread of their own; the record has them as `series` and `events`. The engine's
    /// own threads are always among them (`generator.*`).
    pub fn sample(mut self, sampler: Sampler) -> Plan {
        self.sampler = Some(sampler);
        self
    }

    /// Adds a label to the record.
    pub fn label(mut self, name: impl Into<String>, text: impl Into<String>) -> Plan {
        self.labels.insert(name.into(), text.into());
        self
    }

    /// Adds a setting to the record's method: something that must be equal for two runs to be comparable.
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<Value>) -> Plan {
        self.settings.insert(name.into(), value.into());
        self
    }

    /// Names a server under load in the record's environment.
    pub fn server(mut self, name: impl Into<String>, server: Server) -> Plan {
        self.environment.servers.insert(name.into(), server);
        self
    }

    /// Adds a classifier of errors that workloads take by `?`; asked in the order they were added.
    pub fn classify(mut self, classifier: Classify) -> Plan {
        self.classifiers.push(classifier);
        self
    }

    /// Runs in virtual time, for tests: all streams share one thread, time moves only when nothing can run, and every run
    /// gives the same times. Workloads must sleep on the same clock and do no real I/O: time would run ahead of it. A
    /// closed loop whose operations never wait does not let time move, and does not end until it is stopped.
    pub fn virtual_time(mut self, time: VirtualTime) -> Plan {
        self.virtual_time = Some(time);
        self
    }

    /// The measured time that was asked for; `None` when only a count was.
    pub(crate) fn measure_limit(&self) -> Option<Duration> {
        match (self.measure, self.count) {
            (None, None) => Some(Duration::from_secs(10)),
            (limit, _) => limit,
        }
    }

    /// Starts the run on threads of its own; it needs no runtime of the caller's. Errors, those of the configuration too,
    /// come out of the handle.
    pub fn start(self) -> Running {
        run::start(self)
    }

    /// Starts the run and waits for its end: for plain programs. The same as `.start().wait()`.
    ///
    /// # Errors
    /// As [`Running::wait`].
    ///
    /// # Panics
    /// As [`Running::wait`]: in async code, use `.start().await`.
    pub fn run(self) -> Result<load_core::Record, RunError> {
        self.start().wait()
    }
}

pub(crate) fn ns(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}
