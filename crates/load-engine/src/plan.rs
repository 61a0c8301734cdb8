//! The plan of a run.

use crate::{AbortWhen, RunError, Running, run, stream::Stream};
use load_core::{
    Classify, ConfigError, Load, VirtualTime, Workload,
    record::{Environment, Server, plan_hash},
};
use sampler::Sampler;
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

    /// Repeats until the median rate of every stream and level is known to `width` (0.02: its 95 % confidence interval is
    /// no wider than 2 % of it), but at most `rounds` times. The interval is by order statistics over the rounds, which
    /// takes at least six; rejected rounds do not count.
    pub fn rounds_until(mut self, width: f64, rounds: u32) -> Plan {
        (self.until, self.rounds) = (Some(width), rounds);
        self
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

    /// How long each calibration runs (300 ms unless told otherwise; zero: none). Before the first round each workload that
    /// has a null target is run against it, at each level: once as fast as it can, once against a target that answers
    /// late. That gives the figures `ceiling` and `concurrency kept` of the verdict. A process calibrates the same
    /// workload at the same concurrency once: the same type that describes itself in the same words
    /// ([`Workload::describe`]).
    pub fn calibrate(mut self, each: Duration) -> Plan {
        self.calibration = each;
        self
    }

    /// Reads sources beside the load, on a thread of their own; the record has them as `series` and `events`. The engine's
    /// own threads are always among them (`generator.*`).
    pub fn sample(mut self, sampler: Sampler) -> Plan {
        self.sampler = Some(sampler);
        self
    }

    /// Stops the run when a stream is beyond a limit for too long. The record is marked, and has a check that failed.
    pub fn abort_when(mut self, limit: AbortWhen) -> Plan {
        self.aborts.push(limit);
        self
    }

    /// Stops the run when a stream has had `n` failures in one phase, warm-up included.
    pub fn stop_after_failures(mut self, n: u64) -> Plan {
        self.failure_limit = Some(n);
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
    /// gives the same times. Workloads must sleep on the same clock and do no real I/O: time would run ahead of it. A
    /// closed loop whose operations never wait does not let time move, and does not end until it is stopped.
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
            stream.validate()?;
        }
        self.validate_phases()?;
        if self.no_level {
            return Err(ConfigError::invalid(
                "levels",
                "[]",
                "at least one; without levels a stream's own load",
            ));
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
            ("calibrate", self.calibration, true),
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

    fn validate_phases(&self) -> Result<(), ConfigError> {
        let known = |name: &str| self.streams.iter().any(|s| s.name() == name);
        for (i, (name, streams)) in self.phases.iter().enumerate() {
            if name.is_empty() || self.phases[..i].iter().any(|(other, _)| other == name) {
                return Err(ConfigError::invalid("phase.name", format!("{name:?}"), "a name of its own"));
            }
            if let Some(stream) = streams.iter().find(|s| !known(s)) {
                return Err(ConfigError::invalid(
                    "phase.streams",
                    stream,
                    "a phase names streams of the plan",
                ));
            }
        }
        for limit in &self.aborts {
            limit.validate()?;
            if !known(limit.stream()) {
                return Err(ConfigError::invalid(
                    "abort_when.stream",
                    limit.stream(),
                    "a stream of the plan",
                ));
            }
        }
        match self.until {
            Some(width) if !(width.is_finite() && width > 0.0 && width < 1.0) => {
                return Err(ConfigError::invalid(
                    "rounds_until.width",
                    width,
                    "a share of the median, between 0 and 1",
                ));
            }
            Some(_) if self.rounds < 6 => {
                let reason = "at least 6: fewer rounds carry no 95 % interval of a median";
                return Err(ConfigError::invalid("rounds_until.rounds", self.rounds, reason));
            }
            _ => {}
        }
        if self.failure_limit == Some(0) {
            return Err(ConfigError::invalid("stop_after_failures", 0, "at least 1"));
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
            "rounds_until": self.until,
            "phases": self.phases,
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
