//! The plan of a run.

use crate::{RunError, Running, run, stream::Stream};
use load_core::{
    Classify, ConfigError, Load, VirtualTime, Workload,
    record::{Environment, Server, plan_hash},
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fmt::Display, sync::Arc, time::Duration};

/// How long a phase may take when only a count was asked for.
pub const DEFAULT_COUNT_LIMIT: Duration = Duration::from_secs(3600);
/// The most rounds.
const MAX_ROUNDS: u32 = 10_000;

/// What is to be run: streams of load and the method. Nothing happens before [`start`](Plan::start).
///
/// Defaults: no warm-up, 10 s measured, one round, windows of 1 s, drain limit 5 s, connect limit 5 s, seed 0.
#[derive(Debug)]
#[must_use = "a plan does nothing until it is started"]
pub struct Plan {
    pub(crate) experiment: String,
    pub(crate) streams: Vec<Arc<Stream>>,
    pub(crate) levels: Vec<(String, Load)>,
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
}

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

    /// Measures at several levels one after the other, each with the load that `load` makes of it (for every stream). Their
    /// order is rotated from round to round, so that none is always the first.
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
        self
    }

    /// How long each level runs before it is measured; those operations are counted apart.
    pub fn warmup(mut self, duration: Duration) -> Plan {
        self.warmup = duration;
        self
    }

    /// How long each level is measured. With [`measure_count`](Plan::measure_count) too, whichever is reached first.
    pub fn measure(mut self, duration: Duration) -> Plan {
        self.measure = Some(duration);
        self
    }

    /// Measures exactly `n` operations of each stream (no warm-up is part of them). It ends after
    /// [`measure`](Plan::measure), or after [`DEFAULT_COUNT_LIMIT`], in any case.
    pub fn measure_count(mut self, n: u64) -> Plan {
        self.count = Some(n);
        self
    }

    /// How long operations in flight may take to end after the phase; then they are unfinished.
    pub fn drain(mut self, limit: Duration) -> Plan {
        self.drain = limit;
        self
    }

    /// The length of the windows in the record.
    pub fn window(mut self, width: Duration) -> Plan {
        self.window = width;
        self
    }

    /// How often everything is repeated. The round is the unit of replication.
    pub fn rounds(mut self, rounds: u32) -> Plan {
        self.rounds = rounds;
        self
    }

    /// The seed of all random choices; each round adds its number.
    pub fn seed(mut self, seed: u64) -> Plan {
        self.seed = seed;
        self
    }

    /// How long one attempt to connect may take.
    pub fn connect_timeout(mut self, limit: Duration) -> Plan {
        self.connect_timeout = limit;
        self
    }

    /// Refuses to run when not every session connects. Otherwise one that connects is enough, the others try again, and
    /// the rule `connections` decides.
    pub fn strict_connections(mut self, strict: bool) -> Plan {
        self.strict_connections = strict;
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
    /// gives the same times. Workloads must sleep on the same clock and do no real I/O.
    pub fn virtual_time(mut self, time: VirtualTime) -> Plan {
        self.virtual_time = Some(time);
        self
    }

    /// Checks every setting.
    ///
    /// # Errors
    /// Names the first field that cannot be meant, and its value.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.streams.is_empty() {
            return Err(ConfigError::invalid("streams", "none", "a plan has at least one stream"));
        }
        for (i, stream) in self.streams.iter().enumerate() {
            if stream.name().is_empty() {
                return Err(ConfigError::invalid("stream.name", "\"\"", "a stream has a name"));
            }
            if self.streams[..i].iter().any(|s| s.name() == stream.name()) {
                return Err(ConfigError::invalid("stream.name", stream.name(), "names are used once"));
            }
            stream.load.validate()?;
        }
        for (i, (level, load)) in self.levels.iter().enumerate() {
            if self.levels[..i].iter().any(|(l, _)| l == level) {
                return Err(ConfigError::invalid("levels", level, "each level is given once"));
            }
            load.validate()?;
        }
        let year = Duration::from_secs(366 * 24 * 3600);
        for (field, duration, zero_allowed) in [
            ("measure", self.measure.unwrap_or(Duration::from_secs(1)), false),
            ("warmup", self.warmup, true),
            ("drain", self.drain, true),
            ("window", self.window, false),
            ("connect_timeout", self.connect_timeout, false),
        ] {
            if duration > year || (duration.is_zero() && !zero_allowed) {
                let least = if zero_allowed { "" } else { "above zero and " };
                return Err(ConfigError::invalid(
                    field,
                    format!("{duration:?}"),
                    format!("{least}at most a year"),
                ));
            }
        }
        if self.window < Duration::from_millis(1) {
            return Err(ConfigError::invalid("window", format!("{:?}", self.window), "at least 1 ms"));
        }
        if self.count == Some(0) {
            return Err(ConfigError::invalid("measure_count", 0, "at least 1"));
        }
        if self.rounds == 0 || self.rounds > MAX_ROUNDS {
            return Err(ConfigError::invalid(
                "rounds",
                self.rounds,
                format!("at least 1 and at most {MAX_ROUNDS}"),
            ));
        }
        Ok(())
    }

    /// The plan as data: what its hash is made of.
    pub fn to_json(&self) -> Value {
        let streams: Vec<_> = self
            .streams
            .iter()
            .map(|s| json!({"name": s.name(), "workload": s.workload(), "load": s.load}))
            .collect();
        json!({
            "experiment": self.experiment,
            "streams": streams,
            "levels": self.levels.iter().map(|(level, load)| json!({"level": level, "load": load})).collect::<Vec<_>>(),
            "warmup_ns": ns(self.warmup),
            "measure_ns": self.measure_limit().map(ns),
            "measure_count": self.count,
            "drain_ns": ns(self.drain),
            "window_ns": ns(self.window),
            "rounds": self.rounds,
            "seed": self.seed,
            "settings": self.settings,
        })
    }

    /// SHA-256 over the canonical form of [`to_json`](Plan::to_json).
    pub fn hash(&self) -> String {
        plan_hash(&self.to_json())
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
    pub fn run(self) -> Result<load_core::Record, RunError> {
        self.start().wait()
    }
}

pub(crate) fn ns(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}
